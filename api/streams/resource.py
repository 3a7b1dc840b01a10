"""Live data over HTTP: the visible rows of a match, its decisions once its log is open, streams of matches, ladders and
the service."""

import time
from threading import Lock
from typing import Any, Final

import orjson
from flask import Flask, Response, current_app
from sqlalchemy.orm import Session

from api.ladders.schemas import LadderRow
from api.ladders.stream import LadderStream
from api.matches import log_replay
from api.matches.match_feed import MatchFeedCache
from api.matches.stream import MatchStream
from api.presentation import Extended, attach_seats
from api.streams import connections
from api.streams.overview import MIN_INTERVAL_S, NOW, OverviewStream
from api.streams.schemas import DecisionView, FollowQuery, NowView, RowsQuery, RowsView, VerificationView
from api.streams.stream_writer import StreamConnections
from api.views import Resource, database, master_key, record
from referee.db.engine import Database
from referee.ladders import ratings
from referee.matches import matches
from referee.tournaments.overview import load_overview
from referee.workflows import visibility

resource = Resource("live", "/api/v1", "Live data and streams.")

Json = dict[str, Any]

STARTING: Final = Lock()


# -- a match --


@resource.route("GET", '/matches/<id("mat"):match_id>/rows')
@resource.anyone
@resource.query(RowsQuery)
@resource.reads
@resource.response(RowsView)
def list_rows(query: Json, match_id: str) -> Any:
    """List the visible rows of a match: numbers and masked game events

    Rows are visible immediately, except in rated matches that are not over: there the rows of a round are visible when
    the next round begins, and rows that are a minute old in steps of ten seconds. While other matches play the same
    cards, the rows of a deal are visible when all of these matches have been dealt the next deal or are over. Rows do
    not show how long a seat thought or which bot plays in it.
    """
    current, items = _match_feeds().read_feed(record(), match_id)
    start = query["after"] + 1 if "after" in query else 0
    page = items[start : start + query["limit"]]
    return Extended(
        current,
        rows=len(items),
        placements=visibility.load_placements(record(), match_id) if current.has_ended else None,
        items=page,
        next_after=page[-1]["row"] if page else query.get("after"),
    )


@resource.route("GET", '/matches/<id("mat"):match_id>/stream')
@resource.anyone
@resource.documents(
    parameters=[connections.LAST_EVENT_ID], responses={204: connections.COMPLETE, 503: connections.TOO_MANY}
)
@resource.query(FollowQuery)
@resource.file_response(
    connections.MEDIA_TYPE, "Messages until the log is open.", connections.message_schema("rows", "state", "end")
)
def follow_match(query: Json, match_id: str) -> Response:
    """Follow a match (server-sent events)

    The stream begins with everything that is visible so far. `rows`: `items` as in GET …/rows. `state`: `status`,
    `reason`, `open`, `held_back`, `pace`, and `placements` by seat when the match is over. `end`: the deal group is
    over and everyone may read the whole log. The id of a message is the number of the last row sent: reconnect with it
    in `Last-Event-ID` to receive every row exactly once. Rows become visible as described for GET …/rows.
    """
    with database().read() as session:
        matches.get_match(session, match_id)
    return connections.follow(lambda: connections.get_stream(MatchStream, MatchStream), match_id, query.get("after"))


@resource.route("GET", '/matches/<id("mat"):match_id>/decisions/<int:row>')
@resource.anyone
@resource.reads
@resource.response(DecisionView)
def show_decision(match_id: str, row: int) -> Any:
    """Get a decision, with the question that was sent to the bot

    Available once the log is open; before that 409 `log_not_ready`. The question is rebuilt from the log.
    """
    return log_replay.decision(record(), matches.get_match(record(), match_id), row, master_key())


@resource.route("GET", '/matches/<id("mat"):match_id>/verification')
@resource.anyone
@resource.reads
@resource.response(VerificationView)
def verify(match_id: str) -> Any:
    """Verify the log of a match: hash links, rules, legality, deals, result

    Available once the log is open; before that 409 `log_not_ready`. The log is replayed on the first request; 503
    while too many other logs are being replayed.
    """
    return log_replay.report(record(), matches.get_match(record(), match_id))


# -- a ladder --


@resource.route("GET", '/ladders/<id("lad"):ladder_id>/stream')
@resource.anyone
@resource.documents(parameters=[connections.LAST_EVENT_ID], responses={503: connections.TOO_MANY})
@resource.query(FollowQuery)
@resource.file_response(
    connections.MEDIA_TYPE, "Messages, until the client disconnects.", connections.message_schema("changes")
)
def follow_ladder(query: Json, ladder_id: str) -> Response:
    """Follow a ladder (server-sent events)

    `changes`, at most once a second: `as_of_seq`, and in `items` the rows of the bots whose rating changed since the
    previous message, the latest first, at most 50. The ranks of other bots may have changed too. The id of a message is
    its `as_of_seq`; pass that of a page as `after` to receive all changes since that page.
    """
    with database().read() as session:
        ratings.get_ladder(session, ladder_id)
    return connections.follow(_ladder_stream, ladder_id, query.get("after"))


def _ladder_stream() -> LadderStream:
    def create_stream(database: Database, connections: StreamConnections) -> LadderStream:
        return LadderStream(database, connections, LadderRow().dump)

    return connections.get_stream(LadderStream, create_stream)


# -- the whole service --


@resource.route("GET", "/now")
@resource.anyone
@resource.file_response("application/json", "As in the messages of GET /stream.", NowView)
def show_current_activity() -> Response:
    """Get an overview: some matches in progress, tournaments with their progress, counts

    At most two seconds old.
    """
    return Response(_overview_cache().current_body(), mimetype="application/json")


@resource.route("GET", "/stream")
@resource.anyone
@resource.documents(responses={503: connections.TOO_MANY})
@resource.file_response(
    connections.MEDIA_TYPE, "Messages, until the client disconnects.", connections.message_schema(NOW)
)
def follow_service() -> Response:
    """Follow the service (server-sent events)

    `now`: the overview as in GET /now whenever it changes, at most every two seconds.
    """
    return connections.follow(_overview_stream, NOW)


def _overview_stream() -> OverviewStream:
    overview_cache = _overview_cache()

    def create_stream(database: Database, connections: StreamConnections) -> OverviewStream:
        return OverviewStream(database, connections, overview_cache.current_body)

    return connections.get_stream(OverviewStream, create_stream)


class OverviewCache:
    """The overview as JSON, read once for all requests within two seconds."""

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
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy of werkzeug's
    with STARTING:
        cache: OverviewCache = app.extensions.setdefault("referee.now", OverviewCache(app))
    return cache


def _match_feeds() -> MatchFeedCache:
    with STARTING:
        feeds: MatchFeedCache = current_app.extensions.setdefault("referee.match_feeds", MatchFeedCache())
    return feeds
