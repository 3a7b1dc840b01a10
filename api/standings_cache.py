"""Tables of events and ladders that take long to compute, kept while the record has not moved on."""

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from api.caching import CacheEntry, Shelf
from api.errors import Problem
from api.pagination import envelope, read_cursor
from api.presentation import Extended
from api.views import database
from referee.db.paging import Page, number_of
from referee.ladders.strengths import LadderResults, ladder_results
from referee.ratings.strengths import Fit, Result, Strength, fit
from referee.standings import ErrorBar, HeadToHead, LuckAdjusted, RankedEntrant, bootstrap, crosstable, luck_adjusted
from referee.tournaments import tournaments
from referee.tournaments.entries import EnteredBot, entered_bots
from referee.tournaments.standings import TournamentResults, event_results

Json = dict[str, Any]
Item = TypeVar("Item")

MOST_KEPT: Final = 50_000  # results and entries; 10,000 take some 25 MB with all their tables
MOST_FITTED: Final = 10_000  # results
MOST_FITTED_BOTS: Final = 1_000
FIT_PATIENCE_S: Final = 20
SAMPLES: Final = ((2_000, 1_000), (10_000, 400))  # of error bars, up to so many results …
FEWEST_SAMPLES: Final = 200  # … and beyond

NO_BAR: Final = ErrorBar(None, None, None, 0)

EVENTS: Final = Shelf[TournamentResults](MOST_KEPT, lambda made: len(made.outcomes) + len(made.entrants) + 1)
LADDERS: Final = Shelf[LadderResults](MOST_KEPT, lambda made: len(made.results) + 1)
_FITTING = threading.Semaphore(1)  # one in a process: it takes seconds of CPU


def of_event(tournament_id: str) -> CacheEntry[TournamentResults]:
    """The results of an event that count now. Raises ``NotFound``, and ``Conflict`` for a huge event."""

    def make(before: TournamentResults | None, *, patient: bool) -> TournamentResults:
        with database().read() as session:
            tournament = tournaments.get_tournament(session, tournament_id)
            return event_results(session, tournament, before, patient=patient)

    return EVENTS.get(tournament_id, make)


def of_ladder(ladder_id: str) -> CacheEntry[LadderResults]:
    """The newest results of a ladder that count now. Raises ``NotFound``."""

    def make(before: LadderResults | None, *, patient: bool) -> LadderResults:
        with database().read() as session:
            return ladder_results(session, ladder_id, MOST_FITTED, before, patient=patient)

    return LADDERS.get(ladder_id, make)


def table(kept: CacheEntry[TournamentResults]) -> list[RankedEntrant]:
    """The standings, best first."""
    return kept.part("table", kept.made.table)


def order(kept: CacheEntry[TournamentResults]) -> dict[str, int]:
    """Everybody by place in the list, from 0."""
    return kept.part("order", lambda: {str(row.entrant): at for at, row in enumerate(table(kept))})


def met(kept: CacheEntry[TournamentResults]) -> Mapping[Hashable, Mapping[Hashable, HeadToHead]]:
    """Return who scored what against whom, everybody in the order of the table."""
    made = kept.made
    return kept.part("crosstable", lambda: crosstable([row.entrant for row in table(kept)], made.outcomes))


def less_luck(kept: CacheEntry[TournamentResults]) -> Mapping[Hashable, LuckAdjusted | None]:
    """Return everybody's score less the luck of the cards; None where nobody else held the same cards."""
    made = kept.made
    return kept.part("luck", lambda: luck_adjusted(made.entrants, made.outcomes))


def error_bars(kept: CacheEntry[TournamentResults]) -> dict[Any, ErrorBar]:
    made = kept.made
    return kept.part(
        "bars", lambda: bootstrap(made.entrants, made.outcomes, draw_key=made.draw, samples=samples_of(made))
    )


def samples_of(made: TournamentResults) -> int:
    """How many samples the error bars of an event of this size rest on."""
    return next((samples for results, samples in SAMPLES if len(made.outcomes) <= results), FEWEST_SAMPLES)


def event_fit(kept: CacheEntry[TournamentResults]) -> Fit:
    """The strengths of an event's bots; 409 for more results, or bots, than can be fitted in time."""
    made = kept.made
    if len(made.outcomes) > MOST_FITTED:
        raise _too_large(f"{len(made.outcomes):,} results")
    said = [([str(one) for one in of.entrants], of.placements, of.scored) for of in made.outcomes]
    return kept.part("fit", lambda: _fit_strengths(said))


def ladder_fit(kept: CacheEntry[LadderResults]) -> Fit:
    """The strengths of a ladder's bots by its newest results; 409 for more bots than can be fitted in time."""
    return kept.part("fit", lambda: _fit_strengths(kept.made.results))


def kept_fit(ladder_id: str) -> Fit | None:
    """The strengths that were computed last in this process, though the ladder may have moved on; None: never."""
    kept = LADDERS.peek(ladder_id)
    return None if kept is None else cast("Fit | None", kept.known("fit"))


def people(tournament_id: str, bot_ids: Sequence[str]) -> dict[str, EnteredBot]:
    """Those of a page, by id."""
    with database().read() as session:
        return entered_bots(session, tournament_id, bot_ids)


def names(tournament_id: str, bot_ids: Sequence[str]) -> dict[str, str]:
    """Return the names of these bots of an event, by id."""
    return {bot_id: person.name for bot_id, person in people(tournament_id, bot_ids).items()}


def snapshot(kept: CacheEntry[TournamentResults]) -> Json:
    """Return up to which result, and how many, a table counts."""
    return {"as_of_seq": kept.made.as_of_seq, "results": len(kept.made.outcomes)}


def attach_people(tournament_id: str, rows: Sequence[RankedEntrant]) -> list[Extended]:
    """Return rows of the standings, each with its ``person``."""
    found = people(tournament_id, [str(row.entrant) for row in rows])
    return [Extended(row, person=found[str(row.entrant)]) for row in rows]


def attach_error_bars(
    kept: CacheEntry[TournamentResults], tournament_id: str, rows: Sequence[RankedEntrant], *, computed: bool = True
) -> list[Extended]:
    """Return rows of the standings as they are shown. Error bars take long: unless ``computed``, all are empty."""
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
    """Return ``rows``, a stretch of a fit, each with its rank and the name of its bot."""
    first = fitted.rows.index(rows[0]) if rows else 0
    return [Extended(row, rank=first + 1 + at, name=named[row.id]) for at, row in enumerate(rows)]


def page_of(items: Sequence[Item], query: Json, view: Callable[[Sequence[Item]], list[Any]]) -> Json:
    """A page of a list that is in memory, its items as ``view`` shows them."""
    first = number_of(read_cursor(query) or [0])
    end = first + query["limit"]
    return envelope(Page(view(items[first:end]), [end] if end < len(items) else None), query)


def _fit_strengths(said: Sequence[Result]) -> Fit:
    bots = {bot for seated, _, _ in said for bot in seated}
    if len(bots) > MOST_FITTED_BOTS:
        raise _too_large(f"{len(bots):,} bots")
    if not _FITTING.acquire(timeout=FIT_PATIENCE_S):
        raise Problem(503, "unavailable", "Others are being fitted just now.", headers={"Retry-After": "10"})
    try:
        return fit(said)
    finally:
        _FITTING.release()


def _too_large(what: str) -> Problem:
    bounds = f"{MOST_FITTED:,} results and {MOST_FITTED_BOTS:,} bots"
    return Problem(409, "too_large", f"It has {what}; at most {bounds} are fitted.")
