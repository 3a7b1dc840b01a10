"""Compute the likelihood of results in the Plackett–Luce model with ties and a prior.

Bot i wins a table with probability g_i / (sum of g over the table); the next is drawn in the same way from the rest,
and so on (R. L. Plackett, The Analysis of Permutations, Applied Statistics 24, 1975). With two seats this is the model
of R. A. Bradley and M. E. Terry, Biometrika 39 (1952). For ties, the log-likelihood is averaged over all orders of the
tied bots; with two seats, a tie is half a win for each. As the prior, each bot has ``prior`` additional draws against a
player of strength 1, so that all strengths are finite for any results. An anchor's strength is known: it takes part in
the choices, but is not estimated.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, exp, fsum, log
from typing import NamedTuple, TypeGuard

Member = str | float  # the id of a bot, or the logarithm of an anchor's strength
Groups = tuple[tuple[Member, ...], ...]


class RankedResult(NamedTuple):
    """Hold a result, with one entry per seat.

    In ``placements``, 1 is best and equal numbers are ties. ``rated`` is whether the seat counts; None means that all
    do. ``anchors`` is the logarithm of the strength of an anchor, and None for a bot; None means that all are bots.
    """

    bots: Sequence[str]
    placements: Sequence[int]
    rated: Sequence[bool] | None = None
    anchors: Sequence[float | None] | None = None

    def rated_bots(self) -> list[str]:
        """Return the ids of the bots whose seats count, without anchors."""
        seats = len(self.bots)
        rated, anchors = self.rated or [True] * seats, self.anchors or [None] * seats
        return [bot for bot, counts, level in zip(self.bots, rated, anchors, strict=True) if counts and level is None]


class ChoiceSet(NamedTuple):
    """Hold a set from which the next bot was chosen: its bots, how often, and the sum of its anchors' strengths."""

    members: tuple[int, ...]
    weight: float
    known: float


@dataclass(frozen=True, slots=True)
class Likelihood:
    """Compute the log-likelihood: the sum of wins_i log g_i − the sum of weight log (sum of g over members) + a prior.

    Bots are numbered by sorted id, and choices are sorted, so that the order of the results does not matter. Without
    anchors, only the distances between levels follow from the results.
    """

    ids: list[str]
    matches: list[int]
    wins: list[float]
    choices: list[ChoiceSet]
    prior: float

    @property
    def has_anchors(self) -> bool:
        return any(choice.known for choice in self.choices)

    def log(self, levels: Sequence[float]) -> float:
        """Return the log-likelihood of the strengths whose logarithms are ``levels``."""
        strengths = [exp(level) for level in levels]
        total = sum(won * level for won, level in zip(self.wins, levels, strict=True))
        total -= sum(
            weight * log(sum([strengths[bot] for bot in members]) + known) for members, weight, known in self.choices
        )
        return total + self.prior * sum(
            level / 2 - log(1 + strength) for level, strength in zip(levels, strengths, strict=True)
        )

    def slope(self, levels: Sequence[float]) -> list[float]:
        """Return the partial derivatives of the log-likelihood with respect to each level."""
        strengths = [exp(level) for level in levels]
        slopes = [won + self.prior * (0.5 - g / (1 + g)) for won, g in zip(self.wins, strengths, strict=True)]
        for members, weight, known in self.choices:
            share = weight / (sum([strengths[bot] for bot in members]) + known)
            for bot in members:
                slopes[bot] -= share * strengths[bot]
        return slopes


def likelihood(results: Iterable[RankedResult], prior: float) -> Likelihood:
    """Return the likelihood of the results. ``prior`` is the number of draws per bot.

    Raise ``ValueError`` if the columns of a result differ in length or a bot sits twice.
    """
    results_by_form: dict[Groups, int] = defaultdict(int)
    for result in results:
        groups = _groups(result)
        if sum(map(len, groups)) >= 2:
            results_by_form[groups] += 1
    ids = sorted({member for groups in results_by_form for group in groups for member in group if _is_bot(member)})
    number = {bot: index for index, bot in enumerate(ids)}
    matches, wins = [0] * len(ids), [0.0] * len(ids)
    choices: dict[tuple[tuple[int, ...], float], float] = defaultdict(float)
    for groups, times in sorted(results_by_form.items(), key=lambda counted: _order(counted[0])):
        for group in groups:
            # The last remaining bot is not chosen. If several bots are tied for last, each is in this position equally
            # often.
            won = 1 - 1 / len(group) if group is groups[-1] else 1.0
            for member in filter(_is_bot, group):
                matches[number[member]] += times
                wins[number[member]] += times * won
        for chosen_from, weight in _choices(groups):
            members = tuple(sorted(number[member] for member in chosen_from if _is_bot(member)))
            known = fsum(exp(member) for member in chosen_from if not isinstance(member, str))
            if members:
                choices[members, known] += times * weight
    ordered = [ChoiceSet(members, weight, known) for (members, known), weight in sorted(choices.items())]
    return Likelihood(ids, matches, wins, ordered, prior)


def _is_bot(member: Member) -> TypeGuard[str]:
    return isinstance(member, str)


def _order(groups: Groups) -> list[list[tuple[bool, Member]]]:
    """Return a key by which groups can be sorted although their members have two types."""
    return [[(_is_bot(member), member) for member in group] for group in groups]


def _groups(result: RankedResult) -> Groups:
    """Return the rated bots and the anchors of a result, best first. Those that are tied form a sorted group.

    There are none without a rated bot.
    """
    seats = len(result.bots)
    rated, anchors = result.rated or [True] * seats, result.anchors or [None] * seats
    by_placement: dict[int, list[Member]] = defaultdict(list)
    for bot, placement, counts, level in zip(result.bots, result.placements, rated, anchors, strict=True):
        if counts or level is not None:
            by_placement[placement].append(bot if level is None else level)
    groups = tuple(
        tuple(sorted(by_placement[placement], key=lambda member: (_is_bot(member), member)))
        for placement in sorted(by_placement)
    )
    named = [member for group in groups for member in group if _is_bot(member)]
    if len(set(named)) < len(named):
        raise ValueError(f"a bot sits twice in one result: {', '.join(named)}")
    return groups if named else ()


def _choices(groups: Groups) -> Iterator[tuple[tuple[Member, ...], float]]:
    """Yield the sets from which the next bot was chosen, each weighted by the share of tie orders with that choice.

    A choice from a single one contains no information and is omitted.
    """
    for index, group in enumerate(groups):
        below = [member for lower in groups[index + 1 :] for member in lower]
        for left in range(1, len(group) + 1):
            if left + len(below) < 2:
                continue
            for tied in combinations(group, left):
                yield (*tied, *below), 1 / comb(len(group), left)
