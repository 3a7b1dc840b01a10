"""Show how two bots did against each other."""

from typing import Any

from api.auth import anyone
from api.bots.head_to_head_schemas import ComparisonView
from api.bots.presentation import compare_pair
from api.views import Resource

resource = Resource("head-to-head", "/api/v1/bots", "Results of two bots against each other.")


@resource.get('/<id("bot"):bot_id>/head-to-head/<id("bot"):opponent_id>', anyone, ComparisonView)
def show(bot_id: str, opponent_id: str) -> Any:
    """Compare two bots head to head

    Matches count when their logs are public, unless they are void. Of two house players in a match, the better placed
    one counts. List the matches with `GET /matches?bot=…&bot=…`.
    """
    return compare_pair(bot_id, opponent_id)
