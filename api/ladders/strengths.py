"""Attach to rows of a ladder what the scheduler estimated."""

from collections.abc import Sequence
from dataclasses import asdict

from api.extended import Extended
from api.views import current_session
from referee.ladders.rating_errors import load_estimates
from referee.ladders.ratings import RankedBot


def attach_estimates(ladder_id: str, rows: Sequence[RankedBot]) -> list[Extended]:
    """Return rows of a ladder, each with the strength of the bot and its 95 % error in points.

    Both are None until the scheduler has computed them, which it does soon after the first result of a bot.
    """
    estimates = load_estimates(current_session(), ladder_id, [row.bot_id for row in rows])
    return [Extended(row, **asdict(estimates[row.bot_id])) for row in rows]
