"""Extend bots with related data, as several endpoints and pages show them to the caller."""

from api.auth import viewer_id
from api.extended import Extended
from api.views import current_session
from referee.bots import certificates, checks
from referee.bots.tables import Bot, Certificate


def visible_bot(bot: Bot) -> Bot | Extended:
    """Return ``bot``. For its owner, add ``own``, with the fields that only the owner may see."""
    if bot.owner_id != viewer_id():
        return bot
    return Extended(bot, own=Extended(bot, check=checks.find_check(current_session(), bot.id)))


def attach_fitting_games(bot: Bot, certificate: Certificate) -> Extended:
    """Return a certificate of ``bot`` extended with the games for which it is valid now."""
    return Extended(certificate, fits=certificates.valid_games(certificate, bot))
