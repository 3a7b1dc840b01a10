"""Serve the overview of the service over HTTP, and its stream."""

import time
from threading import Lock

import orjson
from flask import Flask, Response
from sqlalchemy.orm import Session

from api.auth import anyone
from api.extended import Extended
from api.matches.presentation import attach_seats
from api.overview.schemas import NowView
from api.overview.stream import MIN_INTERVAL_S, NOW, OverviewStream
from api.streams.connections import follow
from api.streams.endpoints import live as resource
from api.views import current_application, database, get_shared
from referee.tournaments.overview import load_overview
from referee.workflows import visibility


@resource.get("/now", anyone, transaction=None)
@resource.file_response("application/json", "The overview, as in the messages of GET /stream.", NowView)
def show_current_activity() -> Response:
    """Get an overview: some matches in progress, tournaments with their progress, counts

    The data is at most two seconds old.
    """
    return Response(_overview_cache().current_body(), mimetype="application/json")


@resource.stream("/stream", "Messages until the client disconnects.", NOW, resumes=False, ends=False)
def follow_service() -> Response:
    """Follow the service (server-sent events)

    Whenever the overview has changed, but at most every two seconds, the stream sends `now`, with the same object as
    GET /now.
    """
    return follow(OverviewStream, NOW, None, _overview_cache().current_body)


class OverviewCache:
    """Cache the overview as JSON. Read it once for all requests within two seconds."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._lock = Lock()
        self._data = b""
        self._until = 0.0

    def current_body(self) -> bytes:
        with self._lock:
            if time.monotonic() >= self._until:
                with self._app.app_context(), database().read() as session:
                    self._data = orjson.dumps(NowView().dump(_overview(session)))
                self._until = time.monotonic() + MIN_INTERVAL_S
            return self._data


def _overview(session: Session) -> Extended:
    found = load_overview(session)
    matches_shown = attach_seats(session, found.matches, visibility.filter_known_seats(session, found.matches))
    return Extended(
        found,
        matches=matches_shown,
        tournaments=[Extended(tournament, progress=progress) for tournament, progress in found.tournaments],
    )


def _overview_cache() -> OverviewCache:
    return get_shared("referee.now", lambda: OverviewCache(current_application()))
