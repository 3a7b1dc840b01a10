"""Cache the overview of the service as JSON, for the requests and streams of a process."""

import time
from collections.abc import Collection
from threading import Lock

import orjson
from flask import Flask
from sqlalchemy.orm import Session

from api.extended import Extended
from api.matches.match_feed import read_rows
from api.matches.presentation import attach_seats
from api.overview.live_scores import attach_live_scores, choose_matches
from api.overview.schemas import FEATURED_ROWS, NowView
from api.overview.stream import MIN_INTERVAL_S
from api.views import current_application, database, get_shared
from referee.tournaments.overview import load_overview
from referee.workflows import visibility
from referee.workflows.featured import find_featured


class OverviewCache:
    """Cache the overview as JSON. Read it once for all requests within two seconds.

    ``featured_id`` is the match that was featured last, ``shown_ids`` those that were shown last, one of each game:
    matches that are watched are shown to their end.
    """

    def __init__(self, app: Flask) -> None:
        self.featured_id: str | None = None
        self.shown_ids: Collection[str] = ()
        self._app = app
        self._lock = Lock()
        self._data = b""
        self._until = 0.0

    def current_body(self) -> bytes:
        with self._lock:
            if time.monotonic() >= self._until:
                with self._app.app_context(), database().read() as session:
                    self._data = orjson.dumps(NowView().dump(self._load(session)))
                self._until = time.monotonic() + MIN_INTERVAL_S
            return self._data

    def _load(self, session: Session) -> Extended:
        found = load_overview(session)
        featured = find_featured(session, self.featured_id)
        self.featured_id = featured.id if featured else None
        live = choose_matches(session, found.matches, self.shown_ids)
        shown = [chosen.match for chosen in live]
        self.shown_ids = {match.id for match in shown}
        seated = attach_seats(session, shown, visibility.filter_known_seats(session, shown))
        return Extended(
            found,
            matches=attach_live_scores(seated, live),
            tournaments=[Extended(tournament, progress=progress) for tournament, progress in found.tournaments],
            featured=featured and {"match": featured.id, "items": read_rows(session, featured.id)[-FEATURED_ROWS:]},
        )


def overview_cache() -> OverviewCache:
    """Return the cache that all requests of this process share."""
    return get_shared("referee.now", lambda: OverviewCache(current_application()))
