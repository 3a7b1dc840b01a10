"""Disqualify a bot, which is more than a withdrawal: it has a public reason and costs its rank."""

from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.reporting import notify
from referee.errors import Conflict, NotFound
from referee.events import BotDisqualified
from referee.tournaments import entries
from referee.tournaments.states import IN_PROGRESS, TournamentState
from referee.tournaments.tables import TournamentEntry
from referee.tournaments.tournaments import lock_in_state


def disqualify_bot(session: Session, tournament_id: str, bot_id: str, reason: str) -> TournamentEntry:
    """Disqualify a bot, also after the end. Notify its owner.

    Before the end this withdraws the bot, too. Raise ``NotFound`` if it is not entered, ``Conflict`` if it is
    disqualified already or the tournament is a draft or cancelled.
    """
    states = TournamentState.OPEN, *IN_PROGRESS, TournamentState.FINISHED
    tournament = lock_in_state(session, tournament_id, *states)
    entry = session.get(TournamentEntry, (tournament_id, bot_id))
    if entry is None:
        raise NotFound("entry", bot_id)
    bot = session.get_one(Bot, bot_id)
    if entry.disqualified_at is not None:
        raise Conflict(f"Bot {bot.name!r} is disqualified already: {entry.disqualification_reason}")
    if tournament.status != TournamentState.FINISHED:
        entries.withdraw_bot(session, tournament_id, bot_id)
    entry.disqualified_at, entry.disqualification_reason = current_time(session), reason
    tournament.revision += 1
    about = {"tournament": tournament_id, "name": tournament.name, "bot": bot_id, "reason": reason}
    notify(session, BotDisqualified(accounts=[bot.owner_id], **about))
    session.flush()
    return entry
