"""Compute the likelihood of results in the Plackett–Luce model with ties and a prior.

Bot i wins a table with probability g_i / (sum of g over the table); the next is drawn in the same way from the rest,
and so on (R. L. Plackett, The Analysis of Permutations, Applied Statistics 24, 1975). With two seats this is the model
of R. A. Bradley and M. E. Terry, Biometrika 39 (1952). For ties, the log-likelihood is averaged over all orders of the
tied bots; with two seats, a tie is half a win for each. As the prior, each bot has additional draws against a player of
known strength, so that all strengths are finite for any results. An anchor whose strength is known takes part in the
choices, but is not estimated; one whose strength is known with an error is a bot with a prior of its own.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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


class Prior(NamedTuple):
    """Hold what is known of a bot before its results: as many draws against a player of this strength."""

    draws: float
    strength: float = 1.0

    def information(self, strength: float) -> float:
        """Return the curvature that it adds at a strength of the bot, by the logarithm of the strength."""
        return self.draws * self.strength * strength / (self.strength + strength) ** 2


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
    priors: list[Prior]
    has_anchors: bool

    def log(self, levels: Sequence[float]) -> float:
        """Return the log-likelihood of the strengths whose logarithms are ``levels``."""
        strengths = [exp(level) for level in levels]
        total = sum(won * level for won, level in zip(self.wins, levels, strict=True))
        total -= sum(
            weight * log(sum([strengths[bot] for bot in members]) + known) for members, weight, known in self.choices
        )
        return total + sum(
            prior.draws * (level / 2 - log(prior.strength + strength))
            for prior, level, strength in zip(self.priors, levels, strengths, strict=True)
        )

    def slope(self, levels: Sequence[float]) -> list[float]:
        """Return the partial derivatives of the log-likelihood with respect to each level."""
        strengths = [exp(level) for level in levels]
        slopes = [
            won + prior.draws * (0.5 - g / (prior.strength + g))
            for won, prior, g in zip(self.wins, self.priors, strengths, strict=True)
        ]
        for members, weight, known in self.choices:
            share = weight / (sum([strengths[bot] for bot in members]) + known)
            for bot in members:
                slopes[bot] -= share * strengths[bot]
        return slopes


def likelihood(
    results: Iterable[RankedResult], prior: Prior, own_priors: Mapping[str, Prior] | None = None
) -> Likelihood:
    """Return the likelihood of the results.

    ``own_priors`` has the priors of anchors, keyed by id; other bots have ``prior``.

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
    own = own_priors or {}
    has_anchors = any(choice.known for choice in ordered) or any(bot in own for bot in ids)
    return Likelihood(ids, matches, wins, ordered, [own.get(bot, prior) for bot in ids], has_anchors)


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
