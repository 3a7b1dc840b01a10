"""Standings of a series: points for ranks, shared by ties; the best results count; ties are broken by ranks."""

from fractions import Fraction

from referee_extras.series.standings import DEFAULT_POINTS, series_standings, shared_points


def test_bots_that_share_a_rank_share_the_points_of_their_places() -> None:
    gained = shared_points({"a": 1, "b": 2, "c": 2, "d": 4, "e": 5}, (10, 6, 3, 1))

    assert gained == {"a": 10, "b": Fraction(9, 2), "c": Fraction(9, 2), "d": 1, "e": 0}
    assert shared_points({"a": 2, "b": 7}, (10, 6)) == {"a": 10, "b": 6}  # those ranked before them do not score


def test_only_the_best_results_count_and_of_equal_ones_the_earlier() -> None:
    played = [("t1", {"a": 2, "b": 1}), ("t2", {"a": 1, "b": 2}), ("t3", {"a": 1, "c": 2})]

    first, second, third = series_standings(played, (10, 6), best=2)

    assert (first.bot, int(first.points)) == ("a", 20)
    assert [(result.tournament, result.counts) for result in first.results] == [
        ("t1", False),
        ("t2", True),
        ("t3", True),
    ]
    assert (second.bot, int(second.points)) == ("b", 16)
    assert (third.bot, int(third.points)) == ("c", 6)
    (only,) = [row for row in series_standings(played, (10, 6), best=1) if row.bot == "a"]
    assert [result.tournament for result in only.results if result.counts] == ["t2"]


def test_ties_are_broken_by_first_ranks_then_by_second_ranks_and_otherwise_shared() -> None:
    # a: 10 + 0, b and c: 5 + 5, d: 0 + 4
    points = (10, 5, 5, 0)
    played = [("t1", {"a": 1, "b": 2, "c": 3, "d": 4}), ("t2", {"c": 2, "b": 3, "e": 1, "a": 4})]

    rows = series_standings(played, points)

    # a and e have a first rank each, and a one more rank; b and c a second and a third rank each
    assert [(row.rank, row.bot, int(row.points)) for row in rows] == [
        *((1, "a", 10), (2, "e", 10), (3, "b", 10), (3, "c", 10), (5, "d", 0)),
    ]


def test_without_a_finished_tournament_there_are_no_rows() -> None:
    assert series_standings([]) == []
    assert DEFAULT_POINTS == (25, 18, 15, 12, 10, 8, 6, 4, 2, 1)
