"""List the openings of deals that ended without a deal over HTTP."""

from typing import Any

from api import fields
from api.auth import account, anyone, current_account
from api.fields import Id, UtcDateTime, Utf8, View
from api.matches.schemas import EndedOpeningView
from api.pagination import PageQuery
from api.views import Resource, current_session, master_key
from referee.bots import bots
from referee.db.paging import Page
from referee.match.canonical import Json
from referee.match.reveal import OpeningFailure
from referee.matches.deals.ended_openings import OpeningFilter
from referee_extras.openings.listing import list_ended_openings, list_failed_nonces


class OpeningQuery(PageQuery):
    bot = Id("bot", "Only openings that this bot ended, once they are public.", attribute="bot_id")
    tournament = Id("trn", "Only openings of this tournament.", attribute="tournament_id")
    ladder = Id("lad", "Only openings for matches on this ladder.", attribute="ladder_id")


class ListedOpeningView(EndedOpeningView):
    matches = fields.List(fields.String(), "Ids of the matches that the opening was for.")
    tournament = fields.String(allow_none=True)
    created_at = UtcDateTime("When the seed was drawn.")


class FailedNonceView(View):
    group = fields.String("Id of the deal group that was closed.", attribute="group_id")
    code = fields.OneOf(OpeningFailure)
    detail = fields.String("What was wrong with the answer.")
    request = Utf8("The body that was sent.", allow_none=True)
    reply = Utf8("The body of the answer; it is empty without one.", allow_none=True)
    created_at = UtcDateTime()


def list_openings(query: Json) -> Page[Json]:
    """Return a page of ended openings that pass the filters of a query with a decoded cursor."""
    limit, cursor = query["limit"], query["cursor"]
    return list_ended_openings(current_session(), opening_filter(query), master_key(), limit=limit, cursor=cursor)


def opening_filter(query: Json) -> OpeningFilter:
    """Return the filter in a query."""
    return OpeningFilter(**{name: value for name, value in query.items() if name not in ("limit", "cursor")})


resource = Resource("openings", "/api/v1", "Openings of deals that ended without a deal.")


@resource.get("/openings", anyone, items=ListedOpeningView, query=OpeningQuery)
def list_ended(query: Any) -> Any:
    """List openings that ended without a deal

    A bot ends an opening when it does not give the nonce that it promised, or when it finds its nonce missing or
    changed. The matches then get a new deal group. The list is newest first.
    """
    return list_openings(query)


@resource.get('/bots/<id("bot"):bot_id>/openings', account, items=FailedNonceView)
def list_failed(query: Any, bot_id: str) -> Any:
    """List what your bot answered when it ended openings

    The list is newest first, and only for the owner of the bot.
    """
    bot = bots.get_bot(current_session(), bot_id, owner_id=current_account().id)
    return list_failed_nonces(current_session(), bot.id, **query)
