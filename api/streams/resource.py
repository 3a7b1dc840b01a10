"""What goes on now: the rows of a match as they may be told, a ladder as it moves, the whole service; and what a match
that is over has to show of each decision."""

import time
from threading import Lock
from typing import Any, Final

import orjson
from flask import Flask, Response, current_app
from sqlalchemy.orm import Session

from api.ladders.schemas import LadderRow
from api.ladders.stream import LadderHub
from api.matches import log_replay
from api.matches.match_feed import Tellings
from api.matches.stream import MatchHub
from api.presentation import Extended, attach_seats
from api.streams import connections
from api.streams.overview import NOW, PACE_S, NowHub
from api.streams.schemas import DecisionView, FollowQuery, NowView, RowsQuery, RowsView, VerificationView
from api.streams.stream_writer import StreamConnections
from api.views import Resource, database, master_key, record
from referee.db.engine import Database
from referee.ladders import ratings
from referee.matches import matches
from referee.tournaments.overview import overview
from referee.workflows import visibility

resource = Resource("live", "/api/v1", "What goes on now.")

Json = dict[str, Any]

STARTING: Final = Lock()


# -- a match --


@resource.route("GET", '/matches/<id("mat"):match_id>/rows')
@resource.anyone
@resource.query(RowsQuery)
@resource.reads
@resource.response(RowsView)
def list_rows(query: Json, match_id: str) -> Any:
    """The rows of a match as they may be told now: numbers and masked events

    At once, except in rated play that is not over: there the rows of a round are told when the next begins, and rows
    that are a minute old in steps of ten seconds. While other matches play the same cards, those of a deal are told
    when all of them have been dealt the next, or are over. Nothing tells how long a seat thought, or who sits there.
    """
    standing, items = _tellings().read_feed(record(), match_id)
    start = query["after"] + 1 if "after" in query else 0
    page = items[start : start + query["limit"]]
    return Extended(
        standing,
        rows=len(items),
        placements=visibility.placements(record(), match_id) if standing.ended else None,
        items=page,
        next_after=page[-1]["row"] if page else query.get("after"),
    )


@resource.route("GET", '/matches/<id("mat"):match_id>/stream')
@resource.anyone
@resource.documents(
    parameters=[connections.LAST_EVENT_ID], responses={204: connections.ALL_TOLD, 503: connections.TOO_MANY}
)
@resource.query(FollowQuery)
@resource.file_response(
    connections.MEDIA_TYPE, "Messages until the log is open.", connections.schema_of("rows", "state", "end")
)
def follow_match(query: Json, match_id: str) -> Response:
    """A match as it goes on (server-sent events)

    `rows` (`items` as GET …/rows has them), `state` (`status`, `reason`, `open`, `held_back`, `pace`; `placements`
    by seat when it is over), `end` when its deal group is over and everybody may read the whole log. First all that
    may be told so far, then what comes. The id of a message is the number of the last row that was told: come back
    with it in `Last-Event-ID`, and no row is lost or told twice. Rows come as GET …/rows tells them.
    """
    with database().read() as session:
        matches.get_match(session, match_id)
    return connections.stream(lambda: connections.hub(MatchHub, MatchHub), match_id, query.get("after"))


@resource.route("GET", '/matches/<id("mat"):match_id>/decisions/<int:row>')
@resource.anyone
@resource.reads
@resource.response(DecisionView)
def show_decision(match_id: str, row: int) -> Any:
    """A decision, with the question as it was put to the bot

    Once the log is open; before that 409 `log_not_ready`. The question is built again from the log.
    """
    return log_replay.decision(record(), matches.get_match(record(), match_id), row, master_key())


@resource.route("GET", '/matches/<id("mat"):match_id>/verification')
@resource.anyone
@resource.reads
@resource.response(VerificationView)
def verify(match_id: str) -> Any:
    """Whether the log of a match holds: links, rules, legality, deals, result

    Once the log is open; before that 409 `log_not_ready`. It is replayed when it is first asked for; 503 while
    others are being replayed.
    """
    return log_replay.report(record(), matches.get_match(record(), match_id))


# -- a ladder --


@resource.route("GET", '/ladders/<id("lad"):ladder_id>/stream')
@resource.anyone
@resource.documents(parameters=[connections.LAST_EVENT_ID], responses={503: connections.TOO_MANY})
@resource.query(FollowQuery)
@resource.file_response(connections.MEDIA_TYPE, "Messages without end.", connections.schema_of("changes"))
def follow_ladder(query: Json, ladder_id: str) -> Response:
    """A ladder as it moves (server-sent events)

    `changes`, at most once a second: `as_of_seq`, and in `items` the lines of the bots whose rating changed since the
    message before, the latest first, at most 50. Others may have other ranks by that. The id of a message is its
    `as_of_seq`; with that of a page as `after` nothing between the page and the stream is lost.
    """
    with database().read() as session:
        ratings.get_ladder(session, ladder_id)
    return connections.stream(_ladder_hub, ladder_id, query.get("after"))


def _ladder_hub() -> LadderHub:
    def create_hub(database: Database, lines: StreamConnections) -> LadderHub:
        return LadderHub(database, lines, LadderRow().dump)

    return connections.hub(LadderHub, create_hub)


# -- the whole service --


@resource.route("GET", "/now")
@resource.anyone
@resource.file_response("application/json", "As GET /stream tells it.", NowView)
def show_current_activity() -> Response:
    """What is going on: some matches under way, events and how far they are, how many there are

    At most two seconds old.
    """
    return Response(_activity_cache().current_body(), mimetype="application/json")


@resource.route("GET", "/stream")
@resource.anyone
@resource.documents(responses={503: connections.TOO_MANY})
@resource.file_response(connections.MEDIA_TYPE, "Messages without end.", connections.schema_of(NOW))
def follow_service() -> Response:
    """What is going on, as it changes (server-sent events)

    `now`, at most every two seconds, as GET /now gives it.
    """
    return connections.stream(_now_hub, NOW)


def _now_hub() -> NowHub:
    now = _activity_cache()

    def create_hub(database: Database, lines: StreamConnections) -> NowHub:
        return NowHub(database, lines, now.current_body)

    return connections.hub(NowHub, create_hub)


class Now:
    """What is going on, as JSON, found for all who ask within two seconds."""

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
                self._until = time.monotonic() + PACE_S
            return self._data


def _overview(session: Session) -> Extended:
    found = overview(session)
    matches_shown = attach_seats(session, found.matches, visibility.seats_told(session, found.matches))
    return Extended(
        found, matches=matches_shown, tournaments=[Extended(event, progress=far) for event, far in found.events]
    )


def _activity_cache() -> Now:
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy of werkzeug's
    with STARTING:
        now: Now = app.extensions.setdefault("referee.now", Now(app))
    return now


def _tellings() -> Tellings:
    with STARTING:
        tellings: Tellings = current_app.extensions.setdefault("referee.tellings", Tellings())
    return tellings
