"""Decide when a round begins in a tournament with a pace, a least time from round to round.

Rounds are paired as soon as the results allow it, so entrants see their tables; only their matches wait.
"""

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.tournaments.states import IN_PROGRESS
from referee.tournaments.tables import Tournament, TournamentRound


def set_start_times(session: Session, tournament: Tournament, rows: list[TournamentRound], moment: datetime) -> None:
    """Give new rounds, in order, the times at which they begin; the first round of a tournament begins immediately."""
    if tournament.round_minutes is None or not rows:
        return
    before = select(func.max(func.coalesce(TournamentRound.starts_at, TournamentRound.created_at)))
    last = session.scalar(before.where(TournamentRound.tournament_id == tournament.id))
    pause = timedelta(minutes=tournament.round_minutes)
    for row in rows:
        row.starts_at = moment if last is None else max(moment, last + pause)
        last = row.starts_at


def next_round_start(session: Session, tournament: Tournament) -> tuple[int, datetime] | None:
    """Return the number and the time of the next round that waits for its time, or None if there is none."""
    if tournament.round_minutes is None or tournament.status not in IN_PROGRESS:
        return None
    waiting = select(TournamentRound.number, TournamentRound.starts_at).where(
        TournamentRound.tournament_id == tournament.id,
        TournamentRound.arranged == 0,
        TournamentRound.starts_at > current_time(session),
    )
    row = session.execute(waiting.order_by(TournamentRound.number).limit(1)).first()
    return None if row is None or row[1] is None else (row[0], row[1])
