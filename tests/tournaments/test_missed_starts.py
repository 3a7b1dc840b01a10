"""Tournaments with a start time: they start then or later, or have missed it and wait for their organiser."""

from datetime import timedelta

import pytest

from referee.errors import BadOption, Conflict
from referee.events import Event, TournamentHeldUp
from referee.tournaments import editing, starting
from referee.tournaments import entries as entering
from referee.tournaments.tables import Tournament
from tests.database.tournaments import answer_handshakes, create, enter, go_on, start
from tests.database.world import World

HOUR = timedelta(hours=1)


def sweep(world: World) -> list[str]:
    """Do what the scheduler does with tournaments that are due; return their states."""
    with world.database.write() as session:
        due = starting.list_due_to_start(session, world.clock.moment)
        return [starting.start_if_due(session, one).status for one in due]


def state_of(world: World, event: str) -> tuple[str, str | None]:
    with world.database.read() as session:
        tournament = session.get_one(Tournament, event)
        return tournament.status, tournament.status_reason


def announced(world: World, entries: int, **terms: object) -> str:
    """Create an open tournament with three seats per table that starts in an hour."""
    event = create(world, seats=3, starts_at=world.clock.moment + HOUR, **terms)
    enter(world, event, *world.bots(entries))
    return event


def set_start(world: World, event: str, **changes: object) -> Tournament:
    with world.database.write() as session:
        revision = session.get_one(Tournament, event).revision
        return editing.edit(session, event, revision=revision, **changes)


def held_up(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.tournament, event.reason) for event in events if isinstance(event, TournamentHeldUp)]


def test_an_event_with_enough_bots_starts_at_its_time_or_as_soon_as_the_service_is_back(world: World) -> None:
    with pytest.raises(BadOption, match="starts_at"):
        create(world, starts_at=world.clock.moment)
    punctual, late = announced(world, 3), announced(world, 4)

    assert sweep(world) == []
    world.clock.moment += 5 * HOUR
    assert sweep(world) == ["running", "running"]
    assert sweep(world) == []
    assert [state_of(world, event) for event in (punctual, late)] == [("running", None)] * 2


def test_an_event_that_missed_its_start_does_not_start_in_the_middle_of_late_entries(
    world: World, reported_events: list[Event]
) -> None:
    event = announced(world, 1)
    world.clock.moment += HOUR

    assert sweep(world) == ["open"]
    for bot in world.bots(5):
        enter(world, event, bot)
        assert sweep(world) == []

    status, reason = state_of(world, event)
    assert status == "open"
    assert reason == (
        "The start at 2026-01-01 01:00 UTC was missed because a table has 3 seats, but only 1 bot is entered. "
        "Start the tournament manually or set a new time."
    )
    assert held_up(reported_events) == [(event, reason)]
    start(world, event)
    assert state_of(world, event) == ("running", None)


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

    status, reason = state_of(world, event)
    assert status == "open"
    assert reason == (
        "Too few bots answered: a table has 3 seats, but only 2 bots are entered. "
        "Start the tournament manually or set a new time."
    )
    assert sweep(world) == []
    assert held_up(reported_events) == [(event, reason)]
    start(world, event)
    assert state_of(world, event) == ("running", None)


def test_entries_that_come_before_anybody_noticed_the_time_do_not_undo_the_miss(world: World) -> None:
    event = announced(world, 1)
    world.clock.moment += HOUR

    enter(world, event, *world.bots(3))

    assert sweep(world) == []
    assert state_of(world, event)[0] == "open"
    assert "was missed because" in str(state_of(world, event)[1])


def test_who_enters_after_the_time_finds_the_event_begun(world: World) -> None:
    closed, open_for_more = announced(world, 3), announced(world, 3, format="swiss", late_entry=True)
    world.clock.moment += HOUR

    with pytest.raises(Conflict, match="running and takes no late entries"):
        enter(world, closed, world.bot())
    enter(world, open_for_more, world.bot())

    assert state_of(world, open_for_more) == ("running", None)
    assert sweep(world) == ["running"]  # the refused entry rolled nothing back
    with world.database.read() as session:
        assert [entering.count_by_state(session, event).entered for event in (closed, open_for_more)] == [3, 4]


def test_an_event_that_missed_its_start_is_given_a_new_time(world: World) -> None:
    event = announced(world, 1)
    world.clock.moment += HOUR
    sweep(world)
    enter(world, event, *world.bots(2))

    with pytest.raises(BadOption, match="starts_at"):
        set_start(world, event, starts_at=world.clock.moment)
    with pytest.raises(Conflict, match="can no longer be changed"):
        set_start(world, event, starts_at=world.clock.moment + HOUR, cycles=2)
    moved = set_start(world, event, starts_at=world.clock.moment + HOUR)

    assert (moved.status, moved.status_reason) == ("open", None)
    assert sweep(world) == []
    world.clock.moment += HOUR
    assert sweep(world) == ["running"]
    with pytest.raises(Conflict, match="running and has entries: starts_at can no longer"):
        set_start(world, event, starts_at=None)


def test_a_start_that_was_put_off_meanwhile_does_not_come(world: World) -> None:
    put_off, by_hand = announced(world, 3), announced(world, 3)
    world.clock.moment += HOUR
    with world.database.read() as session:
        due = starting.list_due_to_start(session, world.clock.moment)
    assert due == sorted([put_off, by_hand])

    set_start(world, put_off, starts_at=world.clock.moment + HOUR)
    set_start(world, by_hand, starts_at=None)

    with world.database.write() as session:
        assert [starting.start_if_due(session, event).status for event in due] == ["open", "open"]
