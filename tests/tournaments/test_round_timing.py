"""A pace of rounds: paired immediately, played at their times, and no wait after the last."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from referee.errors import BadOption
from referee.tournaments import round_timing, tournaments
from tests.database import scripted
from tests.database.checks import on_one_database
from tests.database.tournaments import begun, create, edit, go_on, progress_of, status_of
from tests.database.world import World

HALF_AN_HOUR = timedelta(minutes=30)
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
pytestmark = on_one_database


def waiting(world: World, tournament_id: str) -> tuple[int, datetime] | None:
    with world.database.read() as session:
        return round_timing.next_round_start(session, tournaments.get_tournament(session, tournament_id))


def test_a_round_waits_for_its_time_and_the_end_for_none(world: World) -> None:
    tournament_id, _ = begun(world, 4, format="swiss", format_options={"rounds": 2}, round_minutes=30)
    began = world.clock.moment
    assert scripted.play_due(world.database, tournament_id) == 2

    world.clock.moment += timedelta(minutes=10)
    assert go_on(world.database, tournament_id) == ["round over", "paired"]
    found = waiting(world, tournament_id)
    assert found is not None
    assert found[0] == 2
    assert abs(found[1] - (began + HALF_AN_HOUR)) < timedelta(seconds=5)
    assert scripted.play_due(world.database, tournament_id) == 0

    world.clock.moment = found[1]
    assert go_on(world.database, tournament_id) == ["arranged"]
    assert waiting(world, tournament_id) is None
    assert scripted.play_due(world.database, tournament_id) == 2
    assert go_on(world.database, tournament_id)[-1] == "finished"
    assert status_of(world, tournament_id)[0] == "finished"


def test_a_round_that_takes_longer_than_the_pace_is_followed_at_once(world: World) -> None:
    tournament_id, _ = begun(world, 4, format="swiss", format_options={"rounds": 2}, round_minutes=1)
    world.clock.moment += timedelta(minutes=5)
    scripted.play_due(world.database, tournament_id)

    assert go_on(world.database, tournament_id) == ["round over", "paired", "arranged"]
    assert scripted.play_due(world.database, tournament_id) == 2


def test_a_round_robin_that_is_paired_in_advance_keeps_the_pace(world: World) -> None:
    tournament_id, _ = begun(world, 4, round_minutes=30)

    played = []
    for _ in range(3):
        played.append(scripted.play_due(world.database, tournament_id))
        world.clock.moment += HALF_AN_HOUR
        go_on(world.database, tournament_id)

    assert played == [2, 2, 2]
    assert status_of(world, tournament_id)[0] == "finished"


def test_rounds_begin_at_given_times_of_which_later_ones_can_be_changed(world: World) -> None:
    first, second, third = (world.clock.utc_now() + timedelta(hours=hours) for hours in (1, 2, 3))
    tournament_id, _ = begun(world, 4, format="swiss", format_options={"rounds": 3}, round_times=[first, second, third])
    assert scripted.play_due(world.database, tournament_id) == 0
    assert waiting(world, tournament_id) == (1, first)

    world.clock.moment = first
    assert go_on(world.database, tournament_id) == ["arranged"]
    assert waiting(world, tournament_id) == (2, second)  # before it is paired
    assert scripted.play_due(world.database, tournament_id) == 2
    go_on(world.database, tournament_id)
    assert scripted.play_due(world.database, tournament_id) == 0

    sooner, later = first + timedelta(minutes=10), third + timedelta(days=1)
    edit(world, tournament_id, round_times=[first, sooner, later])
    world.clock.moment = sooner
    assert go_on(world.database, tournament_id) == ["arranged"]
    assert scripted.play_due(world.database, tournament_id) == 2
    go_on(world.database, tournament_id)
    assert waiting(world, tournament_id) == (3, later)

    for wrong in ([sooner, later], [first, sooner, sooner], [first - timedelta(1), sooner, later]):
        with pytest.raises(BadOption, match="round_times"):
            edit(world, tournament_id, round_times=wrong)
    edit(world, tournament_id, round_times=None)
    assert go_on(world.database, tournament_id) == ["arranged"]


def test_a_later_time_can_be_changed_when_an_earlier_one_has_passed_before_its_round(world: World) -> None:
    first, second, third = (world.clock.utc_now() + timedelta(hours=hours) for hours in (1, 2, 3))
    tournament_id, _ = begun(world, 4, format="swiss", format_options={"rounds": 3}, round_times=[first, second, third])
    world.clock.moment = first
    assert go_on(world.database, tournament_id) == ["arranged"]
    world.clock.moment = second + timedelta(minutes=1)  # the matches of round 1 are not over

    later = third + timedelta(days=1)
    edit(world, tournament_id, round_times=[first, second, later])

    with pytest.raises(BadOption, match="time 2 must be later than now"):
        edit(world, tournament_id, round_times=[first, second - timedelta(minutes=1), later])
    assert scripted.play_due(world.database, tournament_id) == 2
    go_on(world.database, tournament_id)
    assert scripted.play_due(world.database, tournament_id) == 2
    go_on(world.database, tournament_id)
    assert waiting(world, tournament_id) == (3, later)


WRONG_TIMES: list[tuple[dict[str, Any], list[int]]] = [  # terms, and hours from now
    ({"starts_at": NEW_YEAR + timedelta(hours=2)}, [1]),
    ({}, []),
    ({}, [2, 1]),
    ({}, [1, 1]),
    ({}, [-1, 1]),
    ({}, list(range(1, 102))),
    ({"round_minutes": 5}, [1]),
    ({"format": "swiss", "format_options": {"rounds": 3}}, [1, 2]),
]


def test_given_times_are_in_order_in_the_future_and_fit_the_rounds(world: World) -> None:
    for minutes in (0, 44641):
        with pytest.raises(BadOption, match="round_minutes"):
            create(world, round_minutes=minutes)
    now = world.clock.utc_now()
    for terms, hours in WRONG_TIMES:
        times = [now + timedelta(hours=number) for number in hours]
        with pytest.raises(BadOption, match="round_times"):
            create(world, **terms, round_times=times)


def test_the_estimated_end_is_not_before_the_time_of_the_last_round(world: World) -> None:
    tournament_id, _ = begun(world, 10, format="swiss", format_options={"rounds": 3}, round_minutes=30)
    began = world.clock.moment
    assert scripted.play_due(world.database, tournament_id) == 5
    in_the_first = progress_of(world, tournament_id).estimated_end

    go_on(world.database, tournament_id)
    waits = progress_of(world, tournament_id).estimated_end
    world.clock.moment += timedelta(minutes=20)
    still_waits = progress_of(world, tournament_id).estimated_end

    for end in (in_the_first, waits, still_waits):
        assert end is not None
        assert abs(end - (began + 2 * HALF_AN_HOUR)) < timedelta(minutes=1)


def test_the_estimated_end_counts_no_pause_as_time_of_matches(world: World) -> None:
    tournament_id, _ = begun(world, 10, format="swiss", format_options={"rounds": 2}, round_minutes=30)
    began = world.clock.moment
    for claim in world.claim(50):
        world.finish(claim)
        world.clock.moment += timedelta(seconds=60)
    go_on(world.database, tournament_id)
    world.clock.moment = began + timedelta(minutes=29)

    end = progress_of(world, tournament_id).estimated_end

    # four minutes between the first and the last of five matches: 48 s for each of the five that are left
    assert end is not None
    assert abs(end - (began + HALF_AN_HOUR + timedelta(minutes=4))) < timedelta(seconds=10)
