"""Compute luck-adjusted scores from deal groups that dealt the same cards to several entrants."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import fsum, lcm, sqrt
from typing import Final

from referee.pairing.history import half_points
from referee.standings.results import MatchOutcome, points

MIN_HOLDERS: Final = 2  # different entrants on the same seat of a deal group


@dataclass(frozen=True, slots=True)
class Mean:
    """Hold a mean over matches and its standard error, which is None for a single deal group."""

    value: Fraction
    error: float | None


@dataclass(frozen=True, slots=True)
class LuckAdjusted:
    """Hold an entrant's mean result per match relative to all entrants with the same cards, in points and in returns.

    ``matches`` is the number of compared matches, ``groups`` the number of their deal groups. ``cards`` is the mean,
    over these matches, of the points that all entrants with the same cards scored: above 1/2, the entrant was lucky.
    """

    points: Mean
    returns: Mean
    matches: int
    groups: int
    cards: Fraction


def luck_adjusted(
    entrants: Iterable[Hashable], outcomes: Iterable[MatchOutcome]
) -> dict[Hashable, LuckAdjusted | None]:
    """Return how much each entrant scored per match above the mean of its seat in the same deals.

    The mean of a seat includes the entrant itself. Only seats that at least ``MIN_HOLDERS`` entrants had in the group
    are compared; the value is None for entrants without such a seat. Substitutes count for the mean, but their own
    results are omitted. The errors treat deal groups, not matches, as independent.
    """
    played = list(outcomes)
    unit = lcm(2, *(2 * (size - 1) for size in {len(outcome.placements) for outcome in played}))
    above = {entrant: (_Sum(), _Sum(), _Sum()) for entrant in entrants}
    for group, holders in _seat_holders(played):
        size = len(holders)
        for number, column in enumerate((_points_of(holders, unit), _returns_of(holders))):
            total, scale = sum(column), size * (unit if number == 0 else 1)
            for (outcome, seat), value in zip(holders, column, strict=True):
                entrant = outcome.entrants[seat]
                if entrant in above and (outcome.scored is None or outcome.scored[seat]):
                    above[entrant][number].add(group, size * value - total, scale)
                    if number == 0:
                        above[entrant][2].add(group, total, scale)
    return {
        entrant: LuckAdjusted(points.mean(), returns.mean(), points.matches, len(points.by_group), cards.mean().value)
        if points.matches
        else None
        for entrant, (points, returns, cards) in above.items()
    }


@dataclass(frozen=True, slots=True)
class SameCards:
    """Hold the mean difference in points between two entrants with the same cards, per ``hands`` compared.

    A hand is a seat of a deal group. ``groups`` is the number of deal groups.
    """

    difference: Mean
    hands: int
    groups: int


def compare_same_cards(first: Hashable, second: Hashable, outcomes: Iterable[MatchOutcome]) -> SameCards | None:
    """Return by how much ``first`` scored more points per match than ``second`` on seats of deals that both had.

    Each such seat counts once, with the mean of each entrant's matches in it. Return None if there is none. The error
    treats deal groups as independent.
    """
    held: dict[tuple[str, int], dict[Hashable, list[Fraction]]] = {}
    for outcome in outcomes:
        scored = points(outcome.placements)
        for seat in outcome.seats_of((first, second)):
            held.setdefault((outcome.group, seat), {}).setdefault(outcome.entrants[seat], []).append(scored[seat])
    differences = _Sum()
    for (group, _), by_entrant in held.items():
        if len(by_entrant) == 2:
            means = [sum(by_entrant[entrant], Fraction(0)) / len(by_entrant[entrant]) for entrant in (first, second)]
            difference = means[0] - means[1]
            differences.add(group, difference.numerator, difference.denominator)
    if not differences.matches:
        return None
    return SameCards(differences.mean(), differences.matches, len(differences.by_group))


Holders = Sequence[tuple[MatchOutcome, int]]  # matches, each with the seat, which is the same in all


def _seat_holders(outcomes: Sequence[MatchOutcome]) -> Iterator[tuple[str, Holders]]:
    """Yield (deal group, holders) for each seat of each deal group.

    Omit seats that fewer than ``MIN_HOLDERS`` entrants had.
    """
    held: dict[tuple[str, int], list[tuple[MatchOutcome, int]]] = {}
    for outcome in outcomes:
        for seat in range(len(outcome.entrants)):
            held.setdefault((outcome.group, seat), []).append((outcome, seat))
    for (group, seat), holders in held.items():
        if len({outcome.entrants[seat] for outcome, _ in holders}) >= MIN_HOLDERS:
            yield group, holders


def _points_of(holders: Holders, unit: int) -> list[int]:
    """Return each holder's points in units of 1/``unit``."""
    return [
        half_points(outcome.placements)[seat] * (unit // (2 * (len(outcome.placements) - 1)))
        for outcome, seat in holders
    ]


def _returns_of(holders: Holders) -> list[int]:
    return [outcome.returns[seat] for outcome, seat in holders]


@dataclass(slots=True)
class _Sum:
    """Sum up fractions: exactly, with one sum per denominator because that is fast, and as floats for each group."""

    exact: Counter[int] = field(default_factory=Counter)
    by_group: dict[str, list[float]] = field(default_factory=dict)
    matches: int = 0

    def add(self, group: str, numerator: int, denominator: int) -> None:
        self.exact[denominator] += numerator
        self.by_group.setdefault(group, []).append(numerator / denominator)
        self.matches += 1

    def mean(self) -> Mean:
        total = sum((Fraction(numerator, scale) for scale, numerator in self.exact.items()), Fraction(0))
        value = total / self.matches
        groups = len(self.by_group)
        if groups < 2:
            return Mean(value, None)
        approximate = float(value)
        squares = fsum((fsum(group) - len(group) * approximate) ** 2 for group in self.by_group.values())
        return Mean(value, sqrt(squares * groups / (groups - 1)) / self.matches)
