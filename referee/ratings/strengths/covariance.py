"""How sure strengths are: the curvature of the likelihood where it is highest, and its inverse.

The observed information is minus the matrix of second derivatives by the logarithms of the strengths; its inverse
approximates their covariance. Strengths are told about their mean, so the errors are those of the distance from it.
"""

from collections.abc import Sequence
from math import exp, fsum, sqrt
from operator import mul

from referee.ratings.strengths.model import Likelihood


class Curvature:
    """The observed information, taken apart into L L' (A.-L. Cholesky): it costs a sixth of bots cubed."""

    def __init__(self, said: Likelihood, levels: Sequence[float]) -> None:
        strengths = [exp(level) for level in levels]
        matrix = [[0.0] * (bot + 1) for bot in range(len(levels))]
        for members, weight in said.choices:
            total = sum([strengths[bot] for bot in members])
            shares = [strengths[bot] / total for bot in members]
            for place, bot in enumerate(members):
                row, part = matrix[bot], weight * shares[place]
                row[bot] += part
                for other, share in zip(members[: place + 1], shares, strict=False):
                    row[other] -= part * share
        for bot, strength in enumerate(strengths):
            matrix[bot][bot] += said.prior * strength / (1 + strength) ** 2
        for one, row in enumerate(matrix):
            for other, above in enumerate(matrix[:one]):
                row[other] = (row[other] - sum(map(mul, row[:other], above))) / above[other]
            row[one] = sqrt(row[one] - sum(map(mul, row[:one], row)))
        self._lower = matrix

    def solve(self, right: Sequence[float]) -> list[float]:
        """x of A x = right."""
        half = self.forward_substitute(right, 0)
        for bot in reversed(range(len(half))):
            row = self._lower[bot]
            half[bot] /= row[bot]
            found = half[bot]
            half[:bot] = [value - found * part for value, part in zip(half[:bot], row, strict=False)]
        return half

    def forward_substitute(self, right: Sequence[float], first: int) -> list[float]:
        """y of L y = right, where all before ``first`` is known to be zero; given from ``first`` on."""
        found: list[float] = []
        for bot in range(first, len(self._lower)):
            row = self._lower[bot]
            found.append((right[bot] - sum(map(mul, found, row[first:bot]))) / row[bot])
        return found

    def column(self, bot: int) -> list[float]:
        """The bot's column of the inverse of L, from its own row down; products of two give the inverse of A."""
        unit = [0.0] * len(self._lower)
        unit[bot] = 1.0
        return self.forward_substitute(unit, bot)


class Errors:
    """Standard errors of the logarithms of strengths, about their mean."""

    def __init__(self, said: Likelihood, levels: Sequence[float]) -> None:
        curvature = Curvature(said, levels)
        count = len(levels)
        self._columns = [curvature.column(bot) for bot in range(count)]
        self._squares = [sum(map(mul, column, column)) for column in self._columns]
        self._with_all = curvature.solve([1.0] * count)
        self._all = fsum(self._with_all)

    def error_of(self, bot: int) -> float:
        """Of the bot's distance from the mean of all."""
        count = len(self._columns)
        return sqrt(max(0.0, self._squares[bot] - 2 * self._with_all[bot] / count + self._all / count**2))

    def error_of_difference(self, one: int, other: int) -> float:
        """Of the distance of two bots."""
        first, second = min(one, other), max(one, other)
        common = sum(map(mul, self._columns[first][second - first :], self._columns[second]))
        return sqrt(max(0.0, self._squares[one] + self._squares[other] - 2 * common))


class RoughErrors:
    """The same from the diagonal of the information alone, as if all opponents' strengths were known.

    What is not known about the opponents is missing; it counts the less the more of them a bot met (U. von Luxburg,
    A. Radl and M. Hein, Hitting and Commute Times in Large Random Neighborhood Graphs, Journal of Machine Learning
    Research 15, 2014, show why).
    """

    def __init__(self, said: Likelihood, levels: Sequence[float]) -> None:
        strengths = [exp(level) for level in levels]
        known = [said.prior * strength / (1 + strength) ** 2 for strength in strengths]
        for members, weight in said.choices:
            total = sum([strengths[bot] for bot in members])
            for bot in members:
                share = strengths[bot] / total
                known[bot] += weight * share * (1 - share)
        self._squares = [1 / information for information in known]

    def error_of(self, bot: int) -> float:
        """Of the bot's strength."""
        return sqrt(self._squares[bot])

    def error_of_difference(self, one: int, other: int) -> float:
        """Of the distance of two bots."""
        return sqrt(self._squares[one] + self._squares[other])
