"""Search bots, owners and tournaments over HTTP."""

from typing import Any

from api.auth import anyone
from api.views import Resource, current_session
from referee_extras.search import searching
from referee_extras.search.schemas import FoundView, SearchQuery

resource = Resource("search", "/api/v1/search", "Search over bots, owners and tournaments.")


@resource.get("", anyone, items=FoundView, query=SearchQuery)
def search(query: dict[str, Any]) -> Any:
    """Search bots, owners and tournaments

    Returns objects that contain, for every word of `q`, a word starting with it: in the name or, for a bot, in its
    summary or language. First come exact names, then names that begin with `q`, then all others, each by name. Drafts
    of tournaments and accounts without bots are not public and never found.
    """
    return searching.search(current_session(), query.pop("q"), **query)
