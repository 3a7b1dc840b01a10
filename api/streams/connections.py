"""From a request to a stream: a place for the viewer, its connection handed to the lines, what it missed told first."""

import errno
import random
import re
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any, Final, TypeVar, cast

from flask import Flask, Response, current_app, request

from api import limits
from api.errors import invalid
from api.streams.connection_limits import Places
from api.streams.hub import Feed, Hub, StreamViewer
from api.streams.stream_writer import StreamConnection, StreamConnections, taken_over
from api.views import database
from referee.db import change_notifier
from referee.db.engine import Database
from referee.settings import Settings

MEDIA_TYPE: Final = "text/event-stream"
HOLDING_THREADS: Final = 16  # viewers whose connection cannot be taken over, at once
RETRY_AFTER_S: Final = 10
CATCHING_UP_S: Final = 10.0  # that a viewer may take to read a piece of what it missed
LAST_EVENT_ID: Final = {
    "in": "header",
    "name": "Last-Event-ID",
    "schema": {"type": "string", "pattern": r"^[0-9]{1,18}(\.end)?$"},
    "description": "The id of the last message received: what was told since is told again, from the record.",
}
TOO_MANY: Final = {"description": "As many viewers as there may be, in all or from one address; see Retry-After."}
ALL_TOLD: Final = {"description": "`Last-Event-ID` is that of the end: it is over and all of it was told."}

_STARTING = threading.Lock()
H = TypeVar("H", bound=Hub[Any])


def schema_of(*names: str) -> dict[str, Any]:
    """How the messages of a stream with these events look, for the document of the API."""
    return {
        "type": "object",
        "properties": {
            "event": {"type": "string", "enum": list(names)},
            "id": {"type": "string"},
            "data": {"type": "string", "contentMediaType": "application/json", "description": "a JSON object"},
            "retry": {"type": "integer", "description": "milliseconds to wait before coming back"},
        },
    }


class Hubs:
    """The hubs of this process, each made when it is first asked for, and the lines they write to."""

    def __init__(self, database: Database, redis_url: str | None) -> None:
        self.database = database
        self._lines = StreamConnections()
        self._hubs: dict[str, Hub[Any]] = {}
        self._stopped = threading.Event()
        if redis_url is not None:
            words = (change_notifier.connect(redis_url), self.wake, self._stopped)
            threading.Thread(target=change_notifier.listen, args=words, name="words", daemon=True).start()

    def get(self, kind: type[H], make: Callable[[Database, StreamConnections], H]) -> H:
        if kind.__name__ not in self._hubs:
            self._hubs[kind.__name__] = make(self.database, self._lines)
        return cast(H, self._hubs[kind.__name__])

    def wake(self) -> None:
        for hub in list(self._hubs.values()):
            hub.wake()

    def close(self) -> None:
        """Ends all streams."""
        self._stopped.set()
        for hub in list(self._hubs.values()):
            hub.close()
        self._lines.stop()


def hub(kind: type[H], make: Callable[[Database, StreamConnections], H]) -> H:
    """The hub of this kind in this process."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy of werkzeug's
    settings: Settings = app.config["SETTINGS"]
    with _STARTING:
        hubs: Hubs | None = app.extensions.get("referee.hubs")
        if hubs is None or hubs.database is not database():
            hubs = app.extensions["referee.hubs"] = Hubs(database(), settings.redis_url)
        return hubs.get(kind, make)


def close(app: Flask) -> None:
    """Ends all streams of this process."""
    hubs: Hubs | None = app.extensions.pop("referee.hubs", None)
    if hubs is not None:
        hubs.close()


def stream(hub: Callable[[], Hub[Any]], id: str, after: int | None = None) -> Response:
    """The answer that follows this thing: from ``Last-Event-ID`` on, or else from ``after``."""
    known, ended = _last_event_id()
    after = after if known is None else known
    if request.method == "HEAD":
        return _answer([])
    sock = _connection()
    give_back = _places(None if sock is None else "taken over").take(limits.address())
    try:
        watched = hub()
        feed = watched.open(id)
    except BaseException:
        give_back()
        raise

    def on_close(viewer: StreamViewer | None = None) -> None:
        if give_back():
            watched.leave(feed, viewer)

    if ended and after is not None and watched.is_past(feed, after):
        on_close()
        return Response(status=204)
    return _answer(_Stream(watched, feed, after, sock, on_close))


class _Stream:
    """The body of the answer: what was missed in the thread of the request, all the rest from the thread of the lines.

    Where the connection cannot be taken over, the thread of the request stays with it.
    """

    def __init__(
        self, hub: Hub[Any], feed: Feed, after: int | None, sock: socket.socket | None, left: Callable[..., None]
    ) -> None:
        self._hub, self._feed, self._after, self._sock, self._left = hub, feed, after, sock, left
        self._chunked = request.environ.get("SERVER_PROTOCOL") == "HTTP/1.1"
        self._viewer: StreamViewer | None = None
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
        yield from self._hub.catch_up(self._feed, self._after, self._hand_over)
        # The server would end the answer; it takes this for a connection that broke, and leaves it alone.
        raise OSError(errno.ENOTCONN, "the connection was handed on")

    def _hand_over(self, text: bytes, last: bool) -> None:
        sock = taken_over(cast(socket.socket, self._sock))
        self._taken_over = True
        self._hub.lines.add(StreamConnection(self._feed.id, sock, self._chunked, self._left), text, last=last)

    def _with_this_thread(self) -> Iterator[bytes]:
        viewer = self._viewer = StreamViewer()

        def stay(text: bytes, last: bool) -> None:
            viewer.put(text, last=last)
            self._feed.waiting.add(viewer)

        yield from self._hub.catch_up(self._feed, self._after, stay)
        last = False
        try:
            while not last:
                text, last = viewer.get()
                yield text
        finally:
            self._leave()


def _answer(body: Any) -> Response:
    response = Response(body, mimetype=MEDIA_TYPE, direct_passthrough=True)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"  # told to the proxy in front
    return response


def _last_event_id() -> tuple[int | None, bool]:
    """Up to what the caller was told, and whether the end was told too."""
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
