"""Serve crosstable, luck-adjusted scores and strengths of a tournament over HTTP."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

from marshmallow import Schema

from api.auth import anyone
from api.caching import CacheEntry
from api.extended import Extended
from api.pagination import PageQuery, list_of, page_in_memory
from api.tournaments import standings_cache
from api.tournaments.standings_schemas import SnapshotView
from api.views import Decorator, Resource, database
from referee.bots import bots
from referee.standings import RankedEntrant
from referee.tournaments.standings import TournamentResults
from referee_extras.analysis import results
from referee_extras.analysis.luck import LuckAdjusted
from referee_extras.analysis.schemas import CrosstableRow, LuckRow, StrengthsPage
from referee_extras.analysis.strengths import attach_ranks, ladder_entry, ladder_fit

resource = Resource("analysis", "/api/v1", "Figures from the results of tournaments, beside standings.")

Json = dict[str, Any]
TOURNAMENT: Final = '/tournaments/<id("trn"):tournament_id>'


def endpoint(path: str, response: type[Schema]) -> Decorator:
    """Register a view of cached results. It reads the database in its own transactions."""
    return resource.get(f"{TOURNAMENT}/{path}", anyone, response, query=PageQuery, transaction=None)


@endpoint("crosstable", list_of(CrosstableRow, SnapshotView))
def show_crosstable(query: Json, tournament_id: str) -> Any:
    """Get the crosstable: each bot's score against each opponent

    There is one row per bot, in the order of the standings, with only the opponents that the bot has played. Seats of
    house bots that substitute do not count.
    """
    kept = standings_cache.tournament_entry(tournament_id)
    met = results.results_by_opponent(kept)

    def attach(row: RankedEntrant) -> Json:
        return {"opponents": [Extended(against, bot=other) for other, against in met[row.entrant].items()]}

    return page_of_rows(kept, standings_cache.ranked_entrants(kept), query, tournament_id, attach)


@endpoint("luck", list_of(LuckRow, SnapshotView))
def show_luck(query: Json, tournament_id: str) -> Any:
    """Get the scores adjusted for the luck of the cards

    The adjusted score is, per match, a bot's score minus the mean score of all bots in the same seat of the same deal.
    Bots are listed best first. They can only be compared if deals are shared.
    """
    kept = standings_cache.tournament_entry(tournament_id)
    ranked, adjusted = standings_cache.ranked_entrants(kept), results.luck_adjusted_scores(kept)
    by_luck = kept.part("by luck", lambda: sorted(ranked, key=lambda row: _luck_key(adjusted[str(row.entrant)])))
    return page_of_rows(kept, by_luck, query, tournament_id, lambda row: {"adjusted": adjusted[str(row.entrant)]})


@endpoint("strengths", StrengthsPage)
def show_strengths(query: Json, tournament_id: str) -> Any:
    """Get the estimated strengths of the bots in a tournament, with confidence intervals

    These are maximum-likelihood strengths (Bradley-Terry; Plackett-Luce for more than two seats) with 95 % intervals,
    from the results of this tournament. For more than 10,000 results or 1,000 bots, the response is a 409 `too_large`.
    """
    kept = standings_cache.tournament_entry(tournament_id)
    fitted = results.tournament_fit(kept)
    page = page_in_memory(
        fitted.rows,
        query,
        lambda rows: attach_ranks(fitted, rows, standings_cache.load_names(tournament_id, [row.id for row in rows])),
    )
    counted = {**standings_cache.snapshot(kept), "left_out": 0}
    return {**counted, "converged": fitted.converged, "exact": fitted.exact, **page}


@resource.get('/ladders/<id("lad"):ladder_id>/strengths', anyone, StrengthsPage, query=PageQuery, transaction=None)
def show_strengths_on_ladder(query: Json, ladder_id: str) -> Any:
    """Get the estimated strengths of the bots on a ladder, with confidence intervals

    The strengths are estimated from the newest 10,000 results that count. The very last results may not be included
    yet. For more than 1,000 bots, the response is a 409 `too_large`.
    """
    kept = ladder_entry(ladder_id)
    fitted = ladder_fit(kept)
    with database().read() as session:
        names = bots.names_of(session, (row.id for row in fitted.rows))
    page = page_in_memory(fitted.rows, query, lambda rows: attach_ranks(fitted, rows, names))
    made = kept.made
    counted = {"as_of_seq": made.as_of_seq, "results": len(made.results), "left_out": made.left_out}
    return {**counted, "converged": fitted.converged, "exact": fitted.exact, **page}


def page_of_rows(
    kept: CacheEntry[TournamentResults],
    rows: Sequence[RankedEntrant],
    query: Json,
    tournament_id: str,
    attach: Callable[[Any], Json],
) -> Json:
    """Return the requested page of ``rows``, each extended with its bot and the values that ``attach`` returns."""

    def extend(found: Sequence[RankedEntrant]) -> list[Extended]:
        return [Extended(row, **attach(row)) for row in standings_cache.attach_people(tournament_id, found)]

    return {**standings_cache.snapshot(kept), **page_in_memory(rows, query, extend)}


def _luck_key(found: LuckAdjusted | None) -> tuple[bool, Fraction]:
    return found is None, Fraction(0) if found is None else -found.points.value
