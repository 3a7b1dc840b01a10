"""Requests for friendlies: who decides, what comes of them, and their limits."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from referee.db.engine import current_time
from referee.errors import Conflict, Forbidden, NotFound, QuotaExceeded
from referee.events import Event, FriendlyDecided, FriendlyRequested
from referee.friendlies import requests, rules
from referee.friendlies.states import Challengers, ChallengerVerdict, RequestState
from referee.friendlies.tables import FriendlyRequest, RequestedOwner
from referee.match.time_limits import Limits
from referee.matches import matches
from referee.matches.scheduling import MatchPlan
from tests.database.world import GAME, World
from tests.friendlies.test_rules import allow, put
from tests.surroundings import MASTER_KEY


class Table:
    """An account with a bot that asks, and owners whose bots play on request."""

    def __init__(self, world: World, owners: int = 1) -> None:
        self.world = world
        self.asker = world.account()
        self.owners = [world.account() for _ in range(owners)]
        self.bots = [world.bot(account) for account in (self.asker, *self.owners)]
        for bot_id in self.bots[1:]:
            allow(world, bot_id, Challengers.ON_REQUEST)

    def ask(self) -> str:
        plan = MatchPlan(game=GAME, bots=self.bots, options={}, limits=Limits(), rated=False, created_by=self.asker)
        return self.world.write(requests.create_request, plan, self.asker).id

    def accept(self, request_id: str, owner_id: str) -> FriendlyRequest:
        return self.world.write(requests.accept, request_id, owner_id, master_key=MASTER_KEY)

    def age(self, request_id: str, days: float) -> None:
        with self.world.database.write() as session:
            moment = current_time(session) - timedelta(days=days)
            aged = update(FriendlyRequest).where(FriendlyRequest.id == request_id)
            session.execute(aged.values(created_at=moment, expires_at=moment + requests.LIFETIME))


def test_a_request_becomes_a_friendly_when_all_owners_have_accepted(world: World, reported_events: list[Event]) -> None:
    table = Table(world, owners=2)
    request_id = table.ask()

    first = table.accept(request_id, table.owners[0])
    second = table.accept(request_id, table.owners[1])

    assert (first.state, first.match_id) == (RequestState.PENDING, None)
    assert second.state == RequestState.ACCEPTED
    with world.database.read() as session:
        match = matches.get_match(session, str(second.match_id))
        assert match.is_friendly
        assert match.created_by == table.asker
        assert [seat.bot_id for seat in matches.seats_of(session, [match.id])[match.id]] == table.bots
    with pytest.raises(Conflict, match="The request is accepted"):
        table.accept(request_id, table.owners[0])
    requested, decided = [event for event in reported_events if isinstance(event, FriendlyRequested | FriendlyDecided)]
    assert (requested.accounts, requested.request) == ({*table.owners}, request_id)
    assert decided == FriendlyDecided(
        accounts=[table.asker], request=request_id, game=GAME, state="accepted", match=match.id, reason=None
    )


def test_a_request_is_declined_or_withdrawn_only_by_whom_it_concerns(
    world: World, reported_events: list[Event]
) -> None:
    table, stranger = Table(world), world.account()
    declined, withdrawn = table.ask(), table.ask()

    for account_id in (stranger, table.asker):
        with pytest.raises(NotFound):
            table.accept(declined, account_id)
    with pytest.raises(NotFound), world.database.write() as session:
        requests.withdraw(session, withdrawn, table.owners[0])
    with pytest.raises(NotFound), world.database.read() as session:
        requests.get_request(session, declined, stranger)
    with world.database.write() as session:
        ended = [
            requests.decline(session, declined, table.owners[0], "not today"),
            requests.withdraw(session, withdrawn, table.asker),
        ]

    assert [request.state for request in ended] == [RequestState.DECLINED, RequestState.WITHDRAWN]
    told = [(event.request, event.reason) for event in reported_events if isinstance(event, FriendlyDecided)]
    assert told == [(declined, "not today")]
    with world.database.read() as session:
        assert requests.get_request(session, declined, table.asker).reason == "not today"
        listed = requests.list_requests(session, table.owners[0]).items
        assert [request.id for request in listed] == [withdrawn, declined]
        assert requests.list_requests(session, table.owners[0], pending=True).items == []
        assert requests.list_requests(session, stranger).items == []


def test_a_request_expires_and_is_deleted_later(world: World) -> None:
    table = Table(world)
    request_id = table.ask()
    table.age(request_id, 8)

    with pytest.raises(Conflict, match="The request is expired"):
        table.accept(request_id, table.owners[0])
    with world.database.read() as session:
        assert requests.list_requests(session, table.asker, pending=True).items == []
        assert not requests.has_expired(session)
    table.age(request_id, 31)
    with world.database.write() as session:
        assert requests.has_expired(session)
        assert requests.delete_expired(session) == 1
        assert not requests.has_expired(session)
        assert session.scalars(select(func.count()).select_from(RequestedOwner)).one() == 0


@pytest.mark.parametrize(
    ("limit", "sentence"), [("MAX_SENT", "Withdraw one"), ("MAX_RECEIVED", "too many pending requests")]
)
def test_E21_pending_requests_of_an_account_and_to_an_owner_are_limited(
    world: World, monkeypatch: pytest.MonkeyPatch, limit: str, sentence: str
) -> None:
    monkeypatch.setattr(requests, limit, 2)
    table = Table(world)
    first, _ = table.ask(), table.ask()

    with pytest.raises(QuotaExceeded, match=sentence):
        table.ask()
    world.write(requests.withdraw, first, table.asker)
    table.ask()


def test_a_request_that_nobody_has_to_accept_is_refused(world: World) -> None:
    table = Table(world)
    put(world, table.owners[0], table.asker, ChallengerVerdict.ACCEPTED)

    with pytest.raises(Conflict, match="Nobody has to be asked"):
        table.ask()


def test_a_block_after_the_request_still_holds(world: World) -> None:
    table = Table(world, owners=2)
    request_id = table.ask()
    table.accept(request_id, table.owners[0])
    put(world, table.owners[0], table.asker, ChallengerVerdict.BLOCKED)

    with pytest.raises(Forbidden):
        table.accept(request_id, table.owners[1])
    with world.database.read() as session:
        request = requests.get_request(session, request_id, table.asker)
        assert request.state == RequestState.PENDING
        assert rules.list_entries(session, table.owners[0])[0].account_id == table.asker
