"""Serve the page that compares two bots, and link to it."""

from flask import Response
from markupsafe import Markup

from api.bots.pages import draw_shares, recent
from api.pages.page import Pages, page
from referee_extras.analysis.head_to_head_resource import compare_pair

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
        games=[
            (result.game, result, draw_shares(result.ahead, result.level, result.behind)) for result in compared.games
        ],
        complete=compared.is_complete,
        **recent(bot_id, opponent_id),
    )


def link_to_pair(*, bot_id: str, opponent_id: str, text: str) -> Markup:
    return Markup('<a href="/bots/{}/head-to-head/{}">{}</a>').format(bot_id, opponent_id, text)
