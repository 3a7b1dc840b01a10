"""Draw pictures of pages, in a thread of the scheduler that draws a limited number per minute.

Pictures are drawn when a match has ended, a tournament has finished or a bot is rated, or after they were requested,
and again when what they show has changed. Nothing is drawn in requests.
"""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from sqlalchemy.orm import Session

from referee.db.engine import Database, current_time
from referee.errors import NotFound, Unavailable
from referee.settings import Settings
from referee_extras.pictures import store
from referee_extras.pictures.content_loading import load_content
from referee_extras.pictures.contents import PictureContent
from referee_extras.pictures.drawing import draw_png
from referee_extras.pictures.early_pictures import find_early
from referee_extras.pictures.store import WantedPicture

log = logging.getLogger(__name__)

LOOK_S: Final = 1.0  # between two looks for requests
MAX_PER_MINUTE: Final = 60  # checks by all schedulers, of which each draws at most one picture
MAX_EARLY_PER_MINUTE: Final = 30  # a picture that nobody has requested is not checked beyond this
REST_FACTOR: Final = 9  # rest after each check, in multiples of its duration: a tenth of a processor at most


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
        return find_early(session) if wanted is None and checked < MAX_EARLY_PER_MINUTE else wanted

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
