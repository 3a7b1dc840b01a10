"""Ladders, ranks, strengths and rating histories over HTTP."""

from typing import Any

from api import standings_cache
from api.errors import invalid
from api.ladders.schemas import (
    HistoryQuery,
    LadderQuery,
    LadderView,
    PlaceOnLadderView,
    RatingChangeView,
    StandingLadderView,
    StandingQuery,
)
from api.pagination import PageQuery, envelope, list_of, read_cursor
from api.presentation import Extended
from api.tournaments.standings_schemas import StrengthsPage
from api.views import Resource, database, record
from referee.bots import bots
from referee.errors import NotFound
from referee.ladders import ranks, ratings

resource = Resource("ladders", "/api/v1/ladders", "Rankings, one for each game, set of options and number of seats.")


@resource.route("GET")
@resource.anyone
@resource.query(LadderQuery)
@resource.reads
@resource.response(list_of(LadderView))
def list_ladders(query: dict[str, Any]) -> Any:
    """List ladders"""
    found = ratings.list_ladders(record(), game=query.get("game"), limit=query["limit"], cursor=read_cursor(query))
    return envelope(found, query)


@resource.route("GET", '/<id("lad"):ladder_id>')
@resource.anyone
@resource.query(StandingQuery)
@resource.reads
@resource.response(StandingLadderView)
def show(query: dict[str, Any], ladder_id: str) -> Any:
    """Get a ladder, best first

    All rows of a page are as of the ledger entry `as_of_seq`. With `as_of`, the ladder as of that entry is returned, so
    that all pages are consistent with each other even if the ladder changes meanwhile.
    """
    ladder = ratings.get_ladder(record(), ladder_id)
    found = load_page(ladder_id, query)
    return Extended(ladder, as_of_seq=found.as_of_seq, **envelope(found.page, query))


@resource.route("GET", '/<id("lad"):ladder_id>/places/<id("bot"):bot_id>')
@resource.anyone
@resource.reads
@resource.response(PlaceOnLadderView)
def show_place(ladder_id: str, bot_id: str) -> Any:
    """Get the rank of a bot

    404 for a bot without a match that counts on this ladder.
    """
    ratings.get_ladder(record(), ladder_id)
    bot, found = bots.get_bot(record(), bot_id), ranks.find_rank(record(), ladder_id, bot_id)
    if found is None:
        raise NotFound("place", bot_id)
    return Extended(found, bot=bot, last_seq=ratings.last_seq(record(), ladder_id))


@resource.route("GET", '/<id("lad"):ladder_id>/strengths')
@resource.anyone
@resource.query(PageQuery)
@resource.response(StrengthsPage)
def show_strengths(query: dict[str, Any], ladder_id: str) -> Any:
    """Get the estimated strengths of the bots, with confidence intervals

    Estimated from the newest 10,000 results that count; 409 `too_large` for more than 1,000 bots. The newest results
    may not be included yet.
    """
    kept = standings_cache.ladder_entry(ladder_id)
    fitted = standings_cache.ladder_fit(kept)
    with database().read() as session:
        names = bots.names_of(session, (row.id for row in fitted.rows))
    page = standings_cache.page_of(fitted.rows, query, lambda rows: standings_cache.attach_ranks(fitted, rows, names))
    made = kept.made
    counted = {"as_of_seq": made.as_of_seq, "results": len(made.results), "left_out": made.left_out}
    return {**counted, "converged": fitted.converged, "exact": fitted.exact, **page}


@resource.route("GET", '/<id("lad"):ladder_id>/history')
@resource.anyone
@resource.query(HistoryQuery)
@resource.reads
@resource.response(list_of(RatingChangeView))
def show_history(query: dict[str, Any], ladder_id: str) -> Any:
    """List the rating changes of a bot, latest first

    Each change comes from an entry of the ladder's ledger. A bot keeps its rating across versions; each change of
    version is marked.
    """
    ratings.get_ladder(record(), ladder_id)
    bots.get_bot(record(), query["bot"])
    found = ratings.list_changes(record(), ladder_id, query["bot"], limit=query["limit"], cursor=read_cursor(query))
    return envelope(found, query)


def load_page(ladder_id: str, query: dict[str, Any]) -> ratings.LadderPage:
    """Return rows of the ladder, as it is now or as of the ledger entry in ``query``."""
    if "as_of" not in query:
        return ratings.load_page(record(), ladder_id, limit=query["limit"], cursor=read_cursor(query))
    last = ratings.last_seq(record(), ladder_id)
    if query["as_of"] > last:
        raise invalid([("as_of", f"Must be at most {last}, the ladder's last ledger entry.")])
    return ratings.load_page_at(record(), ladder_id, query["as_of"], limit=query["limit"], cursor=read_cursor(query))
