"""A pace of rounds: paired immediately, played at their times, and no wait after the last."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from referee.errors import BadOption
from referee.tournaments import editing, round_timing, tournaments
from tests.database.tournaments import begun, create, go_on, progress_of
from tests.database.world import World

HALF_AN_HOUR = timedelta(minutes=30)


def play_due(world: World) -> int:
    claimed = world.claim(50)
    for claim in claimed:
        world.finish(claim)
    return len(claimed)


def waiting(world: World, tournament_id: str) -> tuple[int, datetime] | None:
    with world.database.read() as session:
        return round_timing.next_round_start(session, tournaments.get_tournament(session, tournament_id))


def status_of(world: World, tournament_id: str) -> str:
    with world.database.read() as session:
        return tournaments.get_tournament(session, tournament_id).status


def test_a_round_waits_for_its_time_and_the_end_for_none(world: World) -> None:
    tournament_id, _ = begun(world, 4, format="swiss", format_options={"rounds": 2}, round_minutes=30)
    began = world.clock.moment
    assert play_due(world) == 2

    world.clock.moment += timedelta(minutes=10)
    assert go_on(world.database, tournament_id) == ["round over", "paired"]
    found = waiting(world, tournament_id)
    assert found is not None
    assert found[0] == 2
    assert abs(found[1] - (began + HALF_AN_HOUR)) < timedelta(seconds=5)
    assert play_due(world) == 0

    world.clock.moment = found[1]
    assert go_on(world.database, tournament_id) == ["arranged"]
    assert waiting(world, tournament_id) is None
    assert play_due(world) == 2
    assert go_on(world.database, tournament_id)[-1] == "finished"
    assert status_of(world, tournament_id) == "finished"


def test_a_round_that_takes_longer_than_the_pace_is_followed_at_once(world: World) -> None:
    tournament_id, _ = begun(world, 4, format="swiss", format_options={"rounds": 2}, round_minutes=1)
    world.clock.moment += timedelta(minutes=5)
    play_due(world)

    assert go_on(world.database, tournament_id) == ["round over", "paired", "arranged"]
    assert play_due(world) == 2


def test_a_round_robin_that_is_paired_in_advance_keeps_the_pace(world: World) -> None:
    tournament_id, _ = begun(world, 4, round_minutes=30)

    played = []
    for _ in range(3):
        played.append(play_due(world))
        world.clock.moment += HALF_AN_HOUR
        go_on(world.database, tournament_id)

    assert played == [2, 2, 2]
    assert status_of(world, tournament_id) == "finished"


@pytest.mark.parametrize("minutes", [0, 44641])
def test_a_pace_has_bounds(world: World, minutes: int) -> None:
    with pytest.raises(BadOption, match="round_minutes"):
        create(world, round_minutes=minutes)


def test_rounds_begin_at_given_times_of_which_later_ones_can_be_changed(world: World) -> None:
    first, second, third = (world.clock.utc_now() + timedelta(hours=hours) for hours in (1, 2, 3))
    tournament_id, _ = begun(world, 4, format="swiss", format_options={"rounds": 3}, round_times=[first, second, third])
    assert play_due(world) == 0
    assert waiting(world, tournament_id) == (1, first)

    world.clock.moment = first
    assert go_on(world.database, tournament_id) == ["arranged"]
    assert waiting(world, tournament_id) == (2, second)  # before it is paired
    assert play_due(world) == 2
    go_on(world.database, tournament_id)
    assert play_due(world) == 0

    sooner, later = first + timedelta(minutes=10), third + timedelta(days=1)
    change_times(world, tournament_id, [first, sooner, later])
    world.clock.moment = sooner
    assert go_on(world.database, tournament_id) == ["arranged"]
    assert play_due(world) == 2
    go_on(world.database, tournament_id)
    assert waiting(world, tournament_id) == (3, later)

    for wrong in ([sooner, later], [first, sooner, sooner], [first - timedelta(1), sooner, later]):
        with pytest.raises(BadOption, match="round_times"):
            change_times(world, tournament_id, wrong)
    change_times(world, tournament_id, None)
    assert go_on(world.database, tournament_id) == ["arranged"]


def test_a_later_time_can_be_changed_when_an_earlier_one_has_passed_before_its_round(world: World) -> None:
    first, second, third = (world.clock.utc_now() + timedelta(hours=hours) for hours in (1, 2, 3))
    tournament_id, _ = begun(world, 4, format="swiss", format_options={"rounds": 3}, round_times=[first, second, third])
    world.clock.moment = first
    assert go_on(world.database, tournament_id) == ["arranged"]
    world.clock.moment = second + timedelta(minutes=1)  # the matches of round 1 are not over

    later = third + timedelta(days=1)
    change_times(world, tournament_id, [first, second, later])

    with pytest.raises(BadOption, match="time 2 must be later than now"):
        change_times(world, tournament_id, [first, second - timedelta(minutes=1), later])
    assert play_due(world) == 2
    go_on(world.database, tournament_id)
    assert play_due(world) == 2
    go_on(world.database, tournament_id)
    assert waiting(world, tournament_id) == (3, later)


def change_times(world: World, tournament_id: str, times: list[datetime] | None) -> None:
    with world.database.write() as session:
        revision = tournaments.get_tournament(session, tournament_id).revision
        editing.edit(session, tournament_id, revision=revision, round_times=times)


@pytest.mark.parametrize(
    ("terms", "hours"),
    [
        ({}, []),
        ({}, [2, 1]),
        ({}, [1, 1]),
        ({}, [-1, 1]),
        ({}, list(range(1, 102))),
        ({"round_minutes": 5}, [1]),
        ({"format": "swiss", "format_options": {"rounds": 3}}, [1, 2]),
    ],
    ids=str,
)
def test_given_times_are_in_order_in_the_future_and_fit_the_rounds(
    world: World, terms: dict[str, Any], hours: list[int]
) -> None:
    now = world.clock.utc_now()
    times = [now + timedelta(hours=number) for number in hours]
    with pytest.raises(BadOption, match="round_times"):
        create(world, **terms, round_times=times)


def test_the_first_round_is_not_before_the_start(world: World) -> None:
    now = world.clock.utc_now()
    with pytest.raises(BadOption, match="starts_at"):
        create(world, starts_at=now + timedelta(hours=2), round_times=[now + timedelta(hours=1)])


def test_the_estimated_end_is_not_before_the_time_of_the_last_round(world: World) -> None:
    tournament_id, _ = begun(world, 10, format="swiss", format_options={"rounds": 3}, round_minutes=30)
    began = world.clock.moment
    assert play_due(world) == 5
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
