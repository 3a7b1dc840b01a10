"""Error bars."""

from math import sqrt
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.standings import MatchOutcome, bootstrap
from referee.standings.error_bars import COUNTS
from tests.standings.test_standings import ENTRANTS, HALF, Happened, outcome, some, tournaments

DRAW = bytes(range(32))


# -- error bars --


def test_counts_of_a_group_have_mean_and_variance_of_one() -> None:
    assert len(COUNTS) == 256
    assert sum(COUNTS) == 256
    assert sum((count - 1) ** 2 for count in COUNTS) / 256 == pytest.approx(1, abs=0.01)


def test_a_score_of_few_groups_has_no_error_bar() -> None:
    bars = bootstrap("ABC", [outcome("AB", [1, 2]), outcome("BA", [1, 2])], draw_key=DRAW)

    assert (bars["A"].points_per_match, bars["A"].low, bars["A"].high, bars["A"].groups) == (HALF, None, None, 1)
    assert (bars["C"].points_per_match, bars["C"].low, bars["C"].groups) == (None, None, 0)


def test_error_bars_cover_the_truth_when_groups_are_resampled_and_not_when_matches_are() -> None:
    # 200 pairs; the first of each wins 60 % of the deals. Both matches of a deal end alike, so 80 matches are worth
    # 40: intervals over matches are too narrow by the square root of 2, and 1.96 of them become 1.39: 83 %.
    dice = Random(4)
    firsts = [f"first {pair}" for pair in range(200)]
    deals = [
        (first, f"other {first}", [1, 2] if dice.random() < 0.6 else [2, 1], f"deal {deal}")
        for deal in range(40)
        for first in firsts
    ]

    def share_that_covers(results: list[MatchOutcome]) -> float:
        bars = bootstrap(firsts, results, draw_key=DRAW, samples=400).values()
        return sum(bar.low <= 0.6 <= bar.high for bar in bars if bar.low and bar.high) / len(firsts)

    by_deal = [outcome((entrant, other), placed, deal) for entrant, other, placed, deal in deals for _ in range(2)]
    by_match = [
        outcome((entrant, other), placed, f"{deal} {twin}")
        for entrant, other, placed, deal in deals
        for twin in range(2)
    ]

    assert 0.9 <= share_that_covers(by_deal) <= 0.99
    assert share_that_covers(by_match) < 0.88


def test_an_error_bar_of_few_groups_is_wider() -> None:
    # 8 and 100 deals, half of them won. Student's t with 7 degrees of freedom is 2.365, and sqrt(8 / 7) is 1.069.
    few, many = (
        bootstrap(
            "A", [outcome("AB", [1 + n % 2, 2 - n % 2], f"{n}") for n in range(deals)], draw_key=DRAW, samples=4000
        )["A"]
        for deals in (8, 96)
    )

    assert few.low is not None
    assert many.low is not None
    normal = sqrt(12) * (0.5 - many.low)  # the width for 96 deals, scaled to 8
    assert (0.5 - few.low) / normal == pytest.approx(2.365 * 1.069 / 1.96, abs=0.25)


@some
@given(tournaments(), st.randoms(use_true_random=False))
def test_error_bars_follow_from_results_and_draw_alone(tournament: Happened, dice: Any) -> None:
    results, _ = tournament

    bars = bootstrap(ENTRANTS, results, draw_key=DRAW, samples=50)

    assert bootstrap(ENTRANTS, dice.sample(results, len(results)), draw_key=DRAW, samples=50) == bars
    for bar in bars.values():
        if bar.low is not None and bar.high is not None:
            assert bar.points_per_match is not None
            assert 0 <= bar.low <= bar.high <= 1
        else:
            assert bar.groups < 2


def test_large_sums_do_not_spill_over() -> None:
    # 5 seats and 3: units of 1/8 and 1/4; the same deal a thousand times over.
    many = [outcome("ABCDE", [1, 2, 3, 4, 5], f"{n % 3}") for n in range(3000)]

    bars = bootstrap("ABCDE", many, draw_key=DRAW, samples=64)

    assert [(bar.low, bar.high) for bar in bars.values()] == [(1, 1), (0.75, 0.75), (0.5, 0.5), (0.25, 0.25), (0, 0)]

    # A point is 8 · 9 · 7 · 11 · 13 · 17 · 19 · 23 · 2 units, which is a quarter of 2 to the power of 32.
    sizes = (8, 9, 10, 12, 14, 18, 20, 24)
    various = [outcome(["A", *range(1, size)], range(1, size + 1), f"{size}") for size in sizes]
    bar = bootstrap("A", various, draw_key=DRAW, samples=64)["A"]
    assert (bar.low, bar.high, bar.groups) == (1, 1, 8)
