"""A slice of the simulated events, and that their checks do notice what is broken. More of them: make simulate."""

from dataclasses import replace
from random import Random

import pytest

from referee.pairing.formats import formats
from tools.simulate.invariants import check
from tools.simulate.ladders import ladder
from tools.simulate.simulation import NAMES, Mishaps, drawn, played_out

EVENTS = {"round_robin": 20, "double_round_robin": 10, "swiss": 70, "knockout": 70, "gauntlet": 50}
MOST, LADDERS = 13, 8


def test_every_format_is_simulated() -> None:
    assert {*formats()} == {*NAMES, "ladder"}


@pytest.mark.parametrize("name", NAMES)
def test_simulated_events_keep_what_their_format_promises(name: str) -> None:
    for number in range(EVENTS[name]):
        rng = Random(f"slice {name} {number}")
        scenario = drawn(formats()[name], rng, MOST)

        check(played_out(scenario, rng))


def test_simulated_ladders_keep_what_they_promise() -> None:
    matches = sum(ladder(Random(f"slice {number}"))["matches"] for number in range(LADDERS))

    assert matches > 100 * LADDERS / 2


@pytest.mark.parametrize("name", NAMES)
def test_a_round_that_was_tampered_with_is_noticed(name: str) -> None:
    rng = Random(f"tampered {name}")
    scenario = replace(drawn(formats()[name], rng, MOST), mishaps=Mishaps())
    history = played_out(scenario, rng)
    event, pairing_round = history.decided[0]
    history.decided[0] = event, replace(pairing_round, tables=(*pairing_round.tables, pairing_round.tables[0]))

    with pytest.raises(AssertionError, match="twice in a round"):
        check(history)
