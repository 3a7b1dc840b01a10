"""Crosstables, seats and opponents."""

from fractions import Fraction

from hypothesis import given

from referee.standings import HeadToHead
from referee_extras.analysis.meetings import OpponentCounts, count_opponents, crosstable
from tests.standings.test_standings import ENTRANTS, Happened, outcome, some, tournaments


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


def test_seats_opponents_and_byes_are_counted() -> None:
    results = [outcome("ABC", [1, 2, 3]), outcome("CA", [1, 2]), outcome("BA", [1, 1], scored=(False, True))]

    found = count_opponents("ABC", results, ["B"])

    assert found == {
        "A": OpponentCounts(seats=(1, 2, 0), opponents={"C": 2, "B": 1}, byes=0),
        "B": OpponentCounts(seats=(0, 1, 0), opponents={"A": 1, "C": 1}, byes=1),
        "C": OpponentCounts(seats=(1, 0, 1), opponents={"A": 2, "B": 1}, byes=0),
    }
    assert list(found["A"].opponents) == ["C", "B"]


@some
@given(tournaments())
def test_both_sides_of_a_crosstable_agree(tournament: Happened) -> None:
    against = crosstable(ENTRANTS, tournament[0])
    met = count_opponents(ENTRANTS, tournament[0])

    for entrant, row in against.items():
        assert {rival: result.matches for rival, result in row.items()} == met[entrant].opponents
        for rival, result in row.items():
            other = against[rival][entrant]
            assert (result.matches, result.half_points + other.half_points) == (other.matches, 2 * result.matches)
