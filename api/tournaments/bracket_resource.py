"""The bracket of a knockout: what was played, what is being played, what is to come."""

from typing import Any

from api.pairings import bracket
from api.tournaments.round_schemas import BracketView
from api.views import Resource, record
from referee.tournaments import tournaments

resource = Resource("brackets", "/api/v1/tournaments", "Knockouts as a picture.")


@resource.route("GET", '/<id("trn"):tournament_id>/bracket')
@resource.anyone
@resource.reads
@resource.response(BracketView)
def show(tournament_id: str) -> Any:
    """The bracket of a knockout

    Of the stage that is being played entrants are told as on its own page. 409 for other formats.
    """
    return bracket(tournaments.get_tournament(record(), tournament_id))
