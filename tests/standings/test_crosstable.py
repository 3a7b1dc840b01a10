"""Crosstables, seats and opponents."""

from fractions import Fraction

from hypothesis import given

from referee.standings import Meetings, Met, crosstable, meetings
from tests.standings.test_standings import ENTRANTS, Happened, events, outcome, some


def test_a_crosstable_compares_every_two_of_a_table() -> None:
    results = [outcome("ABC", [1, 2, 2]), outcome("CA", [1, 2])]

    against = crosstable("ABCD", results)

    assert against == {
        "A": {"B": Met(1, 2), "C": Met(2, 2)},
        "B": {"A": Met(1, 0), "C": Met(1, 1)},
        "C": {"A": Met(2, 2), "B": Met(1, 1)},
        "D": {},
    }
    assert (against["B"]["C"].points, against["A"]["B"].lead, against["B"]["A"].lead) == (Fraction(1, 2), 1, -1)
    assert list(crosstable("CBA", results)["A"]) == ["C", "B"]


def test_a_stand_in_meets_nobody() -> None:
    against = crosstable("ABC", [outcome("ABC", [1, 2, 3], scored=(True, False, True))])

    assert against == {"A": {"C": Met(1, 2)}, "B": {}, "C": {"A": Met(1, 0)}}


def test_seats_opponents_and_byes_are_counted() -> None:
    results = [outcome("ABC", [1, 2, 3]), outcome("CA", [1, 2]), outcome("BA", [1, 1], scored=(False, True))]

    found = meetings("ABC", results, ["B"])

    assert found == {
        "A": Meetings(seats=(1, 2, 0), opponents={"C": 2, "B": 1}, byes=0),
        "B": Meetings(seats=(0, 1, 0), opponents={"A": 1, "C": 1}, byes=1),
        "C": Meetings(seats=(1, 0, 1), opponents={"A": 2, "B": 1}, byes=0),
    }
    assert list(found["A"].opponents) == ["C", "B"]


@some
@given(events())
def test_both_sides_of_a_crosstable_agree(event: Happened) -> None:
    against = crosstable(ENTRANTS, event[0])
    met = meetings(ENTRANTS, event[0])

    for entrant, row in against.items():
        assert {rival: one.matches for rival, one in row.items()} == met[entrant].opponents
        for rival, one in row.items():
            other = against[rival][entrant]
            assert (one.matches, one.half_points + other.half_points) == (other.matches, 2 * one.matches)
