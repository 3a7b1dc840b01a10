"""Scores less the luck of the cards, where a deal group gave the same cards to several entrants."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import fsum, lcm, sqrt
from typing import Final

from referee.standings.results import MatchOutcome, shares

LEAST_HOLDERS: Final = 2  # different entrants on a seat of a deal group


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over matches and its standard error, None with a single deal group."""

    value: Fraction
    error: float | None


@dataclass(frozen=True, slots=True)
class Adjusted:
    """How much better than all with its cards an entrant did, a match: in points and in returns.

    Over ``matches`` that could be compared, of so many ``groups`` of deals.
    """

    points: Mean
    returns: Mean
    matches: int
    groups: int


def luck_adjusted(entrants: Iterable[Hashable], outcomes: Iterable[MatchOutcome]) -> dict[Hashable, Adjusted | None]:
    """Own score minus the mean of all that held the same seat in the same deals (oneself among them), a match.

    Only seats that at least ``LEAST_HOLDERS`` entrants held in the group are compared; None for whoever held no
    such seat. A stand-in is one of those compared with, though nothing of its own is shown. The errors take deal
    groups, not matches, for independent.
    """
    played = list(outcomes)
    unit = lcm(2, *(2 * (size - 1) for size in {len(outcome.placements) for outcome in played}))
    above = {entrant: (_Sum(), _Sum()) for entrant in entrants}
    for group, holders in _seat_holders(played):
        size = len(holders)
        for number, column in enumerate((_points_of(holders, unit), _returns_of(holders))):
            total, scale = sum(column), size * (unit if number == 0 else 1)
            for (outcome, seat), value in zip(holders, column, strict=True):
                entrant = outcome.entrants[seat]
                if entrant in above and (outcome.scored is None or outcome.scored[seat]):
                    above[entrant][number].add(group, size * value - total, scale)
    return {
        entrant: Adjusted(points.mean(), returns.mean(), points.matches, len(points.of_groups))
        if points.matches
        else None
        for entrant, (points, returns) in above.items()
    }


Holders = Sequence[tuple[MatchOutcome, int]]  # matches, and the seat: the same one in all


def _seat_holders(outcomes: Sequence[MatchOutcome]) -> Iterator[tuple[str, Holders]]:
    """Who held each seat of each deal group, where they can be compared."""
    held: dict[tuple[str, int], list[tuple[MatchOutcome, int]]] = {}
    for outcome in outcomes:
        for seat in range(len(outcome.entrants)):
            held.setdefault((outcome.group, seat), []).append((outcome, seat))
    for (group, seat), holders in held.items():
        if len({outcome.entrants[seat] for outcome, _ in holders}) >= LEAST_HOLDERS:
            yield group, holders


def _points_of(holders: Holders, unit: int) -> list[int]:
    """In units of 1/``unit``."""
    return [
        shares(outcome.placements)[seat] * (unit // (2 * (len(outcome.placements) - 1))) for outcome, seat in holders
    ]


def _returns_of(holders: Holders) -> list[int]:
    return [outcome.returns[seat] for outcome, seat in holders]


@dataclass(slots=True)
class _Sum:
    """Of fractions: exact by denominator, because adding thousands of unlike ones is slow; and near, by group."""

    exact: Counter[int] = field(default_factory=Counter)
    of_groups: dict[str, list[float]] = field(default_factory=dict)
    matches: int = 0

    def add(self, group: str, numerator: int, denominator: int) -> None:
        self.exact[denominator] += numerator
        self.of_groups.setdefault(group, []).append(numerator / denominator)
        self.matches += 1

    def mean(self) -> Mean:
        total = sum((Fraction(numerator, scale) for scale, numerator in self.exact.items()), Fraction(0))
        value = total / self.matches
        groups = len(self.of_groups)
        if groups < 2:
            return Mean(value, None)
        near = float(value)
        squares = fsum((fsum(group) - len(group) * near) ** 2 for group in self.of_groups.values())
        return Mean(value, sqrt(squares * groups / (groups - 1)) / self.matches)
