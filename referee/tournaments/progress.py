"""Compute a tournament's progress: finished and expected matches, the current round and the estimated end."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, exists, func, select
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.matches.states import OPEN, MatchState
from referee.matches.tables import StoredMatch
from referee.tournaments.round_timing import last_round_start, next_round_start
from referee.tournaments.rounds import newest_round
from referee.tournaments.states import IN_PROGRESS, TournamentState
from referee.tournaments.tables import Tournament, TournamentRound
from referee.tournaments.tournaments import get_tournament

MAX_RECENT_MATCHES: Final = 100  # recent matches from which the end is estimated
MIN_MATCHES: Final = 5  # with fewer matches there is no estimate


@dataclass(frozen=True, slots=True)
class Progress:
    """Hold the progress of a tournament.

    ``total`` includes expected matches that are not created yet; ``done`` is the number of matches that have ended.
    ``tournament_round`` is the earliest round in progress (0 before the first), and ``rounds`` is the
    number of rounds paired so far. ``estimated_end`` is None if the end cannot be estimated.
    """

    total: int
    done: int
    by_status: dict[MatchState, int]
    tournament_round: int
    rounds: int
    estimated_end: datetime | None


def load_progress(session: Session, tournament_id: str) -> Progress:
    """Return the progress of a tournament. Raise ``NotFound`` if it does not exist."""
    tournament = get_tournament(session, tournament_id)
    query = select(StoredMatch.status, func.count()).where(StoredMatch.tournament_id == tournament_id)
    by_status = dict(session.execute(query.group_by(StoredMatch.status)).all())
    created = sum(by_status.values())
    done = created - sum(by_status.get(status, 0) for status in OPEN)
    foreseen = tournament.expected_matches or 0 if tournament.status in IN_PROGRESS else 0
    total = max(created, foreseen)
    tournament_round, rounds = _current_and_newest_round(session, tournament)
    return Progress(total, done, by_status, tournament_round, rounds, _estimated_end(session, tournament, total - done))


def _current_and_newest_round(session: Session, tournament: Tournament) -> tuple[int, int]:
    rounds = newest_round(session, tournament.id)
    going_on = select(func.min(TournamentRound.number)).where(
        TournamentRound.tournament_id == tournament.id, TournamentRound.ended_at.is_(None), ~_only_replays()
    )
    return session.scalar(going_on) or rounds, rounds


def _only_replays() -> ColumnElement[bool]:
    """Select rounds that were reopened by a void and now play only rematches."""
    of_round = (
        StoredMatch.tournament_id == TournamentRound.tournament_id,
        StoredMatch.tournament_round == TournamentRound.number,
        StoredMatch.status.in_(OPEN),
    )
    rematch = exists().where(*of_round, StoredMatch.rematch_of.is_not(None))
    return rematch & ~exists().where(*of_round, StoredMatch.rematch_of.is_(None))


def _estimated_end(session: Session, tournament: Tournament, left: int) -> datetime | None:
    """Estimate the end from the rate of recent matches, and not before the time of the last round.

    Return None for a paused tournament and if too few matches have ended.
    """
    if tournament.status != TournamentState.RUNNING:
        return None
    ended = select(StoredMatch.finished_at).where(
        StoredMatch.tournament_id == tournament.id, StoredMatch.status == MatchState.FINISHED
    )
    last = list(session.scalars(ended.order_by(StoredMatch.finished_at.desc()).limit(MAX_RECENT_MATCHES)))
    if len(last) < MIN_MATCHES or last[0] is None or last[-1] is None:
        return None
    moment: datetime = current_time(session)
    waiting = next_round_start(session, tournament)
    time_per_match = ((moment if waiting is None else last[0]) - last[-1]) / len(last)
    end = (moment if waiting is None else waiting[1]) + max(time_per_match * left, timedelta(0))
    return max(end, last_round_start(session, tournament) or end)
