"""Serve the bracket of a knockout over HTTP."""

from typing import Any

from api.auth import anyone
from api.tournaments.access import TOURNAMENT, get_visible_tournament
from api.tournaments.pairings import visible_bracket
from api.tournaments.round_schemas import BracketView
from api.views import Resource

resource = Resource("brackets", TOURNAMENT, "Brackets of knockouts.")


@resource.get("/bracket", anyone, BracketView)
def show(tournament_id: str) -> Any:
    """Get the bracket of a knockout: rounds played, in progress and to come

    Entrants of the round in progress are hidden under the same conditions as in GET …/rounds/{tournament_round}. For
    other formats, the response is a 409.
    """
    return visible_bracket(get_visible_tournament(tournament_id))
