"""Random tournaments of every format, with withdrawals, late entries and cancelled tables, keep their invariants.

The digests freeze their rounds: a change to how rounds are paired has to be made on purpose.
"""

import hashlib
from random import Random

import pytest

from referee.pairing import formats
from tools.simulate.invariants import check
from tools.simulate.simulation import draw_scenario, play_to_end

# `make simulate` plays thousands of tournaments.


@pytest.mark.parametrize(
    ("name", "count", "most", "expected"),
    [
        ("double_round_robin", 60, 14, "688089ad664c83ba"),
        ("gauntlet", 60, 14, "18779396d9bfd80e"),
        ("knockout", 60, 14, "5cc3301648cd84ff"),
        ("round_robin", 60, 14, "10e29a837dc63afc"),
        ("swiss", 30, 14, "1c71556e143c0860"),
        ("swiss", 6, 40, "98e291cd3064d7ee"),
        ("knockout", 20, 40, "bff8022145160fd9"),
    ],
)
def test_rounds_of_random_tournaments_keep_their_invariants_and_stay_the_same(
    name: str, count: int, most: int, expected: str
) -> None:
    rounds = []
    for number in range(count):
        dice = Random(f"{name} {number}")
        history = play_to_end(draw_scenario(formats()[name], dice, most), dice)
        check(history)
        rounds += [pairing_round for _, pairing_round in history.decided]

    assert hashlib.sha256(repr(rounds).encode()).hexdigest()[:16] == expected
