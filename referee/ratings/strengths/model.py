"""Compute the likelihood of results in the Plackett–Luce model with ties and a prior.

Bot i wins a table with probability g_i / (sum of g over the table); the next is drawn in the same way from the rest,
and so on (R. L. Plackett, The Analysis of Permutations, Applied Statistics 24, 1975). With two seats this is the model
of R. A. Bradley and M. E. Terry, Biometrika 39 (1952). For ties, the log-likelihood is averaged over all orders of the
tied bots; with two seats, a tie is half a win for each. As the prior, each bot has ``prior`` additional draws against a
player of strength 1, so that all strengths are finite for any results. Anchors are players whose strengths are given.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, exp, log


@dataclass(frozen=True, slots=True)
class Likelihood:
    """Compute the log-likelihood: the sum of wins_i log g_i − the sum of weight log (sum of g over members) + a prior.

    Bots are numbered by sorted id, and choices are sorted, so that the order of the results does not matter. The
    numbers of anchors follow those of the bots; ``anchors`` has the logarithms of their strengths.
    """

    ids: list[str]
    matches: list[int]
    wins: list[float]
    choices: list[tuple[tuple[int, ...], float]]  # members, and how often the next bot was chosen from them
    prior: float
    anchors: Sequence[float] = ()

    def strengths(self, levels: Sequence[float]) -> list[float]:
        """Return the strengths of all bots, whose logarithms are ``levels``, and of the anchors."""
        return [exp(level) for level in (*levels, *self.anchors)]

    def log(self, levels: Sequence[float]) -> float:
        """Return the log-likelihood of the strengths whose logarithms are ``levels``."""
        strengths = self.strengths(levels)
        total = sum(won * level for won, level in zip(self.wins, levels, strict=True))
        total -= sum(weight * log(sum([strengths[bot] for bot in members])) for members, weight in self.choices)
        return total + self.prior * sum(
            level / 2 - log(1 + strength) for level, strength in zip(levels, strengths, strict=False)
        )

    def slope(self, levels: Sequence[float]) -> list[float]:
        """Return the partial derivatives of the log-likelihood with respect to each level."""
        strengths = self.strengths(levels)
        slopes = [won + self.prior * (0.5 - g / (1 + g)) for won, g in zip(self.wins, strengths, strict=False)]
        slopes += [0.0] * len(self.anchors)
        for members, weight in self.choices:
            share = weight / sum([strengths[bot] for bot in members])
            for bot in members:
                slopes[bot] -= share * strengths[bot]
        return slopes[: len(levels)]


def likelihood(
    results: Iterable[tuple[Sequence[str], Sequence[int], Sequence[bool] | None]],
    prior: float,
    anchors: Mapping[str, float] | None = None,
) -> Likelihood:
    """Return the likelihood of results (bots, placements, rated seats). ``prior`` is the number of draws per bot.

    ``anchors`` has the logarithms of the strengths that are given, keyed by id. Results without another bot are
    ignored.

    Raise ``ValueError`` if the columns of a result differ in length or a bot sits twice.
    """
    given = anchors or {}
    results_by_form: dict[tuple[tuple[str, ...], ...], int] = defaultdict(int)
    for bots, placements, rated in results:
        groups = _groups(bots, placements, rated)
        if sum(map(len, groups)) >= 2 and any(bot not in given for group in groups for bot in group):
            results_by_form[groups] += 1
    players = sorted({bot for groups in results_by_form for group in groups for bot in group})
    ids, fixed = [bot for bot in players if bot not in given], [bot for bot in players if bot in given]
    number = {bot: index for index, bot in enumerate([*ids, *fixed])}
    matches, wins = [0] * len(players), [0.0] * len(players)
    choices: dict[tuple[int, ...], float] = defaultdict(float)
    for form, times in sorted(results_by_form.items()):
        numbered = [tuple(number[bot] for bot in group) for group in form]
        for group in numbered:
            # The last remaining bot is not chosen. If several bots are tied for last, each is in this position equally
            # often.
            won = 1 - 1 / len(group) if group is numbered[-1] else 1.0
            for bot in group:
                matches[bot] += times
                wins[bot] += times * won
        for members, weight in _choices(numbered):
            choices[members] += times * weight
    known = [given[anchor] for anchor in fixed]
    return Likelihood(ids, matches[: len(ids)], wins[: len(ids)], sorted(choices.items()), prior, known)


def _groups(
    bots: Sequence[str], placements: Sequence[int], rated: Sequence[bool] | None
) -> tuple[tuple[str, ...], ...]:
    """Return the rated bots of a result, best first; tied bots form a group sorted by id."""
    seated = zip(bots, placements, [True] * len(bots) if rated is None else rated, strict=True)
    by_placement: dict[int, list[str]] = defaultdict(list)
    for bot, placement, counts in seated:
        if counts:
            by_placement[placement].append(bot)
    groups = tuple(tuple(sorted(by_placement[placement])) for placement in sorted(by_placement))
    named = [bot for group in groups for bot in group]
    if len(set(named)) < len(named):
        raise ValueError(f"a bot sits twice in one result: {', '.join(named)}")
    return groups


def _choices(groups: list[tuple[int, ...]]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield the sets from which the next bot was chosen, each weighted by the share of tie orders with that choice.

    A choice from one bot contains no information and is omitted.
    """
    for index, group in enumerate(groups):
        below = [bot for lower in groups[index + 1 :] for bot in lower]
        for left in range(1, len(group) + 1):
            if left + len(below) < 2:
                continue
            for tied in combinations(group, left):
                yield tuple(sorted((*tied, *below))), 1 / comb(len(group), left)
