"""Draw pictures of pages, in a thread of the scheduler that draws a limited number per minute.

Pictures are drawn when a match has ended, a tournament has finished or a bot is rated, since sites that show a link ask
for its picture only once; or after they were requested, and again when what they show has changed. Nothing is drawn in
requests.
"""

import logging
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.db.engine import Database, current_time
from referee.errors import NotFound, Unavailable
from referee.ladders.tables import LedgerEntry
from referee.matches.tables import Result
from referee.settings import Settings
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Tournament
from referee_extras.pictures import store
from referee_extras.pictures.content_loading import load_content
from referee_extras.pictures.contents import PictureContent
from referee_extras.pictures.drawing import draw_png
from referee_extras.pictures.store import FOLLOW_EVERY, WantedPicture
from referee_extras.pictures.tables import PictureKind

log = logging.getLogger(__name__)

LOOK_S: Final = 1.0  # between two looks for requests
MAX_PER_MINUTE: Final = 60  # checks by all schedulers, of which each draws at most one picture
MAX_EARLY_PER_MINUTE: Final = 30  # a picture that nobody has requested is not checked beyond this
REST_FACTOR: Final = 9  # rest after each check, in multiples of its duration: a tenth of a processor at most
RECENT: Final = 60  # of the newest matches, rating changes and tournaments, pictures are drawn …
RECENT_FOR: Final = timedelta(hours=1)  # … for this time after their end
AGAIN_AFTER: Final = timedelta(hours=1)  # bots and ladders whose ratings still move are checked again


class PictureDrawer:
    """Check one picture after the other, the one that has waited longest first, and draw those that have changed."""

    def __init__(
        self,
        database: Database,
        draw: Callable[[PictureContent], bytes] = draw_png,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._draw = draw
        self._seconds = seconds

    def step(self) -> float:
        """Check at most one picture. Return how long to wait before the next step, in seconds."""
        began = self._seconds()
        with self._database.read() as session:
            wanted = self._choose(session)
            if wanted is None:
                return LOOK_S
        with self._database.write(durable=False) as session:
            store.begin_check(session, wanted)
        try:
            self._check(wanted)
        except Unavailable:
            raise
        except Exception:  # affects no other picture
            log.exception("picture_not_drawn", extra={"kind": wanted.kind, "subject": wanted.subject_id})
        return REST_FACTOR * (self._seconds() - began)

    def _choose(self, session: Session) -> WantedPicture | None:
        """Return the picture to check next, or None. Requested pictures come first."""
        checked = store.count_checks_since(session, current_time(session) - timedelta(minutes=1))
        wanted = store.find_next(session) if checked < MAX_PER_MINUTE else None
        return _find_early(session) if wanted is None and checked < MAX_EARLY_PER_MINUTE else wanted

    def _check(self, wanted: WantedPicture) -> None:
        try:
            with self._database.read() as session:
                content = load_content(session, wanted.kind, wanted.subject_id)
        except NotFound:
            with self._database.write(durable=False) as session:
                store.delete_picture(session, wanted)
            return
        digest = content.digest()
        if digest == wanted.content_digest:
            return
        png = self._draw(content)
        with self._database.write(durable=False) as session:
            store.store_picture(session, wanted, png, digest, is_settled=content.is_settled)


def start_drawing(database: Database, _settings: Settings) -> Callable[[], float]:
    """Return the step of the thread of the scheduler that draws pictures."""
    return PictureDrawer(database).step


def _find_early(session: Session) -> WantedPicture | None:
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
