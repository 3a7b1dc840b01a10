"""Results by tournament round."""

from fractions import Fraction

from referee.standings.results import MatchOutcome
from referee_extras.analysis.by_round import RoundScore, scores_by_round

HALF = Fraction(1, 2)


def outcome(number: int, entrants: str, placements: list[int], scored: tuple[bool, ...] | None = None) -> MatchOutcome:
    return MatchOutcome(tuple(entrants), placements, [0] * len(placements), "g", number, scored=scored)


def test_each_round_has_its_opponents_its_points_and_the_points_after_it() -> None:
    played = [outcome(2, "CA", [1, 1]), outcome(1, "AB", [1, 2])]

    found = scores_by_round(2, "ABC", played, [(1, "C", "odd"), (2, "B", "odd")])

    assert found["A"] == {1: RoundScore(["B"], Fraction(1), 1, Fraction(1)), 2: RoundScore(["C"], HALF, 1, 3 * HALF)}
    assert found["B"] == {1: RoundScore(["A"], Fraction(0), 1), 2: RoundScore([], Fraction(1), 1, Fraction(1))}
    assert list(found["C"]) == [1, 2]
    assert found["C"][1].is_bye
    assert found["C"][2].total == 3 * HALF


def test_matches_of_one_round_are_added_and_rounds_of_substitutes_omitted() -> None:
    played = [
        outcome(1, "ABC", [1, 2, 3]),
        outcome(1, "BCA", [1, 2, 2]),
        outcome(2, "ABC", [1, 2, 3], (False, True, True)),
    ]

    found = scores_by_round(3, "ABC", played, [])

    assert found["A"] == {1: RoundScore(["B", "C"], Fraction(5, 4), 2, Fraction(5, 4))}
    assert found["B"][2].total == HALF + 1 + HALF
