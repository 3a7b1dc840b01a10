"""Progress of a tournament: matches finished and expected, the current round, the estimated end."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.matches.tables import OPEN, Match
from referee.tournaments.rounds import newest_round
from referee.tournaments.tables import Tournament, TournamentRound
from referee.tournaments.tournaments import get_tournament

MAX_RECENT_MATCHES: Final = 100  # recent matches from which the end is estimated
MIN_MATCHES: Final = 5  # with fewer matches there is no estimate


@dataclass(frozen=True, slots=True)
class Progress:
    """Numbers of matches and rounds.

    ``total`` includes matches that are expected but not created; ``done`` counts those that have ended. The current
    round is the earliest in progress, 0 before the first, None in a ladder; the other number is that of rounds paired
    so far. ``estimated_end`` is None if there is no estimate.
    """

    total: int
    done: int
    by_status: dict[str, int]
    stage: int | None
    stages: int
    estimated_end: datetime | None


def load_progress(session: Session, tournament_id: str) -> Progress:
    """Return the progress of a tournament. Raise ``NotFound``."""
    tournament = get_tournament(session, tournament_id)
    query = select(Match.status, func.count()).where(Match.tournament_id == tournament_id).group_by(Match.status)
    by_status = dict(session.execute(query).all())
    created = sum(by_status.values())
    done = created - sum(by_status.get(status, 0) for status in OPEN)
    foreseen = tournament.expected_matches or 0 if tournament.status in ("running", "paused") else 0
    total = max(created, foreseen)
    stage, stages = _stage(session, tournament)
    return Progress(total, done, by_status, stage, stages, _estimated_end(session, tournament, total - done))


def _stage(session: Session, tournament: Tournament) -> tuple[int | None, int]:
    if tournament.format == "ladder":
        return None, 0
    stages = newest_round(session, tournament.id)
    going_on = select(func.min(TournamentRound.number)).where(
        TournamentRound.tournament_id == tournament.id, TournamentRound.ended_at.is_(None)
    )
    return session.scalar(going_on) or stages, stages


def _estimated_end(session: Session, tournament: Tournament, left: int) -> datetime | None:
    """Estimate the end from the rate of recent matches. Ladders and paused tournaments have no estimate."""
    if tournament.status != "running" or tournament.format == "ladder":
        return None
    ended = select(Match.finished_at).where(Match.tournament_id == tournament.id, Match.status == "finished")
    last = list(session.scalars(ended.order_by(Match.finished_at.desc()).limit(MAX_RECENT_MATCHES)))
    if len(last) < MIN_MATCHES or last[-1] is None:
        return None
    moment: datetime = current_time(session)
    time_per_match = (moment - last[-1]) / len(last)
    return moment + max(time_per_match * left, timedelta(0))
