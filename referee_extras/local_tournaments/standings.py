"""Compute the standings of a local tournament: points per match and Elo against all others, with error bars."""

import hashlib
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from math import log10
from typing import Final

from referee.match.canonical import Json
from referee.ratings.sprt import RunningTest
from referee.standings import ErrorBar, bootstrap
from referee.standings.totals import sum_results
from referee_extras.local_tournaments.plan import LocalPlan
from referee_extras.local_tournaments.store import LocalOutcome

TAIL: Final = 0.025  # probability beyond each end of a 95 % interval


@dataclass(frozen=True, slots=True)
class LocalStandingsRow:
    """Hold the standings row of one player.

    ``elo`` is the rating difference to the other players that explains the points per match. It is None (unbounded) for
    a player that won or lost every match. ``…_low`` and ``…_high`` are the bounds of a 95 % interval, and None with
    fewer than two deals.
    """

    rank: int
    player: str
    matches: int
    points: float
    wins: int
    returns: int
    faults: int
    points_per_match: float
    points_low: float | None
    points_high: float | None
    elo: float | None
    elo_low: float | None
    elo_high: float | None


def standings(plan: LocalPlan, matches: Sequence[LocalOutcome]) -> list[LocalStandingsRow]:
    """Return the standings, best first, without players that have no matches. Equal points per match share a rank."""
    names = [entrant.name for entrant in plan.match_plan.entrants]
    sums = sum_results(names, matches)
    faults: Counter[Hashable] = Counter()
    for match in matches:
        faults.update(dict(zip(match.entrants, match.faults, strict=True)))
    draw = hashlib.sha256(f"error bars|{plan.match_plan.seed}".encode()).digest()
    bars = {str(name): bar for name, bar in bootstrap(names, matches, draw_key=draw).items() if sums.matches[name]}
    means = {name: _mean(bar) for name, bar in bars.items()}
    bounds = {name: _bounds(bar) for name, bar in bars.items()}
    return [
        LocalStandingsRow(
            rank=1 + sum(other > means[name] for other in means.values()),
            player=name,
            matches=sums.matches[name],
            points=sums.points[name] / sums.unit,
            wins=sums.wins[name],
            returns=sums.returns[name],
            faults=faults[name],
            points_per_match=means[name],
            points_low=bounds[name][0],
            points_high=bounds[name][1],
            elo=elo(means[name]),
            elo_low=elo(bounds[name][0]),
            elo_high=elo(bounds[name][1]),
        )
        for name in sorted(means, key=lambda name: (-means[name], names.index(name)))
    ]


def elo(score: float | None) -> float | None:
    """Return the Elo difference that explains a score per match, or None if it is unbounded or there is no score."""
    return None if score is None or not 0 < score < 1 else 400 * log10(score / (1 - score))


def standings_to_json(plan: LocalPlan, matches: Sequence[LocalOutcome], running: RunningTest | None) -> Json:
    """Return the plan (as in plan.json), the standings and the state of the sequential test, which may be None."""
    test = None
    if running:
        ratio = {"ratio": running.ratio, "lower": running.test.lower, "upper": running.test.upper}
        test = {"verdict": running.verdict, "deals": running.groups, **ratio}
    return {
        "plan": plan.to_json(),
        "deals": len({match.group for match in matches}),
        "matches": len(matches),
        "players": [asdict(row) for row in standings(plan, matches)],
        "test": test,
    }


def _mean(bar: ErrorBar) -> float:
    assert bar.points_per_match is not None, "players without matches were left out"
    return float(bar.points_per_match)


def _bounds(bar: ErrorBar) -> tuple[float | None, float | None]:
    """Return the bounds of the error bar, or exact bounds for a player that won or lost every match.

    Resampling equal results gives no spread. With n deals, the bound is the share p of other outcomes at which the
    probability of seeing none is 2.5 %: (1 - p)^n = 0.025 (Clopper and Pearson 1934).
    """
    if bar.low is None or bar.points_per_match not in (0, 1):
        return bar.low, bar.high
    seen = float(TAIL ** (1 / bar.groups))
    return (seen, 1.0) if bar.points_per_match == 1 else (0.0, 1 - seen)
