"""Decide when a round begins in a tournament with a pace: at given times, or a least time from round to round.

Rounds are paired as soon as the results allow it, so entrants see their tables; only their matches wait.
``round_times`` validates given times.
"""

from datetime import datetime, timedelta

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.tournaments.round_times import read_time
from referee.tournaments.states import IN_PROGRESS
from referee.tournaments.tables import Tournament, TournamentRound


def set_start_times(session: Session, tournament: Tournament, rows: list[TournamentRound], moment: datetime) -> None:
    """Give new rounds, in order, the times at which they begin.

    With a least time, the first round of a tournament begins immediately. Rounds after the last given time begin as
    soon as they can.
    """
    if tournament.round_times is not None:
        for row in rows:
            row.starts_at = given_time(tournament, row.number)
        return
    if tournament.round_minutes is None or not rows:
        return
    before = select(func.max(func.coalesce(TournamentRound.starts_at, TournamentRound.created_at)))
    last = session.scalar(before.where(TournamentRound.tournament_id == tournament.id))
    pause = timedelta(minutes=tournament.round_minutes)
    for row in rows:
        row.starts_at = moment if last is None else max(moment, last + pause)
        last = row.starts_at


def given_time(tournament: Tournament, number: int) -> datetime | None:
    """Return the time that the organiser has given for a round, or None."""
    times = tournament.round_times or []
    return read_time(times[number - 1]) if number <= len(times) else None


def count_begun(session: Session, tournament: Tournament) -> int:
    """Return the number of rounds that have begun: matches were arranged, or their times have passed."""
    begun = or_(TournamentRound.arranged > 0, TournamentRound.starts_at <= current_time(session))
    query = select(func.max(TournamentRound.number)).where(TournamentRound.tournament_id == tournament.id, begun)
    return session.scalar(query) or 0


def move_waiting_rounds(session: Session, tournament: Tournament) -> None:
    """Give the rounds that are paired and have not begun the times that the tournament has for them now."""
    begun = count_begun(session, tournament)
    waiting = select(TournamentRound).where(TournamentRound.tournament_id == tournament.id)
    for row in session.scalars(waiting.where(TournamentRound.number > begun)):
        row.starts_at = given_time(tournament, row.number)


def next_round_start(session: Session, tournament: Tournament) -> tuple[int, datetime] | None:
    """Return the number and the time of the next round that waits for its time, or None if there is none.

    A round with a given time waits even before it is paired.
    """
    if tournament.status not in IN_PROGRESS:
        return None
    if tournament.round_times is not None:
        number = count_begun(session, tournament) + 1
        time = given_time(tournament, number)
        return None if time is None or time <= current_time(session) else (number, time)
    if tournament.round_minutes is None:
        return None
    waiting = select(TournamentRound.number, TournamentRound.starts_at).where(
        TournamentRound.tournament_id == tournament.id,
        TournamentRound.arranged == 0,
        TournamentRound.starts_at > current_time(session),
    )
    row = session.execute(waiting.order_by(TournamentRound.number).limit(1)).first()
    return None if row is None or row[1] is None else (row[0], row[1])


def last_round_start(session: Session, tournament: Tournament) -> datetime | None:
    """Return the earliest time at which the last round can begin, or None if nothing is known about it."""
    if tournament.round_times:
        return read_time(tournament.round_times[-1])
    if tournament.round_minutes is None:
        return None
    newest = select(TournamentRound).where(TournamentRound.tournament_id == tournament.id)
    row = session.scalar(newest.order_by(TournamentRound.number.desc()).limit(1))
    if row is None or row.starts_at is None:
        return None
    further = max(int((tournament.format_options or {}).get("rounds") or 0) - row.number, 0)
    return row.starts_at + timedelta(minutes=tournament.round_minutes) * further
