"""Draw and serve the badge of a bot as SVG: its rank and rating on an official ladder, for READMEs and other pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from flask import Response, current_app
from markupsafe import Markup
from sqlalchemy.orm import Session

from api.fields import points
from api.pages.charts.svg import tag
from api.pages.page import Pages
from api.pages.page_places import render_section
from api.pages.parameters import choice
from api.views import current_session
from referee.bots import bots
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.figures import count, decimal
from referee.games import catalogue, game_title
from referee.labels import state_label
from referee.ladders.ladder_rows import LadderRank, load_ranks
from referee.ladders.tables import Ladder
from referee_extras.pictures import fonts

HEIGHT: Final = 20
SIZE: Final = 11  # of the letters
PADDING: Final = 6  # beside each text
BASELINE: Final = 14
FAMILY: Final = "Verdana,Geneva,DejaVu Sans,sans-serif"  # all as wide as the font that measures the text
LABEL_FILL: Final = "#4b5450"
RATED_FILL: Final = "#14633f"
OTHER_FILL: Final = "#6a5a2c"  # of a bot without a rating, and of one that does not play at present


@dataclass(frozen=True, slots=True)
class Badge:
    """Hold the texts of a badge. ``name`` is the bot's and part of the accessible title alone."""

    name: str
    label: str
    value: str
    is_current: bool


def load_badge(session: Session, bot: Bot, game: str | None) -> Badge:
    """Return the badge of a bot for its rank at ``game`` or, without a game, for its best rank."""
    found = _load_official_ranks(session, bot.id, game)
    label = game_title(game) if game else "Referee"
    words = ["not rated yet"]
    if found:
        best = min(found, key=lambda rank: (rank.row.rank, -rank.total, rank.ladder.game))
        label, words = game_title(best.ladder.game), [_describe_rank(best)]
    if bot.status == BotState.HOUSE:
        words = [state_label(bot.status)]  # its rating is constant, and it has no rank
    elif bot.status != BotState.VERIFIED:
        words.append(state_label(bot.status))
    return Badge(bot.name, label, ", ".join(words), bool(found) and bot.status == BotState.VERIFIED)


def _load_official_ranks(session: Session, bot_id: str, game: str | None) -> Sequence[LadderRank]:
    ranks = [rank for rank in load_ranks(session, bot_id) if rank.ladder.official and not rank.ladder.unlisted]
    return [rank for rank in ranks if game in (None, rank.ladder.game)]


def _describe_rank(rank: LadderRank) -> str:
    return f"#{count(rank.row.rank)} of {count(rank.total)}, {decimal(points(rank.row.value), 0)}"


def draw_badge(badge: Badge) -> Markup:
    """Return the badge as SVG, as wide as its texts."""
    left, right = (round(fonts.measure(text, SIZE)) + 2 * PADDING for text in (badge.label, badge.value))
    width = left + right
    title = f"{badge.name}: {badge.label}, {badge.value}"
    fill = RATED_FILL if badge.is_current else OTHER_FILL
    return tag(
        "svg",
        tag("title", title),
        tag("clipPath", tag("rect", width=width, height=HEIGHT, rx=3), id="r"),
        tag(
            "g",
            tag("rect", width=left, height=HEIGHT, fill=LABEL_FILL),
            tag("rect", x=left, width=right, height=HEIGHT, fill=fill),
            clip_path="url(#r)",
        ),
        tag(
            "g",
            _text(badge.label, 0, left),
            _text(badge.value, left, right),
            fill="#fff",
            font_family=FAMILY,
            font_size=SIZE,
        ),
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=HEIGHT,
        viewBox=f"0 0 {width} {HEIGHT}",
        role="img",
        aria_label=title,
    )


def _text(text: str, left: float, width: float) -> Markup:
    return tag("text", text, x=left + PADDING, y=BASELINE, textLength=width - 2 * PADDING)


pages = Pages("badges", __name__, template_folder="templates")

CACHED: Final = "public, max-age=300"


@pages.view('/bots/<id("bot"):bot_id>/badge.svg', "game")
def show_badge(bot_id: str) -> Response:
    """Send the badge of a bot: for ``?game=``, by default for its best rank on an official ladder."""
    found = bots.get_bot(current_session(), bot_id)
    drawn = draw_badge(load_badge(current_session(), found, choice("game", sorted(catalogue()))))
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
