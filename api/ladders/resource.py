"""Serve ladders, ranks, strengths and rating histories over HTTP."""

from typing import Any

from api.auth import anyone
from api.extended import Extended
from api.ladders import schemas
from api.pagination import envelope, read_cursor
from api.views import Resource, current_session
from referee.bots import bots
from referee.db.paging import Page
from referee.errors import NotFound
from referee.ladders import ladder_rows, members, ratings
from referee.ladders.best_ratings import find_best_rating

resource = Resource("ladders", "/api/v1/ladders", "Rankings, one for each game, set of options and number of seats.")


@resource.get("", anyone, items=schemas.LadderView, query=schemas.LadderQuery)
def list_ladders(query: dict[str, Any]) -> Any:
    """List ladders: the official one of each game, then the variants

    Unlisted ladders are left out. A page has up to 50 ladders, or `limit`. The ranks of a ladder are at
    `GET /ladders/{ladder_id}`.
    """
    page = ratings.list_ladders(current_session(), **query)
    playing = members.count_members(current_session(), [ladder.id for ladder in page.items])
    return Page([Extended(ladder, members=playing[ladder.id]) for ladder in page.items], page.next)


@resource.get('/<id("lad"):ladder_id>', anyone, schemas.LadderPageView, query=schemas.StandingQuery)
def show(query: dict[str, Any], ladder_id: str) -> Any:
    """Get a ladder, best first

    All rows of a page are as of the ledger entry `as_of_seq`. Pass it as `as_of` to get further pages of the same
    state, even if the ladder changes meanwhile.
    """
    ladder = ratings.get_ladder(current_session(), ladder_id)
    part = {"limit": query["limit"], "cursor": read_cursor(query)}
    found = ladder_rows.load_rows(current_session(), ladder_id, as_of=query.get("as_of"), **part)
    playing = members.count_members(current_session(), [ladder_id])[ladder_id]
    return Extended(ladder, members=playing, as_of_seq=found.as_of_seq, **envelope(found.page, query))


@resource.get('/<id("lad"):ladder_id>/ranks/<id("bot"):bot_id>', anyone, schemas.BotRankView)
def show_rank(ladder_id: str, bot_id: str) -> Any:
    """Get the rank of a bot

    If no match of the bot counts on this ladder, the response is a 404.
    """
    ratings.get_ladder(current_session(), ladder_id)
    owner_id = bots.get_bot(current_session(), bot_id).owner_id
    found = ladder_rows.load_ranks(current_session(), bot_id, ladder_id)
    if not found:
        raise NotFound("rank", bot_id)
    last_seq = ratings.last_seq(current_session(), ladder_id)
    best = find_best_rating(current_session(), ladder_id, owner_id)
    changed_seq, total = found[0].changed_seq, found[0].total
    return Extended(found[0].row, last_seq=last_seq, owner_best=best, changed_seq=changed_seq, total=total)


@resource.get('/<id("lad"):ladder_id>/history', anyone, items=schemas.RatingChangeView, query=schemas.HistoryQuery)
def show_history(query: dict[str, Any], ladder_id: str) -> Any:
    """List the rating changes of a bot, latest first

    Each change comes from an entry of the ladder's ledger. A bot keeps its rating across versions; changes of version
    are marked.
    """
    ratings.get_ladder(current_session(), ladder_id)
    bots.get_bot(current_session(), query["bot_id"])
    return ratings.list_changes(current_session(), ladder_id, **query)
