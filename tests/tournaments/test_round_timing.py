"""A pace of rounds: paired immediately, played at their times, and no wait after the last."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from referee.errors import BadOption
from referee.tournaments import round_timing, tournaments
from tests.database.tournaments import begun, create, go_on
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


@pytest.mark.parametrize(
    "terms", [{"round_minutes": 0}, {"round_minutes": 5, "format": "ladder"}, {"round_minutes": 44641}], ids=str
)
def test_a_pace_has_bounds_and_needs_rounds(world: World, terms: dict[str, Any]) -> None:
    with pytest.raises(BadOption, match="round_minutes"):
        create(world, **terms)
