"""Kill and resume: whoever carries an event on may be killed at any step, and the event goes as if nobody had been."""

from collections.abc import Callable
from typing import Any

import pytest

from referee.store.schema import Tournament
from tests.store import scripted
from tests.store.events import answer_checks, create, enter, go_on, progress_of, start
from tests.store.world import World

KINDS: dict[str, dict[str, Any]] = {
    "round robin": {"format": "round_robin"},
    "double round robin": {"format": "double_round_robin", "seats": 3},
    "Swiss": {"format": "swiss"},
    "Swiss at tables of three": {"format": "swiss", "seats": 3, "game": "pool-nap"},
    "knockout": {"format": "knockout", "format_options": {"best_of": 3, "tie_breaks": 2, "third_place": True}},
    "gauntlet": {"format": "gauntlet"},
    "duplicate": {"format": "swiss", "deals": "duplicate"},
    "all orders": {"format": "knockout", "deals": "duplicate", "orders": "all", "seats": 3},
    "ladder": {"format": "ladder", "format_options": {"at_once": 3}},
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_event_goes_on_where_it_was_left(world: World, kind: str) -> None:
    bots = world.bots(7 if "Swiss" in kind else 5)
    terms = {"rated": False, "created_by": world.account("organiser"), **KINDS[kind]}
    if kind == "Swiss":
        terms["deals"] = "common"
    events = [create(world, **terms) for _ in range(2)]
    for event in events:
        enter(world, event, *bots)
        start(world, event)
    answer_checks(world.database)
    whole, broken = events

    played = _played(world, whole, lambda: go_on(world.database, whole))
    again = _played(world, broken, lambda: scripted.steps(world.database, broken))

    assert again == played > 5
    assert scripted.shape(world.database, broken) == scripted.shape(world.database, whole)
    with world.database.read() as session:
        status = session.get_one(Tournament, whole).status
    assert status == ("running" if kind == "ladder" else "finished")
    progress = progress_of(world, whole)
    assert kind == "ladder" or progress.done == progress.total == played


def _played(world: World, event: str, carry_on: Callable[[], object]) -> int:
    """Plays the event to its end, or so far as matters; tells how many matches."""
    played = 0
    carry_on()
    while played < 20 and (now := scripted.play_due(world.database, event)):
        played += now
        carry_on()
    return played
