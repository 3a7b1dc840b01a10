"""Serve the badges of bots, and show them on the pages of bots."""

from collections.abc import Sequence
from typing import Final

from flask import Response, current_app
from markupsafe import Markup

from api.pages.page import Pages
from api.pages.page_places import render_section
from api.pages.parameters import choice
from api.views import current_session
from referee.bots import bots
from referee.bots.tables import Bot
from referee.games import catalogue, game_title
from referee.ladders.tables import Ladder
from referee_extras.pictures import badge

pages = Pages("badges", __name__, template_folder="templates")

CACHED: Final = "public, max-age=300"


@pages.view('/bots/<id("bot"):bot_id>/badge.svg', "game")
def show_badge(bot_id: str) -> Response:
    """Send the badge of a bot: for ``?game=``, by default for its best rank on an official ladder."""
    found = bots.get_bot(current_session(), bot_id)
    drawn = badge.draw_badge(badge.load_badge(current_session(), found, choice("game", sorted(catalogue()))))
    response = Response(drawn, mimetype="image/svg+xml")
    response.headers["Cache-Control"] = CACHED
    return response


def section_of_bot(*, bot: Bot, ladders: Sequence[Ladder]) -> Markup:
    """Return the section of the page of a bot with its badges and the Markdown for them."""
    games = sorted(ladder.game for ladder in ladders if ladder.official and not ladder.unlisted)
    of_games = [(f"?game={game}", game_title(game)) for game in games]
    badges = [("", "the best rank"), *(of_games if len(games) > 1 else [])]
    url = current_app.config["SETTINGS"].public_url
    return render_section("pictures/badges.html", bot=bot, badges=badges, public_url=url)
