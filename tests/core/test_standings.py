"""Tournament tables: points by placement, shared places."""

from fractions import Fraction

from referee.standings import points, table


def test_points_are_the_share_of_opponents_left_behind() -> None:
    assert points([1, 2]) == [1, 0]
    assert points([1, 1]) == [Fraction(1, 2)] * 2
    # Second of four: one behind of three. The tied pair at 3: half of one of three.
    assert points([1, 2, 3, 3]) == [1, Fraction(2, 3), Fraction(1, 6), Fraction(1, 6)]


def test_points_of_a_table_add_up_to_half_its_seats() -> None:
    for placements in ([1, 2, 3, 4, 5], [1, 1, 3, 3, 5], [1, 1, 1]):
        assert sum(points(placements)) == Fraction(len(placements), 2)


def test_equal_points_share_a_place_and_the_next_one_is_left_out() -> None:
    rows = table("ABCD", [("AB", [1, 2], [3, -3]), ("CD", [1, 2], [5, -5])])

    assert [(row.place, row.entrant, row.matches, row.points, row.wins, row.returns) for row in rows] == [
        (1, "A", 1, Fraction(1), 1, 3),
        (1, "C", 1, Fraction(1), 1, 5),
        (3, "B", 1, Fraction(0), 0, -3),
        (3, "D", 1, Fraction(0), 0, -5),
    ]


def test_an_entrant_without_a_match_stands_with_nothing() -> None:
    assert [row.matches for row in table("AB", [])] == [0, 0]
