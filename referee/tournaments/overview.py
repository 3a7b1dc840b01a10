"""What is going on in the whole service, in a few quick questions: some matches under way, events."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.matches.tables import Match
from referee.tournaments import watching
from referee.tournaments.progress import Progress, progress
from referee.tournaments.tables import Tournament

MATCHES: Final = 12
EVENTS: Final = 12


@dataclass(frozen=True, slots=True)
class Overview:
    """``matches`` are some of those under way, those that wait longest first; ``counts`` of matches ``running`` and
    ``waiting`` for their turn, of ``results`` so far, and of ``tournaments`` running and ``open`` for entries."""

    matches: list[Match]
    events: list[tuple[Tournament, Progress]]
    counts: dict[str, int]


def overview(session: Session) -> Overview:
    running = select(Match).where(Match.status == "running").order_by(Match.created_at, Match.id).limit(MATCHES)
    events = select(Tournament).where(Tournament.status.in_(["running", "paused"]))
    events = events.order_by(Tournament.created_at.desc(), Tournament.id).limit(EVENTS)
    shown = [(event, progress(session, event.id)) for event in session.scalars(events)]
    return Overview(list(session.scalars(running)), shown, _counts(session))


def _counts(session: Session) -> dict[str, int]:
    """Never of what is over, of which there may be very much: results are numbered."""
    of_matches = select(Match.status, func.count()).where(Match.status.in_(["running", "due", "waiting"]))
    of_events = select(Tournament.status, func.count()).where(Tournament.status.in_(["running", "open"]))
    matches = dict(session.execute(of_matches.group_by(Match.status)).all())
    events = dict(session.execute(of_events.group_by(Tournament.status)).all())
    return {
        "running": matches.get("running", 0),
        "waiting": matches.get("due", 0) + matches.get("waiting", 0),
        "results": watching.last_seq(session),
        "tournaments": events.get("running", 0),
        "open": events.get("open", 0),
    }
