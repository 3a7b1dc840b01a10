"""Choose pictures to draw before anybody requests them: sites that show a link ask for its picture only once."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.ladders.tables import LedgerEntry
from referee.matches.tables import Result
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament
from referee_extras.pictures import store
from referee_extras.pictures.store import FOLLOW_EVERY, WantedPicture
from referee_extras.pictures.tables import PictureKind

RECENT: Final = 60  # of the newest matches, rating changes and tournaments, pictures are drawn …
RECENT_FOR: Final = timedelta(hours=1)  # … for this time after their end
AGAIN_AFTER: Final = timedelta(hours=1)  # bots and ladders whose ratings still move are checked again


def find_early(session: Session) -> WantedPicture | None:
    """Return the next picture to draw without a request, or None.

    Choose from finished tournaments, bots and ladders whose ratings moved, and matches, the newest first.
    """
    since = current_time(session) - RECENT_FOR
    finished = select(Tournament.id).where(
        Tournament.status == TournamentState.FINISHED, Tournament.finished_at > since
    )
    tournament_ids = session.scalars(finished.order_by(Tournament.finished_at.desc()).limit(RECENT)).all()
    results = select(Result.match_id, Result.finished_at).order_by(Result.seq.desc()).limit(RECENT)
    match_ids = [match_id for match_id, finished_at in session.execute(results) if finished_at > since]
    entries = select(Result.bots, LedgerEntry.ladder_id, LedgerEntry.created_at)
    entries = entries.join(Result, Result.match_id == LedgerEntry.match_id)
    newest = session.execute(entries.order_by(LedgerEntry.seq.desc()).limit(RECENT))
    rated = [entry for entry in newest if entry.created_at > since]
    candidates: Sequence[tuple[PictureKind, Sequence[str], timedelta]] = (
        (PictureKind.TOURNAMENT, tournament_ids, FOLLOW_EVERY),
        (PictureKind.BOT, [bot_id for entry in rated for bot_id in entry.bots], AGAIN_AFTER),
        (PictureKind.LADDER, [entry.ladder_id for entry in rated], AGAIN_AFTER),
        (PictureKind.MATCH, match_ids, FOLLOW_EVERY),
    )
    found = (store.find_early(session, kind, ids, age) for kind, ids, age in candidates if ids)
    return next((wanted for wanted in found if wanted is not None), None)
