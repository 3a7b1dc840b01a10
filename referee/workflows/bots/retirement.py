"""Retire bots: withdraw their entries and cancel their unstarted matches in the same transaction."""

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from referee.bots import bots
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.matches import matches
from referee.tournaments.states import UNFINISHED
from referee.tournaments.tables import Tournament, TournamentEntry


def retire_bot(session: Session, bot_id: str) -> Bot:
    """Retire a bot permanently: withdraw it from tournaments and cancel its unstarted matches.

    Running matches continue. Raise the same errors as ``bots.retire``.
    """
    bot = bots.retire(session, bot_id)
    withdraw_from_all(session, bot_id)
    return bot


def withdraw_from_all(session: Session, bot_id: str) -> None:
    """Withdraw a bot from all unfinished tournaments, and cancel all of its unstarted matches."""
    moment = current_time(session)
    unfinished = select(Tournament.id).where(Tournament.status.in_(UNFINISHED))
    session.execute(
        update(TournamentEntry)
        .where(TournamentEntry.bot_id == bot_id, TournamentEntry.withdrawn_at.is_(None))
        .where(TournamentEntry.tournament_id.in_(unfinished))
        .values(withdrawn_at=moment)
    )
    matches.cancel_unstarted(session, bot_id, None)
