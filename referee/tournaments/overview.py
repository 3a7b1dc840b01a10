"""An overview of the service in a few fast queries: running matches, tournaments, counts."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.matches.states import PLAYABLE, MatchState
from referee.matches.tables import Match
from referee.tournaments import watching
from referee.tournaments.progress import Progress, progress
from referee.tournaments.states import IN_PROGRESS, TournamentState
from referee.tournaments.tables import Tournament

MATCHES: Final = 12
EVENTS: Final = 12


@dataclass(frozen=True, slots=True)
class Overview:
    """Running matches, oldest first, unfinished tournaments, and counts.

    ``counts`` has the numbers of matches ``running`` and ``waiting``, of ``results``, and of ``tournaments`` running
    and ``open`` for entries.
    """

    matches: list[Match]
    events: list[tuple[Tournament, Progress]]
    counts: dict[str, int]


def overview(session: Session) -> Overview:
    running = select(Match).where(Match.status == MatchState.RUNNING).order_by(Match.created_at, Match.id)
    events = select(Tournament).where(Tournament.status.in_(IN_PROGRESS))
    events = events.order_by(Tournament.created_at.desc(), Tournament.id).limit(EVENTS)
    with_progress = [(event, progress(session, event.id)) for event in session.scalars(events)]
    return Overview(list(session.scalars(running.limit(MATCHES))), with_progress, _counts(session))


def _counts(session: Session) -> dict[str, int]:
    """Return the counts without counting finished matches, which may be very many: the last result has their number."""
    of_matches = select(Match.status, func.count()).where(Match.status.in_(PLAYABLE))
    counted = TournamentState.RUNNING, TournamentState.OPEN
    of_events = select(Tournament.status, func.count()).where(Tournament.status.in_(counted))
    matches = dict(session.execute(of_matches.group_by(Match.status)).all())
    events = dict(session.execute(of_events.group_by(Tournament.status)).all())
    return {
        "running": matches.get(MatchState.RUNNING, 0),
        "waiting": matches.get(MatchState.DUE, 0) + matches.get(MatchState.WAITING, 0),
        "results": watching.last_seq(session),
        "tournaments": events.get(TournamentState.RUNNING, 0),
        "open": events.get(TournamentState.OPEN, 0),
    }
