"""Show how two bots did against each other."""

from typing import Any

from api.auth import anyone
from api.errors import invalid
from api.extended import Extended
from api.views import Resource, current_session
from referee.bots import bots
from referee_extras.analysis import head_to_head
from referee_extras.analysis.head_to_head_schemas import ComparisonView

resource = Resource("head-to-head", "/api/v1/bots", "Results of two bots against each other.")


@resource.get('/<id("bot"):bot_id>/head-to-head/<id("bot"):opponent_id>', anyone, ComparisonView)
def show(bot_id: str, opponent_id: str) -> Any:
    """Compare two bots head to head

    Matches count when their logs are public, unless they are void. Of two house players in a match, the better placed
    one counts. List the matches with `GET /matches?bot=…&bot=…`.
    """
    return compare_pair(bot_id, opponent_id)


def compare_pair(bot_id: str, opponent_id: str) -> Extended:
    """Return the results of a bot against another one, with both bots. Raise a 422 if they are the same."""
    session = current_session()
    bot, opponent = bots.get_bot(session, bot_id), bots.get_bot(session, opponent_id)
    if bot is opponent:
        raise invalid([("opponent_id", "Must be another bot.")])
    found = head_to_head.compare_bots(session, bot.id, opponent.id)
    games = [Extended(result, game=game) for game, result in found.by_game.items()]
    return Extended(found, bot=bot, opponent=opponent, games=games)
