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
        ("double_round_robin", 24, 12, "41d26c6f8afab314"),
        ("gauntlet", 30, 14, "c401ae41281b789b"),
        ("knockout", 30, 14, "5dbb152c711c400c"),
        ("round_robin", 30, 12, "5674d11d7937635a"),
        ("swiss", 24, 14, "2892e9a32530310e"),
        ("swiss", 3, 40, "30f1cc580a60e776"),
        ("knockout", 8, 40, "51b51b87be7157a0"),
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
