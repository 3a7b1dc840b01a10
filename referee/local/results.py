"""Count the results of local matches by player: placements, points with their error, returns, faults and errors."""

import statistics
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from referee.local.matches import LocalResult
from referee.local.problems import Problems
from referee.match.canonical import Json
from referee.standings import points

TAIL: Final = 0.025  # probability beyond each end of a 95 % interval
DEVIATIONS: Final = 1.96  # standard errors from the mean to either end of it


@dataclass(slots=True)
class PlayerResult:
    """Sum up the matches of one player.

    ``score`` is the share of opponents placed behind the player, ties counting half: 1 if it always came first, ½ if
    all are equal. ``standard_error`` is that of the score, over deals, since matches with the same cards are not
    independent; it is None with fewer than two deals. ``errors`` counts exceptions of a function, ``traceback`` is the
    last one. ``faults`` counts faults by code, and ``fault_detail`` describes the first one of each.
    """

    player: str
    placements: list[int] = field(default_factory=list)  # by match
    returns: int = 0
    fault_count: int = 0
    problems: Problems = field(default_factory=Problems)
    _points: dict[Hashable, list[float]] = field(default_factory=lambda: defaultdict(list), repr=False)  # by deal

    def add(self, deal: Hashable, result: Json, seat: int) -> None:
        """Count a match in which the player had this seat, by the last row of its log."""
        self.placements.append(result["placements"][seat])
        self.returns += result["returns"][seat]
        self.fault_count += result["faults"][seat]
        self._points[deal].append(float(points(result["placements"])[seat]))

    @property
    def score(self) -> float:
        return statistics.fmean(chain.from_iterable(self._points.values())) if self.placements else 0.0

    @property
    def standard_error(self) -> float | None:
        means = [statistics.fmean(deal) for deal in self._points.values()]
        return statistics.stdev(means) / len(means) ** 0.5 if len(means) > 1 else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the bounds of a 95 % interval for the score, or None with fewer than two deals.

        If the player won or lost every match, the deals have no spread. With n deals, the bound is then the share p of
        other outcomes at which the probability of seeing none is 2.5 %: (1 - p)^n = 0.025 (Clopper and Pearson 1934).
        """
        if self.standard_error is None:
            return None
        score, reach = self.score, DEVIATIONS * self.standard_error
        if score in (0, 1):
            reach = 1 - float(TAIL ** (1 / len(self._points)))
        return max(0.0, score - reach), min(1.0, score + reach)

    @property
    def wins(self) -> int:
        """Return the number of first places, including shared ones."""
        return self.placements.count(1)

    @property
    def average_place(self) -> float:
        return statistics.fmean(self.placements) if self.placements else 0.0

    @property
    def errors(self) -> int:
        return self.problems.errors

    @property
    def traceback(self) -> str:
        return self.problems.last_error[1]

    @property
    def faults(self) -> dict[str, int]:
        return dict(self.problems.faults)

    @property
    def fault_detail(self) -> dict[str, str]:
        return {code: detail for code, (_, detail) in self.problems.first_of_fault.items()}


class PlayerResults:
    """Hold the results of players, by name."""

    def __init__(self, names: Iterable[str]) -> None:
        self.players = {name: PlayerResult(name) for name in names}
        self.matches = 0
        self.deals = set[Hashable]()

    def add(self, names: Sequence[str], deal: Hashable, result: Json) -> None:
        """Count a match by the names of its players in seat order, its deal, and the result in its log."""
        self.matches += 1
        self.deals.add(deal)
        for seat, name in enumerate(names):
            self.players[name].add(deal, result, seat)

    def add_played(self, played: LocalResult) -> None:
        """Count a match that was just played, with the problems of its players."""
        self.add(played.names, played.header["group"]["id"], played.result)
        for name, problems in zip(played.names, played.problems, strict=True):
            self.players[name].problems.add(problems)

    def rank(self) -> list[PlayerResult]:
        """Return the results of players that have played, best first."""
        played = [result for result in self.players.values() if result.placements]
        return sorted(played, key=lambda result: -result.score)


def tabulate(results: Sequence[PlayerResult]) -> list[tuple[str, ...]]:
    """Return the headings and rows of a table of these results. It has a column for errors only if there were any."""
    columns = [
        ("player", *(result.player for result in results)),
        ("score", *map(_format_score, results)),
        ("average place", *(f"{result.average_place:.2f}" for result in results)),
        ("wins", *(str(result.wins) for result in results)),
        ("returns", *(str(result.returns) for result in results)),
        ("faults", *(str(result.fault_count) for result in results)),
    ]
    if any(result.errors for result in results):
        columns.append(("errors", *(str(result.errors) for result in results)))
    return list(zip(*columns, strict=True))


def _format_score(result: PlayerResult) -> str:
    error = "" if result.standard_error is None else f" ± {result.standard_error:.3f}"
    return f"{result.score:.3f}{error}"
