"""Extend bots with related data, as several endpoints and pages show them to the caller."""

from collections.abc import Sequence
from typing import Final

from api.auth import viewer_id
from api.extended import Extended
from api.views import current_session
from referee.bots import certificates, checks
from referee.bots.states import CheckState
from referee.bots.tables import Bot, Certificate
from referee.db import former_names
from referee.ladders import directory

NEVER_CHECKED: Final = {
    "state": CheckState.IDLE,
    "questions_sent": 0,
    "questions_total": 0,
    "current_step": "",
    "version": None,
    "ended_at": None,
    "last_report": None,
}


def describe_bots(described: Sequence[Bot]) -> list[Extended]:
    """Return these bots with their owners' names, certified games and official ratings."""
    listings = directory.load_listings(current_session(), described)
    shown = ("owner_name", "certified", "ratings", "rated_at")
    return [Extended(listing.bot, **{name: getattr(listing, name) for name in shown}) for listing in listings]


def visible_bot(bot: Bot) -> Extended:
    """Return ``bot`` as everyone sees it. For its owner, add ``own``, with the fields that only the owner may see."""
    (described,) = describe_bots([bot])
    described = Extended(described, former_names=former_names.list_former_names(current_session(), bot.id))
    if bot.owner_id != viewer_id() or bot.deleted_at is not None:
        return described
    check = checks.find_check(current_session(), bot.id) or NEVER_CHECKED
    return Extended(described, own=Extended(bot, check=check))


def attach_fitting_games(bot: Bot, certificate: Certificate) -> Extended:
    """Return a certificate of ``bot`` extended with the games for which it is valid now."""
    return Extended(certificate, fits=certificates.valid_games(certificate, bot))
