"""Simulate a few tournaments, and test that the checks notice a broken one. ``make simulate`` runs more."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from referee.pairing.formats import formats
from referee.pairing.kinds import TournamentFormat
from tools.simulate.invariants import check, seat_spread, small_spread
from tools.simulate.simulation import Mishaps, draw_scenario, play_to_end
from tools.simulate.tables import judge_tables, merge

TOURNAMENTS = {"round_robin": 10, "double_round_robin": 5, "swiss": 12, "knockout": 20, "gauntlet": 15}
MOST = 13


@pytest.mark.parametrize("name", TournamentFormat)
def test_simulated_tournaments_keep_what_their_format_promises(name: str) -> None:
    for number in range(TOURNAMENTS[name]):
        rng = Random(f"slice {name} {number}")
        scenario = draw_scenario(formats()[name], rng, MOST)

        check(play_to_end(scenario, rng))


def test_tables_of_three_and_more_are_judged_by_all_possible_tables() -> None:
    counts = Counter[str]()
    for number in range(8, 16):  # of 3 and of 5 seats
        rng = Random(f"tables {number}")
        scenario = draw_scenario(formats()["swiss"], rng, MOST)
        if scenario.tournament.seats > 2:
            history = play_to_end(scenario, rng)
            merge(counts, judge_tables(history, seat_spread(history), small_spread(history)))

    assert counts["judged rounds"] > 10
    assert counts["rematches"] > 0
    assert counts["avoidable rematches"] == 0
    assert counts["max seat spread"] <= 3


@pytest.mark.parametrize("name", TournamentFormat)
def test_a_round_that_was_tampered_with_is_noticed(name: str) -> None:
    rng = Random(f"tampered {name}")
    scenario = replace(draw_scenario(formats()[name], rng, MOST), mishaps=Mishaps())
    history = play_to_end(scenario, rng)
    tournament, pairing_round = history.decided[0]
    history.decided[0] = tournament, replace(pairing_round, tables=(*pairing_round.tables, pairing_round.tables[0]))

    with pytest.raises(AssertionError, match="twice in a round"):
        check(history)
