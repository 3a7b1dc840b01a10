"""The likelihood of results: Plackett and Luce's model with ties and a prior. Climbing it is ``climb``.

A table's winner is bot i with probability g_i / (sum of g over the table), the next is drawn likewise from the rest,
and so on (R. L. Plackett, The Analysis of Permutations, Applied Statistics 24, 1975); with two seats it is the model
of R. A. Bradley and M. E. Terry, Biometrika 39 (1952). Ties: the logarithm of the likelihood is averaged over all
orders of the tied, which with two seats is half a win each. Prior: each bot has drawn so many further matches with a
player of strength 1, so that all strengths are finite, whoever met whom and whoever won all.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, exp, log


@dataclass(frozen=True, slots=True)
class Likelihood:
    """Its logarithm is: sum of wins_i log g_i − sum of weight log (sum of g over members) + the prior's part.

    Bots are numbered in the order of their ids, choices are sorted: the order of results leaves no trace.
    """

    ids: list[str]
    matches: list[int]
    wins: list[float]
    choices: list[tuple[tuple[int, ...], float]]  # members, and how often one was chosen out of them
    prior: float

    def log(self, levels: Sequence[float]) -> float:
        """At strengths of these logarithms."""
        strengths = [exp(level) for level in levels]
        said = sum(won * level for won, level in zip(self.wins, levels, strict=True))
        said -= sum(weight * log(sum([strengths[bot] for bot in members])) for members, weight in self.choices)
        return said + self.prior * sum(
            level / 2 - log(1 + strength) for level, strength in zip(levels, strengths, strict=True)
        )

    def slope(self, levels: Sequence[float]) -> list[float]:
        """Its derivatives by each level."""
        strengths = [exp(level) for level in levels]
        slopes = [won + self.prior * (0.5 - g / (1 + g)) for won, g in zip(self.wins, strengths, strict=True)]
        for members, weight in self.choices:
            share = weight / sum([strengths[bot] for bot in members])
            for bot in members:
                slopes[bot] -= share * strengths[bot]
        return slopes


def likelihood(
    results: Iterable[tuple[Sequence[str], Sequence[int], Sequence[bool] | None]], prior: float
) -> Likelihood:
    """What results (bots, placements, rated seats) say; ``prior`` is a number of drawn matches.

    Raises ValueError where the columns of a result differ in length or a bot sits twice.
    """
    forms: dict[tuple[tuple[str, ...], ...], int] = defaultdict(int)
    for bots, placements, rated in results:
        groups = _groups(bots, placements, rated)
        if sum(map(len, groups)) >= 2:
            forms[groups] += 1
    ids = sorted({bot for groups in forms for group in groups for bot in group})
    number = {bot: place for place, bot in enumerate(ids)}
    matches, wins = [0] * len(ids), [0.0] * len(ids)
    choices: dict[tuple[int, ...], float] = defaultdict(float)
    for form, times in sorted(forms.items()):
        numbered = [tuple(number[bot] for bot in group) for group in form]
        for group in numbered:
            # The last one left is not chosen: among the tied at the end it is each of them equally often.
            won = 1 - 1 / len(group) if group is numbered[-1] else 1.0
            for bot in group:
                matches[bot] += times
                wins[bot] += times * won
        for members, weight in _choices(numbered):
            choices[members] += times * weight
    return Likelihood(ids, matches, wins, sorted(choices.items()), prior)


def _groups(
    bots: Sequence[str], placements: Sequence[int], rated: Sequence[bool] | None
) -> tuple[tuple[str, ...], ...]:
    """The rated bots of a result from the best down, those who tie together, in the order of their ids."""
    seated = zip(bots, placements, [True] * len(bots) if rated is None else rated, strict=True)
    places: dict[int, list[str]] = defaultdict(list)
    for bot, placement, counts in seated:
        if counts:
            places[placement].append(bot)
    groups = tuple(tuple(sorted(places[placement])) for placement in sorted(places))
    named = [bot for group in groups for bot in group]
    if len(set(named)) < len(named):
        raise ValueError(f"a bot sits twice in one result: {', '.join(named)}")
    return groups


def _choices(groups: list[tuple[int, ...]]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Out of whom the next was chosen, as a share of the orders of the tied. A choice out of one says nothing."""
    for place, group in enumerate(groups):
        below = [bot for lower in groups[place + 1 :] for bot in lower]
        for left in range(1, len(group) + 1):
            if left + len(below) < 2:
                continue
            for tied in combinations(group, left):
                yield tuple(sorted((*tied, *below))), 1 / comb(len(group), left)
