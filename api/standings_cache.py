"""Cached standings, crosstables, error bars and strengths of tournaments and ladders."""

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from api.caching import Cache, CacheEntry
from api.errors import Problem
from api.pagination import envelope, read_cursor
from api.presentation import Extended
from api.views import database
from referee.db.paging import Page, read_number_cursor
from referee.ladders.strengths import LadderResults, load_results
from referee.ratings.strengths import Fit, Result, Strength, fit
from referee.standings import ErrorBar, HeadToHead, LuckAdjusted, RankedEntrant, bootstrap, crosstable, luck_adjusted
from referee.tournaments import tournaments
from referee.tournaments.entries import EnteredBot, find_entered_bots
from referee.tournaments.standings import TournamentResults, load_tournament_results

Json = dict[str, Any]
Item = TypeVar("Item")

MOST_KEPT: Final = 50_000  # results and entries; 10,000 take some 25 MB with everything computed from them
MOST_FITTED: Final = 10_000  # results
MOST_FITTED_BOTS: Final = 1_000
FIT_PATIENCE_S: Final = 20
SAMPLES: Final = ((2_000, 1_000), (10_000, 400))  # up to this number of results, bootstrap samples of the error bars
FEWEST_SAMPLES: Final = 200  # for more results

NO_BAR: Final = ErrorBar(None, None, None, 0)

TOURNAMENTS: Final = Cache[TournamentResults](MOST_KEPT, lambda made: len(made.outcomes) + len(made.entrants) + 1)
LADDERS: Final = Cache[LadderResults](MOST_KEPT, lambda made: len(made.results) + 1)
_FITTING = threading.Semaphore(1)  # one fit at a time: it takes seconds of CPU


def tournament_entry(tournament_id: str) -> CacheEntry[TournamentResults]:
    """Return the results of a tournament that count now. Raise ``NotFound``; ``Conflict`` for too many results."""

    def make(before: TournamentResults | None, *, patient: bool) -> TournamentResults:
        with database().read() as session:
            tournament = tournaments.get_tournament(session, tournament_id)
            return load_tournament_results(session, tournament, before, patient=patient)

    return TOURNAMENTS.get(tournament_id, make)


def ladder_entry(ladder_id: str) -> CacheEntry[LadderResults]:
    """Return the newest results of a ladder that count now. Raise ``NotFound``."""

    def make(before: LadderResults | None, *, patient: bool) -> LadderResults:
        with database().read() as session:
            return load_results(session, ladder_id, MOST_FITTED, before, patient=patient)

    return LADDERS.get(ladder_id, make)


def table(kept: CacheEntry[TournamentResults]) -> list[RankedEntrant]:
    """Return the standings, best first."""
    return kept.part("table", kept.made.standings)


def row_indexes(kept: CacheEntry[TournamentResults]) -> dict[str, int]:
    """Return the index of each entrant's row in the standings, from 0."""
    return kept.part("order", lambda: {str(row.entrant): index for index, row in enumerate(table(kept))})


def results_by_opponent(kept: CacheEntry[TournamentResults]) -> Mapping[Hashable, Mapping[Hashable, HeadToHead]]:
    """Return each entrant's results against each opponent, in the order of the standings."""
    made = kept.made
    return kept.part("crosstable", lambda: crosstable([row.entrant for row in table(kept)], made.outcomes))


def luck_adjusted_scores(kept: CacheEntry[TournamentResults]) -> Mapping[Hashable, LuckAdjusted | None]:
    """Return each entrant's score adjusted for the luck of the cards; None if nobody else held the same cards."""
    made = kept.made
    return kept.part("luck", lambda: luck_adjusted(made.entrants, made.outcomes))


def error_bars(kept: CacheEntry[TournamentResults]) -> dict[Any, ErrorBar]:
    made = kept.made
    return kept.part(
        "bars", lambda: bootstrap(made.entrants, made.outcomes, draw_key=made.draw_key, samples=samples_of(made))
    )


def samples_of(made: TournamentResults) -> int:
    """Return the number of bootstrap samples for the error bars of these results."""
    return next((samples for results, samples in SAMPLES if len(made.outcomes) <= results), FEWEST_SAMPLES)


def tournament_fit(kept: CacheEntry[TournamentResults]) -> Fit:
    """Return the strengths of a tournament's bots. Raise a 409 ``too_large`` for too many results or bots."""
    made = kept.made
    if len(made.outcomes) > MOST_FITTED:
        raise _too_large(f"{len(made.outcomes):,} results")
    results = [
        ([str(entrant) for entrant in outcome.entrants], outcome.placements, outcome.scored)
        for outcome in made.outcomes
    ]
    return kept.part("fit", lambda: _fit_strengths(results))


def ladder_fit(kept: CacheEntry[LadderResults]) -> Fit:
    """Return the strengths of a ladder's bots by its newest results. Raise a 409 ``too_large`` for too many bots."""
    return kept.part("fit", lambda: _fit_strengths(kept.made.results))


def last_ladder_fit(ladder_id: str) -> Fit | None:
    """Return the strengths that this process computed last, even if outdated; None if it has computed none."""
    kept = LADDERS.peek(ladder_id)
    return None if kept is None else cast("Fit | None", kept.known("fit"))


def load_entered_bots(tournament_id: str, bot_ids: Sequence[str]) -> dict[str, EnteredBot]:
    """Return these entered bots, by id."""
    with database().read() as session:
        return find_entered_bots(session, tournament_id, bot_ids)


def names(tournament_id: str, bot_ids: Sequence[str]) -> dict[str, str]:
    """Return the names of these bots of a tournament, by id."""
    return {bot_id: bot.name for bot_id, bot in load_entered_bots(tournament_id, bot_ids).items()}


def snapshot(kept: CacheEntry[TournamentResults]) -> Json:
    """Return the number of the last result that the standings count, and how many they count."""
    return {"as_of_seq": kept.made.as_of_seq, "results": len(kept.made.outcomes)}


def attach_people(tournament_id: str, rows: Sequence[RankedEntrant]) -> list[Extended]:
    """Return rows of the standings, each with its ``person``."""
    found = load_entered_bots(tournament_id, [str(row.entrant) for row in rows])
    return [Extended(row, person=found[str(row.entrant)]) for row in rows]


def attach_error_bars(
    kept: CacheEntry[TournamentResults], tournament_id: str, rows: Sequence[RankedEntrant], *, computed: bool = True
) -> list[Extended]:
    """Return rows of the standings with error bars; empty ones unless ``computed``, since they take long."""
    bars = error_bars(kept) if computed else dict.fromkeys((row.entrant for row in rows), NO_BAR)
    return [
        Extended(
            row,
            error_bar=bars[row.entrant],
            tie_breaks=[{"name": name, "value": value} for name, value in row.tie_breaks.items()],
        )
        for row in attach_people(tournament_id, rows)
    ]


def attach_ranks(fitted: Fit, rows: Sequence[Strength], named: Mapping[str, str]) -> list[Extended]:
    """Return ``rows``, consecutive rows of a fit, each with its rank and the name of its bot."""
    first = fitted.rows.index(rows[0]) if rows else 0
    return [Extended(row, rank=first + 1 + index, name=named[row.id]) for index, row in enumerate(rows)]


def page_of(items: Sequence[Item], query: Json, view: Callable[[Sequence[Item]], list[Any]]) -> Json:
    """Return a page of a list in memory, its items converted by ``view``."""
    first = read_number_cursor(read_cursor(query) or [0])
    end = first + query["limit"]
    return envelope(Page(view(items[first:end]), [end] if end < len(items) else None), query)


def _fit_strengths(results: Sequence[Result]) -> Fit:
    bots = {bot for seated, _, _ in results for bot in seated}
    if len(bots) > MOST_FITTED_BOTS:
        raise _too_large(f"{len(bots):,} bots")
    if not _FITTING.acquire(timeout=FIT_PATIENCE_S):
        detail = "Other strengths are being computed. Try again in 10 s."
        raise Problem(503, "unavailable", detail, headers={"Retry-After": "10"})
    try:
        return fit(results)
    finally:
        _FITTING.release()


def _too_large(what: str) -> Problem:
    bounds = f"{MOST_FITTED:,} results and {MOST_FITTED_BOTS:,} bots"
    return Problem(409, "too_large", f"There are {what}. Strengths are computed for at most {bounds}.")
