"""The condition under which a bot may continue to play in a tournament that it entered."""

from sqlalchemy import ColumnElement, and_, exists, or_

from referee.bots import certificates
from referee.bots.tables import Bot, Examination
from referee.tournaments.tables import Tournament


def may_continue(tournament: Tournament) -> ColumnElement[bool]:
    """Return the condition for bots that may continue in this tournament. In a rated tournament, one of these holds:

    - The bot has a valid certificate.
    - A check of its current version, or by the current rules and protocol, is pending, and it passed its last check.
    - The tournament, which is not a ladder and so will end, admitted the bot before certificates were required.
    """
    if not tournament.rated:
        return Bot.id.is_not(None)
    of_bot = Examination.bot_id == Bot.id
    grounds = [
        and_(
            Examination.state != "idle",
            certificates.is_check_outdated(tournament.game),
            certificates.passed_last_check(tournament.game),
        )
    ]
    if tournament.format != "ladder" and tournament.started_at is not None:
        grounds.append(Examination.excused_before >= tournament.started_at)
    return or_(certificates.is_certified(tournament.game), exists().where(of_bot, or_(*grounds)))
