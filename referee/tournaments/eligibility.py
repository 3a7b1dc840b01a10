"""Define the condition under which a bot may continue to play in a tournament that it entered."""

from sqlalchemy import ColumnElement, exists, or_

from referee.bots import certificates
from referee.bots.states import CheckState
from referee.bots.tables import Bot, Check
from referee.tournaments.tables import Tournament


def may_continue(tournament: Tournament) -> ColumnElement[bool]:
    """Return the SQL condition for bots that may continue in this tournament.

    In an unrated tournament, all bots may. In a rated one, a bot needs a valid certificate; it is enough that it passed
    its last check if a check of its current version by the current rules and protocol is pending.
    """
    if not tournament.rated:
        return Bot.id.is_not(None)
    is_pending = exists().where(
        Check.bot_id == Bot.id,
        Check.state != CheckState.IDLE,
        certificates.is_check_outdated(tournament.game),
        certificates.passed_last_check(tournament.game),
    )
    return or_(certificates.is_certified(tournament.game), is_pending)
