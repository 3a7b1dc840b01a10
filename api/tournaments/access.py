"""Check what the caller may do with a tournament and with the bots that enter it."""

from api.auth import current_account
from api.errors import invalid
from api.views import current_session
from referee.bots import bots
from referee.bots.tables import Bot
from referee.errors import Conflict, Forbidden, NotFound
from referee.tournaments import admission, tournaments
from referee.tournaments.tables import Tournament


def get_managed_tournament(tournament_id: str) -> Tournament:
    """Return the tournament. Raise ``Forbidden`` unless the caller runs it."""
    return tournaments.get_tournament(current_session(), tournament_id, manager=current_account())


def check_admission(tournament: Tournament, code: str | None) -> None:
    """Raise ``Forbidden`` or ``Conflict`` unless the caller may enter bots without an approval."""
    admission.check_may_enter(current_session(), tournament, current_account(), code)
    if tournament.approval and not tournaments.is_manager(current_account(), tournament):
        raise Conflict("The organiser approves the entries of this tournament. Ask with POST …/requests.")


def get_entrant_bot(bot_id: str, tournament: Tournament) -> Bot:
    """Return the bot to enter or withdraw. Raise ``Forbidden`` unless the caller owns it or runs the tournament."""
    try:
        bot = bots.get_bot(current_session(), bot_id)
    except NotFound:
        raise invalid([("bot", "No bot has this id.")]) from None
    if bot.owner_id != current_account().id and not tournaments.is_manager(current_account(), tournament):
        raise Forbidden("This bot belongs to another account, and you do not run the tournament.")
    return bot
