"""Deal groups: sealed seeds, nonces in two steps, the reveal."""

import hashlib

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from referee.errors import NotReady, StaleEpoch
from referee.match.chance import commitment
from referee.match.log import parse_row
from referee.match.verification import verify
from referee.matches import cancelling, matches
from referee.matches.deals import deal_groups, openings
from referee.matches.deals.deal_groups import WrongMasterKey
from referee.matches.logs import logs
from referee.matches.logs.recording import MatchUpdate
from referee.matches.states import DealGroupState
from referee.matches.tables import StoredMatch
from referee.workflows.bots import retirement
from referee.workflows.ending import deal_group_closing, match_end
from referee.workflows.voids import match_cancellation
from tests.database.checks import on_one_database
from tests.database.growth import copy_match, cost_of
from tests.database.queue import unclosed_groups
from tests.database.world import World, create_group, outcome, played
from tests.surroundings import MASTER_KEY


def group_of(world: World, match_id: str) -> str:
    return world.read(matches.get_match, match_id).group_id


@on_one_database
def test_D9_the_seed_is_sealed_at_rest_and_shows_in_no_print(world: World) -> None:
    loaded = world.load(world.match())
    with world.database.read() as session:
        group = deal_groups.get_group(session, loaded.group_id)
        kept = session.execute(text("SELECT * FROM deal_groups")).one()

    assert deal_groups.unseal_seed_of_group(group, MASTER_KEY) == loaded.seed
    assert commitment(loaded.seed, group.id) == group.commitment
    stored = [bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode() for value in kept]
    printed = repr(loaded).encode()
    forms = (loaded.seed, loaded.seed.hex().encode(), repr(loaded.seed)[2:-1].encode())
    assert not any(form in value for value in (*stored, printed) for form in forms)


@on_one_database
def test_D9_another_master_key_and_another_group_do_not_open_it(world: World) -> None:
    group_id, other_id = (group_of(world, world.match()) for _ in range(2))
    with world.database.write() as session:
        group, other = deal_groups.get_group(session, group_id), deal_groups.get_group(session, other_id)
        with pytest.raises(WrongMasterKey):
            deal_groups.unseal_seed_of_group(group, b"x" * 32)
        group.seed_sealed, group.commitment = other.seed_sealed, other.commitment

        with pytest.raises(WrongMasterKey, match=group_id):
            deal_groups.unseal_seed_of_group(group, MASTER_KEY)


@on_one_database
def test_no_two_groups_share_a_seed_and_a_bot_in_two_seats_enters_once(world: World) -> None:
    (bot,) = world.bots(1)
    with world.database.write() as session:
        made = [create_group(session, [bot, bot]) for _ in range(20)]
        assert len({deal_groups.unseal_seed_of_group(one, MASTER_KEY) for one in made}) == 20
        assert len({one.seed_sealed for one in made}) == 20
        assert all(one.entries == [bot] for one in made)


PROMISED = hashlib.sha256(b"nonce").hexdigest()


def test_D11_one_at_a_time_asks_for_nonces_and_the_first_hashes_recorded_stand_after_a_crash(world: World) -> None:
    group_id = group_of(world, world.match())
    with world.database.write() as session:
        first = openings.claim_opening(session, group_id)
        assert first is not None
        assert openings.claim_opening(session, group_id) is None
        openings.record_nonce_hashes(session, group_id, first.epoch, [PROMISED, ""])
    world.pass_seconds(16)
    second = world.write(openings.claim_opening, group_id)

    assert second is not None
    with pytest.raises(StaleEpoch):
        world.write(openings.record_nonce_hashes, group_id, first.epoch, ["", ""])
    with world.database.write() as session:
        assert deal_groups.LEASES.renew(session, [(group_id, first.epoch)]) == set()
        assert deal_groups.LEASES.renew(session, [(group_id, second.epoch)]) == {group_id}
        counting = openings.record_nonce_hashes(session, group_id, second.epoch, ["bb", "cc"])
        openings.open_group(session, group_id, second.epoch, ["nonce", ""], [True, None])
        assert openings.claim_opening(session, group_id) is None
    assert (second.nonce_hashes, counting) == ([PROMISED, ""], [PROMISED, ""])


@on_one_database
def test_D8_nonces_never_come_before_their_hashes(world: World) -> None:
    group_id = group_of(world, world.match())
    with world.database.write() as session:
        opening = openings.claim_opening(session, group_id)
        assert opening is not None
        with pytest.raises(ValueError, match="before"):
            openings.open_group(session, group_id, opening.epoch, ["", ""], [None, None])
        with pytest.raises(ValueError, match="2 values"):
            openings.record_nonce_hashes(session, group_id, opening.epoch, [""])


@pytest.fixture
def common(world: World) -> tuple[str, str]:
    """Return two matches that share cards."""
    one, other = world.sharing([world.bots(2), world.bots(2)])
    return one, other


@on_one_database
def test_D1_logs_open_when_the_last_match_of_the_group_is_over(world: World, common: tuple[str, str]) -> None:
    first, second = world.claim(2)
    world.finish(first)

    with world.database.read() as session, pytest.raises(NotReady):
        logs.read_log_file(session, matches.get_match(session, first.match_id), gzipped=False)
    assert not world.read(is_revealed, group_of(world, first.match_id))
    world.finish(second)

    for match_id in common:
        with world.database.read() as session:
            log = logs.read_log_file(session, matches.get_match(session, match_id), gzipped=False)
        report = verify(log.splitlines())
        assert (report.ok, report.revealed) == (True, True), report


@on_one_database
def test_D1_a_cancelled_match_closes_the_group_too(world: World, common: tuple[str, str]) -> None:
    first, second = world.claim(2)
    world.finish(first)
    world.write(match_cancellation.cancel_match, second.match_id, master_key=MASTER_KEY, whole_group=True)

    with world.database.read() as session:
        group = deal_groups.get_group(session, group_of(world, first.match_id))
        reveal = deal_groups.load_reveal(session, group, MASTER_KEY)
        log = logs.read_log_file(session, matches.get_match(session, first.match_id), gzipped=False)
        assert parse_row(log.splitlines()[-2])["seed"] == reveal.seed.hex()  # before the signature
        with pytest.raises(NotReady):  # it ended before its first row
            logs.read_log_file(session, matches.get_match(session, second.match_id), gzipped=False)


@on_one_database
def test_a_withdrawal_closes_the_groups_in_which_nothing_was_played(world: World) -> None:
    one, other = world.bots(2)
    match_id = world.match([one, other])
    world.write(retirement.retire_bot, one)

    with world.database.read() as session:
        assert is_revealed(session, group_of(world, match_id))
        assert unclosed_groups(session) == []


def test_a_group_whose_last_match_fell_to_a_withdrawal_is_left_to_be_closed(
    world: World, common: tuple[str, str]
) -> None:
    group_id, _ = leave_unclosed(world, common)

    with world.database.write() as session:
        assert deal_groups.list_groups_to_close(session) == unclosed_groups(session) == [group_id]
        deal_groups.remove_group_to_close(session, group_id)
        assert deal_groups.list_groups_to_close(session) == []
        assert deal_group_closing.close_if_over(session, group_id, master_key=MASTER_KEY)
        assert not deal_group_closing.close_if_over(session, group_id, master_key=MASTER_KEY)
        assert unclosed_groups(session) == []
    assert verify(world.read(logs.log_lines, common[0])).revealed


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)  # SQLite has one writer at a time
def test_a_group_of_which_one_match_ends_while_the_other_is_cancelled_is_left_to_be_closed(
    world: World, common: tuple[str, str]
) -> None:
    (claim,) = world.claim(1)
    (other,) = {*common} - {claim.match_id}
    match = world.resumed(claim.match_id)
    played(match)

    with world.database.write() as ending:
        tail = MatchUpdate(*claim, 0, match.lines)
        match_end.finish_match(ending, tail, outcome(match), master_key=MASTER_KEY)
        world.write(cancelling.cancel_unstarted, StoredMatch.id == other, "a test")

    with world.database.write() as session:
        (group_id,) = deal_groups.list_groups_to_close(session)
        assert deal_group_closing.close_if_over(session, group_id, master_key=MASTER_KEY)


@on_one_database
def test_a_withdrawal_closes_no_group_that_others_still_play(world: World, common: tuple[str, str]) -> None:
    world.claim(1)
    world.write(retirement.retire_bot, seated(world, common[1])[0])

    with world.database.read() as session:
        assert unclosed_groups(session) == []
        assert not is_revealed(session, group_of(world, common[0]))


def test_open_and_closed_groups_cost_the_search_for_groups_to_close_nothing(
    world: World, common: tuple[str, str]
) -> None:
    group_id, _ = leave_unclosed(world, common)
    open_match, closed_match = world.match(), world.match()
    (claim,) = world.claim(match_id=closed_match)
    world.finish(claim)

    costs = []
    for count in (200, 4_000):
        copy_match(world, open_match, count)
        copy_match(world, closed_match, count + 1)
        costs.append(cost_of(world, deal_groups.list_groups_to_close))

    assert costs[0] == costs[1] > 0
    assert world.read(deal_groups.list_groups_to_close) == [group_id]


def leave_unclosed(world: World, common: tuple[str, str]) -> tuple[str, str]:
    """Play one of two matches that share cards and retire a bot of the other. Return ids of their group and the bot."""
    (claim,) = world.claim(1)
    world.finish(claim)
    bot_id = seated(world, common[1])[0]
    world.write(retirement.retire_bot, bot_id)
    return group_of(world, common[0]), bot_id


def seated(world: World, match_id: str) -> list[str]:
    return [seat.bot_id for seat in world.read(matches.seats_of, [match_id])[match_id]]


def is_revealed(session: Session, group_id: str) -> bool:
    return deal_groups.get_group(session, group_id).state == DealGroupState.REVEALED
