"""Load the overview of the service, choose what it shows, and cache it as JSON for the requests of a process."""

import time
from collections.abc import Collection
from dataclasses import dataclass
from threading import Lock
from typing import Final

import orjson
from flask import Flask
from sqlalchemy.orm import Session

from api.extended import Extended
from api.matches.presentation import attach_seats
from api.overview.live_scores import LiveMatch, attach_live_scores, choose_matches
from api.overview.schemas import NowView
from api.views import current_application, database, get_shared
from referee.matches.tables import StoredMatch
from referee.tournaments.overview import Overview, load_overview
from referee.workflows.publishing import visibility
from referee.workflows.publishing.featured import find_featured

CACHED_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """Hold the overview, the matches that are shown, one of each game, and the featured one, which is None if none."""

    overview: Overview
    live: list[LiveMatch]
    featured: StoredMatch | None


class OverviewCache:
    """Choose matches to show, and cache the overview as JSON for all requests within ``CACHED_S``.

    Matches that were chosen are shown to their end.
    """

    def __init__(self, app: Flask) -> None:
        self._featured_id: str | None = None
        self._shown_ids: Collection[str] = ()
        self._app = app
        self._lock = Lock()
        self._data = b""
        self._until = 0.0

    def choose(self, session: Session) -> Chosen:
        """Load the overview and choose the matches to show."""
        found = load_overview(session)
        featured = find_featured(session, self._featured_id)
        self._featured_id = featured.id if featured else None
        live = choose_matches(session, found.matches, self._shown_ids)
        self._shown_ids = {chosen.match.id for chosen in live}
        return Chosen(found, live, featured)

    def current_body(self) -> bytes:
        with self._lock:
            if time.monotonic() >= self._until:
                with self._app.app_context(), database().read() as session:
                    self._data = orjson.dumps(NowView().dump(self._load(session)))
                self._until = time.monotonic() + CACHED_S
            return self._data

    def _load(self, session: Session) -> Extended:
        chosen = self.choose(session)
        shown = [live.match for live in chosen.live]
        seated = attach_seats(session, shown, visibility.filter_known_seats(session, shown))
        return Extended(
            chosen.overview,
            matches=attach_live_scores(seated, chosen.live),
            tournaments=[Extended(tournament, progress=far) for tournament, far in chosen.overview.tournaments],
            featured=chosen.featured and chosen.featured.id,
        )


def overview_cache() -> OverviewCache:
    """Return the cache that all requests of this process share."""
    return get_shared("referee.now", lambda: OverviewCache(current_application()))
