"""Luck-adjusted scores, and comparisons on the same cards."""

from fractions import Fraction
from math import sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.standings import MatchOutcome
from referee_extras.analysis.luck import LuckAdjusted, Mean, SameCards, compare_same_cards, luck_adjusted
from tests.standings.test_standings import ENTRANTS, HALF, Happened, outcome, some, tournaments

# -- luck --


def test_luck_is_what_all_with_the_same_cards_had() -> None:
    # Deal 1 is good for seat 0: it won 8 and 2 there, 5 on average. Deal 2 gave seat 0 to A and C: 4 and 0.
    results = [
        MatchOutcome("AB", [1, 2], [8, -8], "deal 1"),
        MatchOutcome("CD", [1, 2], [2, -2], "deal 1"),
        MatchOutcome("AD", [1, 2], [4, -4], "deal 2"),
        MatchOutcome("CB", [1, 1], [0, 0], "deal 2"),
    ]

    adjusted = luck_adjusted("ABCD", results)

    # A had cards worth 1 and 3/4 points.
    # A: +3 and +2, mean 5/2, error sqrt(((1/2)^2 + (1/2)^2) / 1 / 2) = 1/2. Points: 0 and 1/4.
    assert adjusted["A"] == LuckAdjusted(
        points=Mean(Fraction(1, 8), 0.125), returns=Mean(Fraction(5, 2), 0.5), matches=2, groups=2, cards=Fraction(7, 8)
    )
    values = {entrant: value.returns.value for entrant, value in adjusted.items() if value}
    assert values == {"A": Fraction(5, 2), "B": Fraction(-1, 2), "C": Fraction(-5, 2), "D": Fraction(1, 2)}


def test_a_seat_that_one_alone_held_says_nothing_about_luck() -> None:
    alone = [outcome("AB", [1, 2], "own 1"), outcome("AB", [2, 1], "own 2")]
    one_deal = [outcome("CD", [1, 2], "deal"), outcome("DC", [2, 1], "deal")]

    adjusted = luck_adjusted("ABCD", alone + one_deal)

    assert adjusted["A"] is adjusted["B"] is None
    assert adjusted["C"] == LuckAdjusted(Mean(HALF, None), Mean(Fraction(0), None), matches=2, groups=1, cards=HALF)


def test_matches_of_one_deal_are_not_taken_for_independent() -> None:
    # C wins both of its matches in three deals and loses both in one: four observations, not eight.
    results = [
        MatchOutcome(seated, placed, [0, 0], f"deal {deal}")
        for deal, won in enumerate([True, True, True, False])
        for seated, placed in (("CD", [1, 2] if won else [2, 1]), ("DC", [2, 1] if won else [1, 2]))
    ]

    adjusted = luck_adjusted("CD", results)["C"]

    # Residuals by deal and match +1/2, +1/2, +1/2, -1/2: mean 1/4, standard deviation 1/2, over four.
    assert adjusted
    assert adjusted.points.value == Fraction(1, 4)
    assert adjusted.points.error == pytest.approx(0.5 / sqrt(4))


def test_two_entrants_are_compared_on_the_hands_that_both_had() -> None:
    results = [
        MatchOutcome("AB", [1, 2], [5, -5], "deal 1"),
        MatchOutcome("BA", [1, 1], [0, 0], "deal 1"),
        MatchOutcome("ACD", [2, 1, 3], [0, 9, -9], "deal 2"),
        MatchOutcome("ACD", [1, 2, 3], [0, 9, -9], "deal 2"),
        MatchOutcome("BCD", [3, 1, 2], [-9, 9, 0], "deal 2"),
        MatchOutcome("AC", [1, 2], [1, -1], "deal 3"),
        MatchOutcome("CB", [1, 2], [1, -1], "deal 3"),  # another seat
    ]

    found = compare_same_cards("A", "B", results)
    back = compare_same_cards("B", "A", results)

    # Deal 1: 1 against 1/2, and 1/2 against 0. Deal 2: the mean of 1/2 and 1 against 0. Mean (1/2 + 1/2 + 3/4) / 3.
    assert found is not None
    assert back is not None
    assert found == SameCards(Mean(Fraction(7, 12), found.difference.error), hands=3, groups=2)
    assert found.difference.error == pytest.approx(1 / 9)
    assert back.difference.value == Fraction(-7, 12)
    assert compare_same_cards("A", "B", results[-2:]) is None
    assert compare_same_cards("A", "B", results[:1]) is None


@some
@given(tournaments(), st.randoms(use_true_random=False))
def test_luck_adjusted_scores_cancel_out(tournament: Happened, dice: Any) -> None:
    full = [MatchOutcome(result.entrants, result.placements, result.returns, result.group) for result in tournament[0]]

    adjusted = luck_adjusted(ENTRANTS, full)

    found = [value for value in adjusted.values() if value]
    assert sum(value.points.value * value.matches for value in found) == 0
    assert sum(value.returns.value * value.matches for value in found) == 0
    assert luck_adjusted(ENTRANTS, dice.sample(full, len(full))) == adjusted
