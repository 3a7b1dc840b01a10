"""Show how two bots did against each other: over HTTP, and on a page that other pages link to."""

from typing import Any

from flask import Response
from markupsafe import Markup

from api import fields
from api.auth import anyone
from api.bots.pages import draw_shares, recent
from api.errors import invalid
from api.extended import Extended
from api.fields import Rounded, View
from api.pages.page import Pages, page
from api.views import Resource, current_session
from referee.bots import bots
from referee_extras.analysis import head_to_head


class SameCardsView(View):
    difference = Rounded(
        4,
        "Mean points per match of the bot minus those of the opponent, with the same cards.",
        attribute="difference.value",
    )
    error = Rounded(
        4,
        "Standard error of the difference; null if there is only one deal group.",
        attribute="difference.error",
        allow_none=True,
    )
    hands = fields.Integer("Number of seats of deals that both bots had.")
    groups = fields.Integer("Number of deal groups of these seats.")


class HeadToHeadView(View):
    matches = fields.Integer("Matches in which both bots played.")
    ahead = fields.Integer("Those in which the bot was placed ahead of the opponent.")
    level = fields.Integer("Those in which their placements were equal.")
    behind = fields.Integer("Those in which the bot was placed behind the opponent.")
    same_cards = fields.Nested(
        SameCardsView,
        "Comparison on the same seats of shared deals, at the same table or at different ones; null if the bots "
        "never had the same cards.",
        allow_none=True,
    )


class GameHeadToHeadView(HeadToHeadView):
    game = fields.String()


class NamedBotView(View):
    bot = fields.String(attribute="id")
    name = fields.String()


class ComparisonView(View):
    bot = fields.Nested(NamedBotView)
    opponent = fields.Nested(NamedBotView)
    total = fields.Nested(HeadToHeadView, "Results in all games.")
    games = fields.List(fields.Nested(GameHeadToHeadView), "Results by game, most played first.")
    complete = fields.Boolean("False if only the last 1,000 matches of both bots are counted.", attribute="is_complete")


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


pages = Pages("head-to-head", __name__, template_folder="templates")


@pages.view('/bots/<id("bot"):bot_id>/head-to-head/<id("bot"):opponent_id>')
def show_head_to_head(bot_id: str, opponent_id: str) -> Response:
    """Show how a bot did against another one, with their last matches."""
    compared = compare_pair(bot_id, opponent_id)
    return page(
        "analysis/head_to_head.html",
        bot=compared.bot,
        opponent=compared.opponent,
        total=compared.total,
        games=[(result.game, result, draw_shares(result)) for result in compared.games],
        complete=compared.is_complete,
        **recent(bot_id, opponent_id),
    )


def link_to_pair(*, bot_id: str, opponent_id: str, text: str) -> Markup:
    return Markup('<a href="/bots/{}/head-to-head/{}">{}</a>').format(bot_id, opponent_id, text)
