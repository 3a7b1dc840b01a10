"""Compute the errors of strengths from the curvature of the likelihood at its maximum.

The observed information is minus the matrix of second derivatives by the logarithms of the strengths; its inverse
approximates their covariance. Without anchors, strengths are reported relative to their mean, so the errors are those
of this distance.
"""

from collections.abc import Sequence
from math import exp, fsum, sqrt
from operator import mul

from referee.ratings.strengths.model import Likelihood


class Curvature:
    """Hold the Cholesky factorisation L L' of the observed information A, which takes bots³ / 6 multiplications."""

    def __init__(self, model: Likelihood, levels: Sequence[float]) -> None:
        strengths = [exp(level) for level in levels]
        matrix = [[0.0] * (bot + 1) for bot in range(len(levels))]
        for members, weight, anchors in model.choices:
            total = sum([strengths[bot] for bot in members]) + anchors
            shares = [strengths[bot] / total for bot in members]
            for index, bot in enumerate(members):
                row, part = matrix[bot], weight * shares[index]
                row[bot] += part
                for other, share in zip(members[: index + 1], shares, strict=False):
                    row[other] -= part * share
        for bot, (strength, prior) in enumerate(zip(strengths, model.priors, strict=True)):
            matrix[bot][bot] += prior.information(strength)
        for bot, row in enumerate(matrix):
            for other, above in enumerate(matrix[:bot]):
                row[other] = (row[other] - sum(map(mul, row[:other], above))) / above[other]
            row[bot] = sqrt(row[bot] - sum(map(mul, row[:bot], row)))
        self._lower = matrix

    def solve(self, right: Sequence[float]) -> list[float]:
        """Return the x that solves A x = ``right``."""
        half = self.forward_substitute(right, 0)
        for bot in reversed(range(len(half))):
            row = self._lower[bot]
            half[bot] /= row[bot]
            found = half[bot]
            half[:bot] = [value - found * part for value, part in zip(half[:bot], row, strict=False)]
        return half

    def forward_substitute(self, right: Sequence[float], first: int) -> list[float]:
        """Return the y that solves L y = ``right``, from row ``first`` on; earlier elements are known to be zero."""
        found: list[float] = []
        for bot in range(first, len(self._lower)):
            row = self._lower[bot]
            found.append((right[bot] - sum(map(mul, found, row[first:bot]))) / row[bot])
        return found

    def column(self, bot: int) -> list[float]:
        """Return the bot's column of the inverse of L, from the bot's own row downwards.

        Products of two columns are the elements of the inverse of A.
        """
        unit = [0.0] * len(self._lower)
        unit[bot] = 1.0
        return self.forward_substitute(unit, bot)


class Errors:
    """Compute standard errors of the logarithms of strengths: relative to their mean, or absolute with anchors."""

    def __init__(self, model: Likelihood, levels: Sequence[float]) -> None:
        curvature = Curvature(model, levels)
        count = len(levels)
        self._columns = [curvature.column(bot) for bot in range(count)]
        self._squares = [sum(map(mul, column, column)) for column in self._columns]
        # With anchors there is no mean to subtract.
        self._with_all = [0.0] * count if model.has_anchors else curvature.solve([1.0] * count)
        self._all = fsum(self._with_all)

    def error_of(self, bot: int) -> float:
        """Return the standard error of the bot's level or, without anchors, of its distance from the mean."""
        count = len(self._columns)
        return sqrt(max(0.0, self._squares[bot] - 2 * self._with_all[bot] / count + self._all / count**2))

    def error_of_difference(self, bot: int, other: int) -> float:
        """Return the approximate standard error of the difference between two strengths, ignoring their covariance."""
        first, second = min(bot, other), max(bot, other)
        common = sum(map(mul, self._columns[first][second - first :], self._columns[second]))
        return sqrt(max(0.0, self._squares[bot] + self._squares[other] - 2 * common))


class RoughErrors:
    """Approximate standard errors from the diagonal of the information, as if all opponents' strengths were known.

    This neglects the uncertainty of the opponents, which matters less the more opponents a bot has met. The reason is
    given in U. von Luxburg, A. Radl and M. Hein, Hitting and Commute Times in Large Random Neighborhood Graphs, Journal
    of Machine Learning Research 15, 2014.
    """

    def __init__(self, model: Likelihood, levels: Sequence[float]) -> None:
        strengths = [exp(level) for level in levels]
        known = [prior.information(strength) for prior, strength in zip(model.priors, strengths, strict=True)]
        for members, weight, anchors in model.choices:
            total = sum([strengths[bot] for bot in members]) + anchors
            for bot in members:
                share = strengths[bot] / total
                known[bot] += weight * share * (1 - share)
        self._squares = [1 / information for information in known]

    def error_of(self, bot: int) -> float:
        """Return the approximate standard error of the bot's strength."""
        return sqrt(self._squares[bot])

    def error_of_difference(self, bot: int, other: int) -> float:
        """Return the error of the difference between two bots."""
        return sqrt(self._squares[bot] + self._squares[other])
