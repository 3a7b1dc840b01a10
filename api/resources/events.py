"""An event as it goes on, as server-sent events. What is told is decided in ``api.stream``; ``api.lines`` writes it."""

import errno
import random
import re
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict
from typing import Any, Final, cast

from flask import Flask, Response, current_app, request

from api import limits, rankings
from api.errors import invalid
from api.lines import Line, taken_over
from api.places import Places
from api.resources import standings
from api.resources.tournaments import to_the_minute
from api.schemas.base import Moment
from api.stream import LINES, Feed, Hub, Views, Waiting
from api.views import Resource, database
from referee import live
from referee.settings import Settings
from referee.store.events import tournaments
from referee.store.events.progress import Progress

resource = Resource("events", "/api/v1/tournaments", "An event as it goes on.")

Json = dict[str, Any]

MEDIA_TYPE: Final = "text/event-stream"
HOLDING_THREADS: Final = 16  # viewers whose connection cannot be taken over, at once
RETRY_AFTER_S: Final = 10
CATCHING_UP_S: Final = 10.0  # that a viewer may take to read a piece of what it missed
LAST_EVENT_ID: Final = {
    "in": "header",
    "name": "Last-Event-ID",
    "schema": {"type": "string", "pattern": r"^[0-9]{1,18}(\.end)?$"},
    "description": "The id of the last message received: what ended since is told again, from the record.",
}

MESSAGE: Final = {
    "type": "object",
    "properties": {
        "event": {"type": "string", "enum": ["match", "progress", "standings", "end"]},
        "id": {"type": "string"},
        "data": {"type": "string", "contentMediaType": "application/json", "description": "a JSON object"},
        "retry": {"type": "integer", "description": "milliseconds to wait before coming back"},
    },
}

_STARTING = threading.Lock()


@resource.on("GET", '/<id("trn"):tournament_id>/events')
@resource.anyone
@resource.documents(
    parameters=[LAST_EVENT_ID],
    responses={
        204: {"description": "`Last-Event-ID` is that of the end: the event is over and all of it was told."},
        503: {"description": "As many viewers as there may be, in all or from one address; see Retry-After."},
    },
)
@resource.gives_file(MEDIA_TYPE, "Messages for as long as the event goes on.", MESSAGE)
def follow(tournament_id: str) -> Response:
    """An event as it goes on (server-sent events)

    First how it stands, then what changes: `match` (one that has its result: `id`, `seq`, `stage`, `table`, `leg`,
    `status`, `reason`, `entrants`, `bots`, `placements`, `returns` by seat, `finished_at`), `progress` (`status`,
    `reason` and what `progress` of the event has), `standings` (`as_of_seq`, `results` and the first 50 lines as
    GET …/standings has them, but for points per match and error bars), `end` (`status`, `reason`, `as_of_seq`) when
    the event is over; then the stream ends. Progress and standings come at most once a second. Each message has the
    number of the last result that was told as its id: come back with it in `Last-Event-ID`, and no match is lost or
    told twice.
    """
    with database().read() as session:
        tournaments.get_tournament(session, tournament_id)
    after, ended = _last_event_id()
    if request.method == "HEAD":
        return _answer([])
    hub, sock = _hub(), _connection()
    give_back = _places(None if sock is None else "taken over").take(limits.address())
    try:
        feed = hub.open(tournament_id)
    except BaseException:
        give_back()
        raise

    def left(viewer: Waiting | None = None) -> None:
        if give_back():
            hub.leave(feed, viewer)

    if ended and after is not None and hub.is_past(feed, after):
        left()
        return Response(status=204)
    return _answer(_Stream(hub, feed, after, sock, left))


class _Stream:
    """The body of the answer: what was missed in the thread of the request, all the rest from the thread of the lines.

    Where the connection cannot be taken over, the thread of the request stays with it.
    """

    def __init__(
        self, hub: Hub, feed: Feed, after: int | None, sock: socket.socket | None, left: Callable[..., None]
    ) -> None:
        self._hub, self._feed, self._after, self._sock, self._left = hub, feed, after, sock, left
        self._chunked = request.environ.get("SERVER_PROTOCOL") == "HTTP/1.1"
        self._viewer: Waiting | None = None
        self._taken_over = False
        self._pieces: Generator[bytes, None, None] = self._all()

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        self._pieces.close()
        if not self._taken_over:
            self._leave()

    def _leave(self) -> None:
        self._left(self._viewer)

    def _all(self) -> Generator[bytes, None, None]:
        # Not the same for all: after a restart they would all come back at once.
        yield b"retry: %d\n\n" % random.randint(1000, 3000)  # noqa: S311  # no secret
        if self._sock is None:
            yield from self._with_this_thread()
            return
        self._sock.settimeout(CATCHING_UP_S)
        yield from self._hub.missed(self._feed, self._after, self._hand_over)
        # The server would end the answer; it takes this for a connection that broke, and leaves it alone.
        raise OSError(errno.ENOTCONN, "the connection was handed on")

    def _hand_over(self, text: bytes, last: bool) -> None:
        sock = taken_over(cast(socket.socket, self._sock))
        self._taken_over = True
        self._hub.lines.add(Line(self._feed.id, sock, self._chunked, self._left), text, last=last)

    def _with_this_thread(self) -> Iterator[bytes]:
        viewer = self._viewer = Waiting()

        def stay(text: bytes, last: bool) -> None:
            viewer.put(text, last=last)
            self._feed.waiting.add(viewer)

        yield from self._hub.missed(self._feed, self._after, stay)
        last = False
        try:
            while not last:
                text, last = viewer.get()
                yield text
        finally:
            self._leave()


def close(app: Flask) -> None:
    """Ends all streams of this process."""
    hub: Hub | None = app.extensions.pop("referee.hub", None)
    if hub is not None:
        hub.close()


def _answer(body: Any) -> Response:
    response = Response(body, mimetype=MEDIA_TYPE, direct_passthrough=True)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"  # told to the proxy in front
    return response


def _last_event_id() -> tuple[int | None, bool]:
    """Up to which result the caller was told, and whether the end was told too."""
    text = request.headers.get("Last-Event-ID", "").strip()
    if not text:
        return None, False
    if not re.fullmatch(r"[0-9]{1,18}(\.end)?", text, re.ASCII):
        raise invalid([("Last-Event-ID", "not an id of this stream")])
    return int(text.partition(".")[0]), text.endswith(".end")


def _connection() -> socket.socket | None:
    """The connection of this request, where it may be taken over: plain HTTP/1 under gunicorn's threads."""
    environ = request.environ
    sock = environ.get("gunicorn.socket")
    plain = type(sock) is socket.socket and environ.get("SERVER_PROTOCOL") in ("HTTP/1.0", "HTTP/1.1")
    return sock if plain and environ.get("wsgi.multithread") else None


def _places(kind: str | None) -> Places:
    settings: Settings = current_app.config["SETTINGS"]
    most = settings.streams if kind else min(HOLDING_THREADS, settings.streams)
    name = f"referee.streams {kind}"
    with _STARTING:
        if name not in current_app.extensions:
            each = settings.streams_per_address
            current_app.extensions[name] = Places("viewers", most, each, RETRY_AFTER_S)
        return cast(Places, current_app.extensions[name])


def _hub() -> Hub:
    """That of this process, started when first asked for."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy of werkzeug's
    with _STARTING:
        hub: Hub | None = app.extensions.get("referee.hub")
        if hub is None or hub.database is not database():
            hub = app.extensions["referee.hub"] = _started(app)
        return hub


def _started(app: Flask) -> Hub:
    def table(tournament_id: str) -> Json:
        with app.app_context():
            kept = rankings.of_event(tournament_id)
            rows = rankings.table(kept)[:LINES]
            return {**standings.snapshot(kept), "items": standings.lines(kept, tournament_id, rows, with_bars=False)}

    hub = Hub(database(), Views(_progress, table))
    settings: Settings = app.config["SETTINGS"]
    if settings.redis_url is not None:
        words = (live.connect(settings.redis_url), hub.wake, hub.stopped)
        threading.Thread(target=live.listen, args=words, name="words", daemon=True).start()
    return hub


def _progress(found: Progress) -> Json:
    ended = Moment()._serialize(to_the_minute(found.estimated_end), None, None)
    return {**asdict(found), "estimated_end": ended}
