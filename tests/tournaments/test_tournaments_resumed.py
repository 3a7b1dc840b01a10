"""Kill and resume: a process may be killed at any step of a tournament, with the same outcome as without."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from referee.tournaments.tables import Tournament
from tests.database import scripted
from tests.database.tournaments import answer_handshakes, create, enter, go_on, progress_of, start
from tests.database.world import FakeClock, World

KINDS: dict[str, tuple[int, dict[str, Any]]] = {  # bots, terms
    "double round robin": (3, {"format": "double_round_robin"}),
    "Swiss at tables of three": (7, {"format": "swiss", "seats": 3, "deal_sharing": "common"}),
    "knockout": (4, {"format": "knockout", "format_options": {"best_of": 3, "tie_breaks": 2, "third_place": True}}),
    "duplicate": (4, {"format": "swiss", "deal_sharing": "duplicate", "orders": "all"}),
}
CASES = [*(("sqlite", kind) for kind in KINDS), ("postgresql", "knockout")]


@pytest.mark.parametrize(("url", "kind"), CASES, indirect=["url"])
def test_an_event_goes_on_where_it_was_left(world: World, kind: str) -> None:
    count, terms = KINDS[kind]
    whole, broken = two_alike(world, count, **terms)
    played = _played(world, whole, lambda: go_on(world.database, whole))
    dying = scripted.Dying(world.database.url.render_as_string(hide_password=False), clock=FakeClock())
    again = _played(world, broken, lambda: scripted.steps(dying, world.database, broken))
    dying.dispose()

    assert again == played > 5
    assert scripted.shape(world.database, broken) == scripted.shape(world.database, whole)
    status = world.get_one(Tournament, whole).status
    assert status == "finished"
    progress = progress_of(world, whole)
    assert progress.done == progress.total == played


def two_alike(world: World, count: int, **terms: Any) -> list[str]:
    """Return two tournaments with the same bots, after the handshakes before their start."""
    bots, organiser = world.bots(count), world.account("organiser")
    events = [create(world, rated=False, created_by=organiser, **terms) for _ in range(2)]
    for event in events:
        enter(world, event, *bots)
        start(world, event)
    answer_handshakes(world.database)
    return events


def _played(world: World, event: str, carry_on: Callable[[], object]) -> int:
    """Play the tournament to its end; return the number of matches."""
    played = 0
    carry_on()
    while now := scripted.play_due(world.database, event):
        played += now
        carry_on()
    return played


def test_of_several_schedulers_none_does_what_another_did(world: World) -> None:
    alone, crowded = two_alike(world, 6, format="swiss", deal_sharing="common")

    _played(world, alone, lambda: go_on(world.database, alone))
    with ThreadPoolExecutor(3) as threads:

        def all_at_once() -> None:
            list(threads.map(lambda _: go_on(world.database, crowded), range(3)))

        _played(world, crowded, all_at_once)

    assert scripted.shape(world.database, crowded) == scripted.shape(world.database, alone)
