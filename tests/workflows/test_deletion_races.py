"""Deletions of accounts and bots while others, or their owners, do something else, on PostgreSQL."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from time import sleep
from typing import Any, Final

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from referee.accounts import accounts, organiser_requests
from referee.accounts.oversight_tables import Act
from referee.accounts.reserved_names import DELETED_ACCOUNT
from referee.accounts.tables import Account
from referee.bots import bots
from referee.bots.tables import Bot
from referee.errors import Conflict, NameTaken
from referee.friendlies import rules
from referee.friendlies.states import ChallengerVerdict
from referee.match.reveal import OpeningFailure
from referee.match.time_limits import Limits
from referee.matches import matches
from referee.matches.deals import openings
from referee.matches.deals.openings import FailedStep
from referee.matches.queue import quotas
from referee.matches.tables import FailedNonce, MatchSeat, StoredMatch
from referee.tournaments import admission, entries, tournaments
from referee.workflows.accounts import account_oversight, invitations
from referee.workflows.ending import deal_group_superseding
from referee.workflows.erasing import account_deletion, erasure
from tests.database.databases import kept
from tests.database.tournaments import begun, create
from tests.database.world import FakeClock, World
from tests.surroundings import MASTER_KEY

CUP: Final[dict[str, Any]] = {"game": "saint-poker", "seats": 2, "options": {}, "limits": Limits()}
Change = Callable[[Session], object]


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[World]:
    opened = kept(postgres_url, FakeClock())
    yield World(opened)
    opened.dispose()


def delete_account(session: Session, account_id: str) -> Account:
    owner = accounts.get_account(session, account_id)
    return account_deletion.delete_account(session, owner, account_id, master_key=MASTER_KEY)


def load(account_id: str) -> Change:
    """Load the account as requests do for their token, so that later reads may find it in the session."""
    return lambda session: accounts.get_account(session, account_id)


@contextmanager
def meanwhile(world: World, act: Change, prepare: Change) -> Iterator[tuple[Session, Any]]:
    """Open a transaction. At its end, begin ``act`` in another one and, when it waits or is done, commit the first.

    ``prepare`` runs in the transaction of ``act`` before the block.
    """
    prepared: Future[None] = Future()
    acting: Future[Any] = Future()
    go: Future[None] = Future()

    def run() -> None:
        try:
            with world.database.write() as session:
                prepare(session)
                prepared.set_result(None)
                go.result(timeout=30)
                found = act(session)
            acting.set_result(found)
        except Exception as error:  # noqa: BLE001  # raised again where the result is read
            acting.set_exception(error)

    with ThreadPoolExecutor(1) as threads:
        threads.submit(run)
        prepared.result(timeout=30)
        with world.database.write() as session:
            yield session, acting
            session.flush()
            go.set_result(None)
            while not acting.done() and not session.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")):
                sleep(0.01)


def assert_refused(world: World, act: Change, prepare: Change, delete: Change) -> None:
    """Assert that a deletion lets ``act`` wait and then refuses it."""
    with meanwhile(world, act, prepare) as (session, acting):
        delete(session)
    with pytest.raises(Conflict):
        acting.result(timeout=30)


def asks_for_role(session: Session, account_id: str) -> object:
    return organiser_requests.ask(session, accounts.get_account(session, account_id), "A cup, please.")


def lists_challenger(session: Session, account_id: str) -> object:
    other = session.scalars(select(Bot.owner_id)).one()
    return rules.put_entry(session, account_id, other, ChallengerVerdict.BLOCKED)


GIVEN: dict[str, Callable[[Session, str], object]] = {
    "bot": lambda session, owner: bots.register(session, owner, "Late bot", "https://bot.example.org"),
    "tournament": lambda session, owner: tournaments.create_tournament(session, "Late cup", created_by=owner, **CUP),
    "token": lambda session, owner: accounts.create_token(session, owner, "late"),
    "request": asks_for_role,
    "friendly": quotas.check_friendlies,
    "challenger": lists_challenger,
    "name": lambda session, owner: account_oversight.rename(session, None, owner, "Back again", None),
    "another deletion": delete_account,
}


@pytest.mark.parametrize("given", GIVEN)
def test_E27_an_account_gets_nothing_while_it_is_deleted(postgres: World, given: str) -> None:
    owner = postgres.account()
    postgres.bot()

    assert_refused(
        postgres,
        lambda session: GIVEN[given](session, owner),
        load(owner),
        lambda session: delete_account(session, owner),
    )

    assert postgres.get_one(Account, owner).name.startswith(DELETED_ACCOUNT)
    assert len(postgres.scalars(select(Act).where(Act.object_id == owner))) == 1


@pytest.mark.parametrize("place", ["tournament", "guests"])
def test_E27_an_account_that_is_being_deleted_is_added_to_nothing_of_others(postgres: World, place: str) -> None:
    creator, owner = postgres.account("organiser"), postgres.account("organiser")
    with postgres.database.write() as session:
        cup = tournaments.create_tournament(session, "Cup", created_by=creator, **CUP).id
        asked = invitations.invite_to_tournament(session, cup, owner, accounts.get_account(session, creator)).id
    add: dict[str, Change] = {
        "tournament": lambda session: invitations.accept(session, asked, accounts.get_account(session, owner)),
        "guests": lambda session: admission.set_admission(session, cup, join_code=None, guests=[owner]),
    }

    assert_refused(postgres, add[place], lambda session: None, lambda session: delete_account(session, owner))


@pytest.mark.parametrize("given", ["entry", "request", "another deletion"])
def test_E27_a_bot_that_is_being_deleted_is_entered_nowhere_and_deleted_once(postgres: World, given: str) -> None:
    tournament_id = create(postgres, approval=given == "request")
    bot_id = postgres.bot()
    if given == "another deletion":
        postgres.write(bots.retire, bot_id)

    def delete(session: Session) -> None:
        erasure.delete_bot(session, bot_id, master_key=MASTER_KEY)

    acts: dict[str, Change] = {
        "entry": lambda session: entries.enter_bot(session, tournament_id, bot_id),
        "request": lambda session: admission.request_entry(session, tournament_id, bot_id),
        "another deletion": delete,
    }

    assert_refused(postgres, acts[given], lambda session: bots.get_bot(session, bot_id), delete)


def test_E14_a_name_that_was_taken_just_before_the_deletion_is_held(postgres: World) -> None:
    owner = postgres.account()

    with meanwhile(postgres, lambda session: delete_account(session, owner), load(owner)) as (session, acting):
        account_oversight.rename(session, None, owner, "Taken at last", None)
    acting.result(timeout=30)

    with postgres.database.write() as session, pytest.raises(NameTaken):
        accounts.create_account(session, "Taken at last")


def test_E27_what_a_deleted_bot_replied_in_an_opening_of_others_is_erased(world: World) -> None:
    begun(world, 4, format="swiss", format_options={"rounds": 3})
    (claim,) = world.claim(1)
    with world.database.write() as session:
        group_id = matches.get_match(session, claim.match_id).group_id
        seats = select(MatchSeat.bot_id).join(StoredMatch, StoredMatch.id == MatchSeat.match_id)
        waits = seats.where(StoredMatch.group_id == group_id, StoredMatch.id != claim.match_id)
        bot_id = session.scalars(waits.order_by(MatchSeat.bot_id)).all()[0]
        opening = openings.claim_opening(session, group_id)
        assert opening is not None
        blank = [""] * len(opening.entries)
        openings.record_nonce_hashes(session, group_id, opening.epoch, blank)
    assert world.write(erasure.delete_bot, bot_id, master_key=MASTER_KEY).erased_at is not None

    with world.database.write() as session:
        failed = {bot_id: FailedStep(OpeningFailure.NONCE_WITHHELD, "planted", b"planted", b"planted")}
        deal_group_superseding.supersede_group(session, group_id, opening.epoch, blank, failed, master_key=MASTER_KEY)
    with world.database.write() as session:
        assert erasure.has_unfinished(session)
        assert erasure.finish_erasures(session) == 1

    with world.database.read() as session:
        evidence = session.scalars(select(FailedNonce).where(FailedNonce.bot_id == bot_id)).one()
        assert (evidence.detail, evidence.request, evidence.reply) == ("", b"", b"")
