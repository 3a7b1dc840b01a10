"""Estimate the strengths of bots from results, one estimate at a time. Cache the estimates of ladders.

The strengths of ladder rows do not depend on this: the scheduler stores them (``referee.ladders.rating_errors``).
"""

import threading
from collections.abc import Mapping, Sequence
from typing import Final

from api.caching import Cache, CacheEntry
from api.errors import Problem
from api.extended import Extended
from api.views import database
from referee.ladders.strengths import LadderResults, load_results
from referee.ratings.strengths import Fit, RankedResult, Strength, fit

MOST_KEPT: Final = 50_000  # results; 10,000 results and everything computed from them take about 25 MB
MOST_FITTED: Final = 10_000  # results
MOST_FITTED_BOTS: Final = 1_000
FIT_PATIENCE_S: Final = 20

LADDERS: Final = Cache[LadderResults](MOST_KEPT, lambda made: len(made.results) + 1)
_FITTING = threading.Semaphore(1)  # one fit at a time: it takes seconds of CPU


def ladder_entry(ladder_id: str) -> CacheEntry[LadderResults]:
    """Return the newest results that count on a ladder now. Raise ``NotFound`` for an unknown ladder."""

    def make(before: LadderResults | None, *, patient: bool) -> LadderResults:
        with database().read() as session:
            return load_results(session, ladder_id, MOST_FITTED, before, patient=patient)

    return LADDERS.get(ladder_id, make)


def ladder_fit(kept: CacheEntry[LadderResults]) -> Fit:
    """Return the strengths of a ladder's bots from its newest results. Raise a 409 ``too_large`` for too many bots."""
    return kept.part("fit", lambda: fit_strengths(kept.made.results))


def attach_ranks(fitted: Fit, rows: Sequence[Strength], named: Mapping[str, str]) -> list[Extended]:
    """Return ``rows``, consecutive rows of a fit, each with its rank and the name of its bot."""
    first = fitted.rows.index(rows[0]) if rows else 0
    return [Extended(row, rank=first + 1 + index, name=named[row.id]) for index, row in enumerate(rows)]


def fit_strengths(results: Sequence[RankedResult]) -> Fit:
    """Return the strengths of the bots in ``results``.

    Raise a 409 for too many bots, or a 503 if another fit takes too long.
    """
    bots = {bot for result in results for bot in result.rated_bots()}
    if len(bots) > MOST_FITTED_BOTS:
        raise too_large(f"{len(bots):,} bots")
    if not _FITTING.acquire(timeout=FIT_PATIENCE_S):
        detail = "Other strengths are being computed. Try again in 10 s."
        raise Problem(503, "unavailable", detail, headers={"Retry-After": "10"})
    try:
        return fit(results)
    finally:
        _FITTING.release()


def too_large(what: str) -> Problem:
    bounds = f"{MOST_FITTED:,} results and {MOST_FITTED_BOTS:,} bots"
    return Problem(409, "too_large", f"There are {what}. Strengths are computed for at most {bounds}.")
