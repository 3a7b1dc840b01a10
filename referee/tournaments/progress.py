"""How far an event is: matches over and to come, the stage, when it may end."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.matches.tables import OPEN, Match
from referee.tournaments.rounds import newest
from referee.tournaments.tables import Tournament, TournamentRound
from referee.tournaments.tournaments import get_tournament

LOOKED_BACK: Final = 100  # matches by which the pace is judged
ENOUGH: Final = 5  # fewer say nothing


@dataclass(frozen=True, slots=True)
class Progress:
    """Matches in all (those foreseen among them), over, and each state's share; the earliest stage that is not over
    (0 before the first, None where there are none) of those paired so far; None for an end nobody can tell."""

    total: int
    done: int
    by_status: dict[str, int]
    stage: int | None
    stages: int
    estimated_end: datetime | None


def progress(session: Session, tournament_id: str) -> Progress:
    """Raises ``NotFound``."""
    tournament = get_tournament(session, tournament_id)
    query = select(Match.status, func.count()).where(Match.tournament_id == tournament_id).group_by(Match.status)
    by_status = dict(session.execute(query).all())
    there = sum(by_status.values())
    done = there - sum(by_status.get(status, 0) for status in OPEN)
    foreseen = tournament.expected_matches or 0 if tournament.status in ("running", "paused") else 0
    total = max(there, foreseen)
    stage, stages = _stage(session, tournament)
    return Progress(total, done, by_status, stage, stages, _estimated_end(session, tournament, total - done))


def _stage(session: Session, tournament: Tournament) -> tuple[int | None, int]:
    if tournament.format == "ladder":
        return None, 0
    stages = newest(session, tournament.id)
    going_on = select(func.min(TournamentRound.number)).where(
        TournamentRound.tournament_id == tournament.id, TournamentRound.ended_at.is_(None)
    )
    return session.scalar(going_on) or stages, stages


def _estimated_end(session: Session, tournament: Tournament, left: int) -> datetime | None:
    """By the pace of the last matches. A ladder has no end, and what is paused none that could be told."""
    if tournament.status != "running" or tournament.format == "ladder":
        return None
    ended = select(Match.finished_at).where(Match.tournament_id == tournament.id, Match.status == "finished")
    last = list(session.scalars(ended.order_by(Match.finished_at.desc()).limit(LOOKED_BACK)))
    if len(last) < ENOUGH or last[-1] is None:
        return None
    moment: datetime = current_time(session)
    each = (moment - last[-1]) / len(last)
    return moment + max(each * left, timedelta(0))
