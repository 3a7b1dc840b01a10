"""Figures from results, worked out by hand: luck and its bar, crosstables, rounds, turning points."""

from collections.abc import Hashable, Mapping
from fractions import Fraction
from math import sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.pairing.kinds import TournamentFormat
from referee.standings import HeadToHead, MatchOutcome
from referee.standings.table import RankedEntrant
from referee_extras.analysis.by_round import RoundScore, scores_by_round
from referee_extras.analysis.luck import LuckAdjusted, Mean, SameCards, compare_same_cards, luck_adjusted
from referee_extras.analysis.luck_bar import luck_bar
from referee_extras.analysis.meetings import crosstable
from referee_extras.analysis.turning_points import biggest_seed_upset, deciding_match
from tests.api.test_charts import shapes
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


def test_luck_is_a_bar_from_zero_with_its_error_and_a_diamond_for_the_cards() -> None:
    # From -0.5 to 0.5 over 6 to 146: zero at 76, 0.25 at 111, -0.25 at 41.
    drawn = luck_bar(0.25, 0.1, -0.25, 0.5, "A <b>")

    (bar,), (error,), (cards,) = (shapes(drawn, "rect"), shapes(drawn, "line", "error"), shapes(drawn, "path"))
    assert (bar["class"], bar["x"], bar["width"]) == ("ahead", "76", "35")
    assert (error["x1"], error["x2"]) == ("97", "125")
    assert cards["d"].startswith("M41,3")
    assert "A &lt;b&gt;" in str(drawn)


def test_luck_below_zero_goes_to_the_left_and_may_have_no_error() -> None:
    drawn = luck_bar(-0.5, None, 0, 0.5, "A")

    (bar,) = shapes(drawn, "rect")
    assert (bar["class"], bar["x"], bar["width"]) == ("behind", "6", "70")
    assert shapes(drawn, "line", "error") == []


def test_a_crosstable_compares_every_two_of_a_table() -> None:
    results = [outcome("ABC", [1, 2, 2]), outcome("CA", [1, 2])]

    against = crosstable("ABCD", results)

    assert against == {
        "A": {"B": HeadToHead(1, 2), "C": HeadToHead(2, 2)},
        "B": {"A": HeadToHead(1, 0), "C": HeadToHead(1, 1)},
        "C": {"A": HeadToHead(2, 2), "B": HeadToHead(1, 1)},
        "D": {},
    }
    assert (against["B"]["C"].points, against["A"]["B"].lead, against["B"]["A"].lead) == (Fraction(1, 2), 1, -1)
    assert list(crosstable("CBA", results)["A"]) == ["C", "B"]


def test_a_substitute_meets_nobody() -> None:
    against = crosstable("ABC", [outcome("ABC", [1, 2, 3], scored=(True, False, True))])

    assert against == {"A": {"C": HeadToHead(1, 2)}, "B": {}, "C": {"A": HeadToHead(1, 0)}}


@some
@given(tournaments())
def test_both_sides_of_a_crosstable_agree(tournament: Happened) -> None:
    against = crosstable(ENTRANTS, tournament[0])

    for entrant, row in against.items():
        for rival, result in row.items():
            other = against[rival][entrant]
            assert (result.matches, result.half_points + other.half_points) == (other.matches, 2 * result.matches)


def test_each_round_has_its_opponents_its_points_and_the_points_after_it() -> None:
    results = [outcome("CA", [1, 1], tournament_round=2), outcome("AB", [1, 2], tournament_round=1)]

    found = scores_by_round(2, "ABC", results, [(1, "C", "odd"), (2, "B", "odd")])

    assert found["A"] == {1: RoundScore(["B"], Fraction(1), 1, Fraction(1)), 2: RoundScore(["C"], HALF, 1, 3 * HALF)}
    assert found["B"] == {1: RoundScore(["A"], Fraction(0), 1), 2: RoundScore([], Fraction(1), 1, Fraction(1))}
    assert list(found["C"]) == [1, 2]
    assert found["C"][1].is_bye
    assert found["C"][2].total == 3 * HALF


def test_matches_of_one_round_are_added_and_rounds_of_substitutes_omitted() -> None:
    results = [
        outcome("ABC", [1, 2, 3], tournament_round=1),
        outcome("BCA", [1, 2, 2], tournament_round=1),
        outcome("ABC", [1, 2, 3], tournament_round=2, scored=(False, True, True)),
    ]

    found = scores_by_round(3, "ABC", results, [])

    assert found["A"] == {1: RoundScore(["B", "C"], Fraction(5, 4), 2, Fraction(5, 4))}
    assert found["B"][2].total == HALF + 1 + HALF


def played(seq: int, entrants: str, placements: list[int], number: int = 1) -> MatchOutcome:
    return MatchOutcome(tuple(entrants), placements, [0] * len(placements), "g", number, seq)


def ranks(**given: int) -> list[RankedEntrant]:
    return [RankedEntrant(rank, entrant, 1, 0, Fraction(0), 0, 0, 0, {}) for entrant, rank in given.items()]


MATCHES = [
    played(1, "AC", [1, 2]),
    played(2, "AB", [2, 1], 2),
    played(3, "AE", [1, 2], 3),
    played(4, "BC", [1, 2], 3),
]


def test_the_last_match_of_the_winner_with_another_on_the_podium_decides() -> None:
    standings = ranks(A=1, B=2, C=3, D=4, E=5)

    assert deciding_match(TournamentFormat.SWISS, standings, MATCHES) is MATCHES[1]
    assert deciding_match(TournamentFormat.SWISS, ranks(A=1, D=2, F=3, B=4), MATCHES) is None


def test_a_knockout_is_decided_by_its_final() -> None:
    standings = ranks(A=1, E=2, B=3, C=4)

    assert deciding_match(TournamentFormat.KNOCKOUT, standings, MATCHES, 3) is MATCHES[2]
    assert deciding_match(TournamentFormat.KNOCKOUT, standings, MATCHES, 4) is None  # a walkover


@pytest.mark.parametrize(
    ("seeds", "found"),
    [
        ({"A": 1, "B": 4, "C": 9, "E": 2}, (2, "B", "A")),
        ({"A": 9, "B": 9, "C": 1, "E": 8}, (1, "A", "C")),  # A and B beat C by the same difference; A was first
        ({"A": 2, "B": 4, "C": 1, "E": 9}, (4, "B", "C")),
        ({"A": 1, "B": 1}, None),
        ({}, None),
    ],
)
def test_the_biggest_upset_has_the_largest_difference_of_seeds(
    seeds: Mapping[Hashable, int], found: tuple[int, str, str] | None
) -> None:
    upset = biggest_seed_upset(seeds, MATCHES)

    assert (upset and (upset[0].seq, *upset[1:])) == found
