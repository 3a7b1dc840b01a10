"""The condition under which the bot of an entrant may go on in its tournament."""

from sqlalchemy import ColumnElement, and_, exists, or_

from referee.bots import certificates
from referee.bots.states import CheckState
from referee.bots.tables import Bot, Examination
from referee.pairing.kinds import TournamentFormat
from referee.tournaments.tables import Tournament


def keeps_place(tournament: Tournament) -> ColumnElement[bool]:
    """Whether the bot of the row may go on in this event: it fits; or its present version, or its version by the
    present rules and protocol, is not examined yet but is about to be, and the one examined last was attested; or the
    event, which ends some day, took it when there were no certificates."""
    if not tournament.rated:
        return Bot.id.is_not(None)
    of_bot = Examination.bot_id == Bot.id
    grounds = [
        and_(
            Examination.state != CheckState.IDLE,
            certificates.is_unseen(tournament.game),
            certificates.had_one(tournament.game),
        )
    ]
    if tournament.format != TournamentFormat.LADDER and tournament.started_at is not None:
        grounds.append(Examination.excused_before >= tournament.started_at)
    return or_(certificates.fits(tournament.game), exists().where(of_bot, or_(*grounds)))
