"""The deciding match and the biggest upset by seeds."""

from collections.abc import Hashable, Mapping
from fractions import Fraction

import pytest

from referee.pairing.kinds import TournamentFormat
from referee.standings.results import MatchOutcome
from referee.standings.table import RankedEntrant
from referee_extras.analysis.turning_points import biggest_seed_upset, deciding_match


def outcome(seq: int, entrants: str, placements: list[int], number: int = 1) -> MatchOutcome:
    return MatchOutcome(tuple(entrants), placements, [0] * len(placements), "g", number, seq)


def ranks(**given: int) -> list[RankedEntrant]:
    return [RankedEntrant(rank, entrant, 1, 0, Fraction(0), 0, 0, 0, {}) for entrant, rank in given.items()]


PLAYED = [
    outcome(1, "AC", [1, 2]),
    outcome(2, "AB", [2, 1], 2),
    outcome(3, "AE", [1, 2], 3),
    outcome(4, "BC", [1, 2], 3),
]


def test_the_last_match_of_the_winner_with_another_on_the_podium_decides() -> None:
    standings = ranks(A=1, B=2, C=3, D=4, E=5)

    assert deciding_match(TournamentFormat.SWISS, standings, PLAYED) is PLAYED[1]
    assert deciding_match(TournamentFormat.SWISS, ranks(A=1, D=2, F=3, B=4), PLAYED) is None


def test_a_knockout_is_decided_by_its_final() -> None:
    standings = ranks(A=1, E=2, B=3, C=4)

    assert deciding_match(TournamentFormat.KNOCKOUT, standings, PLAYED, 3) is PLAYED[2]
    assert deciding_match(TournamentFormat.KNOCKOUT, standings, PLAYED, 4) is None  # a walkover


@pytest.mark.parametrize(
    ("seeds", "found"),
    [
        ({"A": 1, "B": 4, "C": 9, "E": 2}, (2, "B", "A")),
        ({"A": 9, "B": 9, "C": 1, "E": 8}, (1, "A", "C")),  # A and B beat C by the same difference; A was first
        ({"A": 1, "B": 1}, None),
        ({}, None),
    ],
)
def test_the_biggest_upset_has_the_largest_difference_of_seeds(
    seeds: Mapping[Hashable, int], found: tuple[int, str, str] | None
) -> None:
    upset = biggest_seed_upset(seeds, PLAYED)

    assert (upset and (upset[0].seq, *upset[1:])) == found
