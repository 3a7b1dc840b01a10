"""Compute the standings of a local tournament as JSON: points per match and Elo against all others, with error bars."""

from math import log10

from referee.local.results import PlayerResult, PlayerResults
from referee.match.canonical import Json
from referee.ratings.sprt import RunningTest
from referee_extras.local_tournaments.plan import LocalPlan


def elo(score: float | None) -> float | None:
    """Return the Elo difference that explains a score per match, or None if it is unbounded or there is no score."""
    return None if score is None or not 0 < score < 1 else 400 * log10(score / (1 - score))


def standings_to_json(plan: LocalPlan, results: PlayerResults, running: RunningTest | None) -> Json:
    """Return the plan (as in plan.json), the standings and the state of the sequential test, which may be None."""
    test = None
    if running:
        ratio = {"ratio": running.ratio, "lower": running.test.lower, "upper": running.test.upper}
        test = {"verdict": running.verdict, "deals": running.groups, **ratio}
    ranked = results.rank()
    better = [sum(other.score > result.score for other in ranked) for result in ranked]
    return {
        "plan": plan.to_json(),
        "deals": len(results.deals),
        "matches": results.matches,
        "players": [_to_json(1 + before, result) for before, result in zip(better, ranked, strict=True)],
        "test": test,
    }


def _to_json(rank: int, result: PlayerResult) -> Json:
    """Return the row of one player. Equal points per match share a rank; bounds are null with fewer than two deals.

    ``elo`` is the rating difference to the other players that explains the points per match, and null (unbounded) for a
    player that won or lost every match.
    """
    low, high = result.interval or (None, None)
    return {
        "rank": rank,
        "player": result.player,
        "matches": len(result.placements),
        "points": result.score * len(result.placements),
        "wins": result.wins,
        "returns": result.returns,
        "faults": result.fault_count,
        "points_per_match": result.score,
        "points_low": low,
        "points_high": high,
        "elo": elo(result.score),
        "elo_low": elo(low),
        "elo_high": elo(high),
    }
