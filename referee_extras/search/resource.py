"""Search bots, owners and tournaments over HTTP."""

from typing import Any

from api import fields
from api.auth import anyone
from api.fields import View
from api.pagination import PageQuery
from api.views import Resource, current_session
from referee.db.kinds import SearchKind
from referee_extras.search import searching
from referee_extras.search.searching import MAX_QUERY_LENGTH, MAX_QUERY_WORDS


class SearchQuery(PageQuery):
    q = fields.String(
        f"Up to {MAX_QUERY_WORDS} words. Case, accents and signs other than letters and digits do not matter.",
        required=True,
        metadata={"maxLength": MAX_QUERY_LENGTH},
    )
    kind = fields.OneOf(SearchKind, "Return only objects of this kind.")


class FoundView(View):
    kind = fields.OneOf(SearchKind)
    id = fields.String()
    name = fields.String()
    status = fields.String("State of the bot or the tournament; null for an owner.", allow_none=True)
    summary = fields.String("What the owner says about the bot.", allow_none=True)
    owner = fields.String("Id of the owner of the bot.", attribute="owner_id", allow_none=True)
    owner_name = fields.String("Public name of the owner of the bot.", attribute="owner", allow_none=True)
    games = fields.List(fields.String(), "Games of the bot's manifest, the game of the tournament, or none.")


resource = Resource("search", "/api/v1/search", "Search over bots, owners and tournaments.")


@resource.get("", anyone, items=FoundView, query=SearchQuery)
def search(query: dict[str, Any]) -> Any:
    """Search bots, owners and tournaments

    Returns objects that contain, for every word of `q`, a word starting with it: in the name or, for a bot, in its
    summary or language. First come exact names, then names that begin with `q`, then all others, each by name. Drafts
    of tournaments and accounts without bots are not public and never found.
    """
    return searching.search(current_session(), query.pop("q"), **query)
