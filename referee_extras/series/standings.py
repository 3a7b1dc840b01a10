"""Compute the standings of a series: points for the ranks in its tournaments, of which the best count."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Final

DEFAULT_POINTS: Final = (25, 18, 15, 12, 10, 8, 6, 4, 2, 1)  # for the ranks from 1

Ranks = Mapping[str, int]  # the rank of each scoring entrant of a tournament, keyed by bot id


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """Hold what one bot has from one tournament. A result that is not among the best does not count."""

    tournament: str
    rank: int
    points: Fraction
    counts: bool


@dataclass(frozen=True, slots=True)
class SeriesRow:
    """Hold a row of the standings of a series, with its results in the order of the tournaments."""

    rank: int
    bot: str
    points: Fraction
    results: tuple[SeriesResult, ...]


def shared_points(ranks: Ranks, points: Sequence[int]) -> dict[str, Fraction]:
    """Return the points of each bot of a tournament, keyed by bot id.

    Bots that share a rank share the points of the places that they take: two on rank 1 have half of those for 1 and 2.
    """
    gained: dict[str, Fraction] = {}
    place = 0
    for _, tied in groupby(sorted(ranks, key=lambda bot: ranks[bot]), key=lambda bot: ranks[bot]):
        bots = list(tied)
        total = sum(points[place : place + len(bots)])
        gained |= dict.fromkeys(bots, Fraction(total, len(bots)))
        place += len(bots)
    return gained


def series_standings(
    tournaments: Sequence[tuple[str, Ranks]], points: Sequence[int] = DEFAULT_POINTS, best: int | None = None
) -> list[SeriesRow]:
    """Return the standings, best first. ``tournaments`` are ids with the ranks of those that score, in order.

    The ``best`` results of each bot count, or all. Ties are broken by the number of first ranks in all tournaments,
    then of second ranks, and so on. Bots that are still tied share a rank, and are in the order of their ids.
    """
    found: dict[str, list[SeriesResult]] = {}
    for id, ranks in tournaments:
        for bot, gained in shared_points(ranks, points).items():
            found.setdefault(bot, []).append(SeriesResult(id, ranks[bot], gained, counts=True))
    rows = [(bot, _mark_counting(results, best)) for bot, results in found.items()]
    lowest = max((result.rank for results in found.values() for result in results), default=0)

    def order(row: tuple[str, list[SeriesResult]]) -> tuple[Fraction, list[int]]:
        reached = Counter(result.rank for result in row[1])
        return -_total(row[1]), [-reached[rank] for rank in range(1, lowest + 1)]

    ranked: list[SeriesRow] = []
    for _, tied in groupby(sorted(rows, key=lambda row: (order(row), row[0])), key=order):
        rank = len(ranked) + 1
        ranked += [SeriesRow(rank, bot, _total(results), tuple(results)) for bot, results in tied]
    return ranked


def _mark_counting(results: Sequence[SeriesResult], best: int | None) -> list[SeriesResult]:
    """Return the results with those that count. Of equal results, the earlier ones count."""
    if best is None or len(results) <= best:
        return list(results)
    by_points = sorted(range(len(results)), key=lambda index: results[index].points, reverse=True)  # keeps the order
    counting = set(by_points[:best])
    return [
        SeriesResult(result.tournament, result.rank, result.points, counts=index in counting)
        for index, result in enumerate(results)
    ]


def _total(results: Sequence[SeriesResult]) -> Fraction:
    return sum((result.points for result in results if result.counts), Fraction(0))
