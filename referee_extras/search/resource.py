"""Search bots, owners and tournaments over HTTP."""

from typing import Any

from marshmallow import fields

from api.auth import anyone
from api.fields import View, describe, member_of
from api.pagination import PageQuery
from api.views import Resource, current_session
from referee.db.kinds import SearchKind
from referee_extras.search import searching
from referee_extras.search.searching import MAX_QUERY_LENGTH, MAX_QUERY_WORDS


class SearchQuery(PageQuery):
    q = fields.String(
        required=True,
        metadata={
            "maxLength": MAX_QUERY_LENGTH,
            **describe(
                f"Up to {MAX_QUERY_WORDS} words. Case, accents and signs other than letters and digits do not matter."
            ),
        },
    )
    kind = fields.String(validate=member_of(SearchKind), metadata=describe("Return only objects of this kind."))


class FoundView(View):
    kind = fields.String(validate=member_of(SearchKind))
    id = fields.String()
    name = fields.String()
    status = fields.String(allow_none=True, metadata=describe("State of the bot or the tournament; null for an owner."))
    summary = fields.String(allow_none=True, metadata=describe("What the owner says about the bot."))
    owner = fields.String(attribute="owner_id", allow_none=True, metadata=describe("Id of the owner of the bot."))
    owner_name = fields.String(
        attribute="owner", allow_none=True, metadata=describe("Public name of the owner of the bot.")
    )
    games = fields.List(
        fields.String(), metadata=describe("Games of the bot's manifest, the game of the tournament, or none.")
    )


resource = Resource("search", "/api/v1/search", "Search over bots, owners and tournaments.")


@resource.get("", anyone, items=FoundView, query=SearchQuery)
def search(query: dict[str, Any]) -> Any:
    """Search bots, owners and tournaments

    Returns objects that contain, for every word of `q`, a word starting with it: in the name or, for a bot, in its
    summary or language. First come exact names, then names that begin with `q`, then all others, each by name. Drafts
    of tournaments and accounts without bots are not public and never found.
    """
    return searching.search(current_session(), query.pop("q"), **query)
