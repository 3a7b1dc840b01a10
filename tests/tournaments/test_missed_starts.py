"""Tournaments with a start time: they start then or later, or have missed it and wait for their organiser."""

from datetime import timedelta

import pytest

from referee.errors import BadOption, Conflict
from referee.events import Event, TournamentHeldUp
from referee.tournaments import entries as entering
from referee.tournaments import starting
from tests.database.checks import on_one_database
from tests.database.tournaments import answer_handshakes, create, edit, enter, go_on, start, status_of
from tests.database.world import World

HOUR = timedelta(hours=1)
pytestmark = on_one_database


def sweep(world: World) -> list[str]:
    """Do what the scheduler does with tournaments that are due; return their states."""
    with world.database.write() as session:
        due = starting.list_due_to_start(session, world.clock.moment)
        return [starting.start_if_due(session, one).status for one in due]


def announced(world: World, entries: int, **terms: object) -> str:
    """Create an open tournament with three seats per table that starts in an hour."""
    event = create(world, seats=3, starts_at=world.clock.moment + HOUR, **terms)
    enter(world, event, *world.bots(entries))
    return event


def test_an_event_with_enough_bots_starts_at_its_time_or_as_soon_as_the_service_is_back(world: World) -> None:
    with pytest.raises(BadOption, match="starts_at"):
        create(world, starts_at=world.clock.moment)
    punctual, late = announced(world, 3), announced(world, 4)

    assert sweep(world) == []
    world.clock.moment += 5 * HOUR
    assert sweep(world) == ["running", "running"]
    assert sweep(world) == []
    assert [status_of(world, event) for event in (punctual, late)] == [("running", None)] * 2


def test_an_event_that_missed_its_start_does_not_start_in_the_middle_of_late_entries(
    world: World, reported_events: list[Event]
) -> None:
    event = announced(world, 1)
    world.clock.moment += HOUR

    assert sweep(world) == ["open"]
    for bot in world.bots(5):
        enter(world, event, bot)
        assert sweep(world) == []

    assert_held_up(world, event, reported_events, "The start at 2026-01-01 01:00 UTC was missed because", 1)


def assert_held_up(world: World, event: str, events: list[Event], why: str, bots: int) -> None:
    """The tournament is open again and its organiser was notified of the reason; they may start it."""
    is_are = "bot is" if bots == 1 else "bots are"
    reason = (
        f"{why} a table has 3 seats, but only {bots} {is_are} entered. Start the tournament manually or set a new time."
    )
    assert status_of(world, event) == ("open", reason)
    assert sweep(world) == []
    assert [(told.tournament, told.reason) for told in events if isinstance(told, TournamentHeldUp)] == [
        (event, reason)
    ]
    start(world, event)
    assert status_of(world, event) == ("running", None)


def test_an_event_to_which_too_few_bots_answer_at_its_time_waits_for_its_organiser(
    world: World, reported_events: list[Event]
) -> None:
    seated = world.bots(3)
    event = create(world, seats=3, starts_at=world.clock.moment + HOUR)
    enter(world, event, *seated)
    world.clock.moment += HOUR

    assert sweep(world) == ["running"]
    answer_handshakes(world.database, absent=seated[:1])
    go_on(world.database, event)

    assert_held_up(world, event, reported_events, "Too few bots answered:", 2)


def test_entries_that_come_before_anybody_noticed_the_time_do_not_undo_the_miss(world: World) -> None:
    event = announced(world, 1)
    world.clock.moment += HOUR

    enter(world, event, *world.bots(3))

    assert sweep(world) == []
    assert status_of(world, event)[0] == "open"
    assert "was missed because" in str(status_of(world, event)[1])


def test_who_enters_after_the_time_finds_the_event_begun(world: World) -> None:
    closed, open_for_more = announced(world, 3), announced(world, 3, format="swiss", late_entry=True)
    world.clock.moment += HOUR

    with pytest.raises(Conflict, match="running and takes no late entries"):
        enter(world, closed, world.bot())
    enter(world, open_for_more, world.bot())

    assert status_of(world, open_for_more) == ("running", None)
    assert sweep(world) == ["running"]  # the refused entry rolled nothing back
    with world.database.read() as session:
        assert [entering.count_by_state(session, event).entered for event in (closed, open_for_more)] == [3, 4]


def test_an_event_that_missed_its_start_is_given_a_new_time(world: World) -> None:
    event = announced(world, 1)
    world.clock.moment += HOUR
    sweep(world)
    enter(world, event, *world.bots(2))

    with pytest.raises(BadOption, match="starts_at"):
        edit(world, event, starts_at=world.clock.moment)
    with pytest.raises(Conflict, match="can no longer be changed"):
        edit(world, event, starts_at=world.clock.moment + HOUR, cycles=2)
    moved = edit(world, event, starts_at=world.clock.moment + HOUR)

    assert (moved.status, moved.status_reason) == ("open", None)
    assert sweep(world) == []
    world.clock.moment += HOUR
    assert sweep(world) == ["running"]
    with pytest.raises(Conflict, match="running and has entries: starts_at can no longer"):
        edit(world, event, starts_at=None)


def test_a_start_that_was_put_off_meanwhile_does_not_come(world: World) -> None:
    put_off, by_hand = announced(world, 3), announced(world, 3)
    world.clock.moment += HOUR
    due = world.read(starting.list_due_to_start, world.clock.moment)
    assert due == sorted([put_off, by_hand])

    edit(world, put_off, starts_at=world.clock.moment + HOUR)
    edit(world, by_hand, starts_at=None)

    with world.database.write() as session:
        assert [starting.start_if_due(session, event).status for event in due] == ["open", "open"]
