"""Matches that a new version of a bot plays immediately on official ladders, and what they cost its opponents."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from referee.bots import bots
from referee.ladders import members
from referee.ladders.official import load_official_ladders
from referee.ladders.tables import LadderMember
from referee.workflows.explaining import waiting
from tests.database.checks import BOTH, called, checked, on_one_database
from tests.database.world import GAME, World
from tests.ladders.official_play import end_all, later, member_of, poker_bot, prepare, seated, sweep

pytestmark = on_one_database
PACE = next(ladder.daily_matches for ladder in load_official_ladders() if ladder.game == GAME)


@pytest.fixture
def ladder_world(world: World) -> World:
    """Return a world at noon with the official ladder of Saint Poker only."""
    world.clock.moment = world.clock.moment.replace(hour=12, minute=0)
    prepare(world, tuple(ladder for ladder in load_official_ladders() if ladder.game == GAME))
    return world


def established(world: World, **columns: Any) -> str:
    """Return a bot that has played its first matches yesterday, and 25 today at the pace of the ladder."""
    bot_id = poker_bot(world)
    today = {"day": world.clock.moment.date(), "matches_of_day": 25, "last_match_at": world.clock.moment}
    change(world, bot_id, **{"matches": 100, **today, "due_at": world.clock.moment + timedelta(minutes=30), **columns})
    return bot_id


def change(world: World, bot_id: str, **columns: Any) -> None:
    with world.database.write() as session:
        member = session.scalars(select(LadderMember).where(LadderMember.bot_id == bot_id)).one()
        for name, value in columns.items():
            setattr(member, name, value)


def new_version(world: World, bot_id: str, version: str, passed: Any = BOTH) -> None:
    """Let the bot answer a handshake as this version, and pass its check unless ``passed`` is empty."""
    called(world, bot_id, version, with_check=True)
    checked(world, passed, version)


def given_by(world: World, bot_id: str, version: str, passed: Any = BOTH) -> int:
    """Return how many immediate matches a version brings, and use them up."""
    new_version(world, bot_id, version, passed)
    given = immediate_matches(world, bot_id)
    change(world, bot_id, matches=member_of(world, bot_id).matches + given)
    return given


def play_on(world: World, bot_id: str) -> int:
    """Play on as long as a sweep makes matches of the bot, waiting 31 s before each. Return their number."""
    played = 0
    while played < 200:
        if not sweep_and_end(world, bot_id):
            return played
        played += 1
    raise AssertionError("the bot plays for ever")


def sweep_and_end(world: World, bot_id: str) -> bool:
    """Make the matches that are due after 31 s, and end them. Return whether the bot had one."""
    later(world, seconds=31)
    made = sweep(world)
    end_all(world)
    return any(bot_id in seated(world, match) for match in made)


def immediate_matches(world: World, bot_id: str) -> int:
    with world.database.read() as session:
        (found,) = members.list_memberships(session, bot_id)
        return found.immediate_matches


def test_a_new_bot_has_30_immediate_matches_and_a_new_version_15(ladder_world: World) -> None:
    world, bot_id = ladder_world, poker_bot(ladder_world)
    assert immediate_matches(world, bot_id) == 30
    change(world, bot_id, matches=29)
    assert play_on(world, bot_id) == 1
    assert immediate_matches(world, bot_id) == 0
    change(world, bot_id, matches=31)
    assert immediate_matches(world, bot_id) == 0  # never negative

    new_version(world, bot_id, "2.0")

    assert immediate_matches(world, bot_id) == 15


def test_two_new_versions_in_24_hours_play_immediately(ladder_world: World) -> None:
    world, bot_id = ladder_world, established(ladder_world)

    given = [given_by(world, bot_id, version) for version in ("2", "3", "4")]
    later(world, hours=13)  # early in the next day
    given.append(given_by(world, bot_id, "5"))
    later(world, hours=12)  # the first two are older than a day; the others played nothing immediately
    given += [given_by(world, bot_id, version) for version in ("6", "7", "8")]

    assert given == [15, 15, 0, 0, 15, 15, 0]


def test_immediate_matches_of_two_versions_are_not_added(ladder_world: World) -> None:
    world, bot_id = ladder_world, established(ladder_world)
    new_version(world, bot_id, "2")
    assert all(sweep_and_end(world, bot_id) for _ in range(5))
    assert immediate_matches(world, bot_id) == 10

    new_version(world, bot_id, "3")

    assert immediate_matches(world, bot_id) == 15


def test_a_version_of_a_new_bot_that_still_plays_its_first_matches_adds_nothing(ladder_world: World) -> None:
    world, bot_id = ladder_world, poker_bot(ladder_world)
    assert all(sweep_and_end(world, bot_id) for _ in range(5))

    new_version(world, bot_id, "2.0")

    assert immediate_matches(world, bot_id) == 25


def test_a_version_certified_before_or_not_certified_plays_nothing_immediately(ladder_world: World) -> None:
    world, bot_id = ladder_world, established(ladder_world)

    checked_again = given_by(world, bot_id, "1.0")
    failed = given_by(world, bot_id, "2.0", passed={})
    second = given_by(world, bot_id, "2.0")
    back_and_forth = given_by(world, bot_id, "1.0"), given_by(world, bot_id, "2.0")

    assert (checked_again, failed, second, back_and_forth) == (0, 0, 15, (0, 0))


def test_a_new_version_plays_immediately_when_the_bot_has_had_its_matches_of_the_day(ladder_world: World) -> None:
    world, bot_id = ladder_world, established(ladder_world, matches_of_day=PACE)
    before = due(world, bot_id)
    assert before == members.next_day(world.clock.moment)

    new_version(world, bot_id, "2")

    (waits,) = world.read(waiting.explain_waiting, bot_id, runner_slots=4).ladders
    assert waits.reason.code == "official_next"
    change(world, bot_id, matches=112)
    assert play_on(world, bot_id) == 3
    assert due(world, bot_id) == before


def due(world: World, bot_id: str) -> Any:
    """Return when the bot plays next, as the service tells its owner after it has looked."""
    sweep(world)
    with world.database.read() as session:
        (waits,) = waiting.explain_waiting(session, bot_id, runner_slots=4).ladders
        return waits.reason.at


def test_immediate_matches_leave_the_pace_of_the_bot_as_it_was(ladder_world: World) -> None:
    world, bot_id = ladder_world, established(ladder_world)
    new_version(world, bot_id, "2")
    change(world, bot_id, matches=112)
    assert play_on(world, bot_id) == 3

    member = member_of(world, bot_id)

    assert member.matches_of_day == 28
    # The 26th match of the day is due at 12:30, or half an hour after the last one.
    assert member.last_match_at is not None
    assert member.due_at == member.last_match_at + timedelta(minutes=30)


def test_the_daily_maximum_of_the_owner_limits_immediate_matches(ladder_world: World) -> None:
    world, bot_id = ladder_world, established(ladder_world)
    with world.database.write() as session:
        members.change_settings(session, bots.get_bot(session, bot_id), {"daily_maximum": 29})

    new_version(world, bot_id, "2")

    assert play_on(world, bot_id) == 4


def test_a_ladder_of_few_matches_a_day_gives_a_version_no_more_than_these(world: World) -> None:
    (standard,) = [ladder for ladder in load_official_ladders() if ladder.game == GAME]
    prepare(world, (replace(standard, daily_matches=5),))
    bot_id = established(world)

    new_version(world, bot_id, "2")

    assert immediate_matches(world, bot_id) == 5


def test_opponents_of_a_new_version_keep_their_own_matches(ladder_world: World) -> None:
    world = ladder_world
    # The opponents have one match of this day left, which is due in eleven hours.
    last = world.clock.moment + timedelta(hours=11)
    opponents = [established(world, matches_of_day=PACE - 1, due_at=last) for _ in range(3)]
    bot_id = established(world)

    new_version(world, bot_id, "2")
    played = play_on(world, bot_id)

    found = [member_of(world, opponent) for opponent in opponents]
    met = sum(member.matches - 100 for member in found)
    assert played == 15
    assert met >= 9  # a third of the matches at most is against house players
    assert all(member.matches > 101 for member in found)
    assert [member.due_at for member in found] == [last] * 3
    world.clock.moment = last
    assert {*opponents} <= {bot for match in sweep(world) for bot in seated(world, match)}
