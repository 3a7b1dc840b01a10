"""Ladders: who stands where, and how he got there."""

from typing import Any

from api.pagination import PageQuery, after, envelope, list_of
from api.schemas.ladders import HistoryQuery, LadderQuery, LadderView, RatingChangeView, StandingLadderView
from api.views import Resource, record
from referee.store import bots, ratings
from referee.store.paging import Page
from referee.store.schema import Ladder

resource = Resource("ladders", "/api/v1/ladders", "Rankings, one for each game, set of options and number of seats.")


@resource.on("GET")
@resource.anyone
@resource.asks(LadderQuery)
@resource.reads
@resource.gives(list_of(LadderView))
def list_ladders(query: dict[str, Any]) -> Any:
    """Ladders"""
    return envelope(
        ratings.list_ladders(record(), game=query.get("game"), limit=query["limit"], cursor=after(query)), query
    )


@resource.on("GET", '/<id("lad"):ladder_id>')
@resource.anyone
@resource.asks(PageQuery)
@resource.reads
@resource.gives(StandingLadderView)
def show(query: dict[str, Any], ladder_id: str) -> Any:
    """A ladder from the top

    All lines of a page stand as they did after the result `as_of_seq`.
    """
    ladder = ratings.get_ladder(record(), ladder_id)
    found = ratings.ladder_page(record(), ladder_id, limit=query["limit"], cursor=after(query))
    lines = Page([line(standing) for standing in found.page.items], found.page.next)
    return {**shown(ladder), "as_of_seq": found.as_of_seq, **envelope(lines, query)}


@resource.on("GET", '/<id("lad"):ladder_id>/history')
@resource.anyone
@resource.asks(HistoryQuery)
@resource.reads
@resource.gives(list_of(RatingChangeView))
def show_history(query: dict[str, Any], ladder_id: str) -> Any:
    """How the rating of a bot moved, the latest change first"""
    ratings.get_ladder(record(), ladder_id)
    bots.get_bot(record(), query["bot"])
    found = ratings.history(record(), ladder_id, query["bot"], limit=query["limit"], cursor=after(query))
    return envelope(Page([move(change) for change in found.items], found.next), query)


def points(micro: int) -> float:
    return round(micro / 1_000_000, 1)


def shown(ladder: Ladder) -> dict[str, Any]:
    return {
        "id": ladder.id,
        "game": ladder.game,
        "options": ladder.options,
        "seats": ladder.seats,
        "created_at": ladder.created_at,
    }


def line(standing: ratings.Standing) -> dict[str, Any]:
    return {
        "rank": standing.place,
        "bot": standing.bot_id,
        "name": standing.name,
        "owner": standing.owner_id,
        "status": standing.status,
        "rating": points(standing.value),
        "rating_micro": standing.value,
        "games": standing.games,
    }


def move(change: ratings.Change) -> dict[str, Any]:
    return {
        "seq": change.seq,
        "before": points(change.before),
        "before_micro": change.before,
        "after": points(change.after),
        "after_micro": change.after,
    }
