"""Prepare ended openings for the API and the page."""

from typing import Any

from api.views import current_session, master_key
from referee.db.paging import Page
from referee.matches.deals import deal_groups
from referee.matches.deals.ended_openings import OpeningFilter
from referee_extras.openings.listing import ListedOpening, list_ended_openings

Json = dict[str, Any]


def list_openings(query: Json) -> Page[Json]:
    """Return a page of ended openings that pass the filters of a query with a decoded cursor."""
    limit, cursor = query["limit"], query["cursor"]
    found = list_ended_openings(current_session(), opening_filter(query), limit=limit, cursor=cursor)
    return Page([_present(opening) for opening in found.items], found.next)


def opening_filter(query: Json) -> OpeningFilter:
    """Return the filter in a query."""
    return OpeningFilter(**{name: value for name, value in query.items() if name not in ("limit", "cursor")})


def _present(opening: ListedOpening) -> Json:
    group = opening.group
    return {
        "id": group.id,
        "commitment": group.commitment,
        "seed": deal_groups.unseal_seed_of_group(group, master_key()).hex(),
        "failures": [{"bot": bot_id, "code": code} for bot_id, code in opening.failures],
        "matches": opening.match_ids,
        "tournament": group.tournament_id,
        "created_at": group.created_at,
    }
