"""Answer a request with a stream: send the messages that were missed, then move the connection to the stream writer."""

import errno
import random
import re
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any, Final, TypeVar, cast

from flask import Flask, Response, current_app, request

from api import limits
from api.errors import invalid
from api.streams.connection_limits import ConnectionLimit
from api.streams.stream import Feed, Stream, StreamViewer
from api.streams.stream_writer import StreamConnection, StreamConnections, take_over
from api.views import database, get_shared
from referee.db import change_notifier
from referee.db.engine import Database
from referee.settings import Settings

MEDIA_TYPE: Final = "text/event-stream"
BLOCKED_THREADS: Final = 16  # most concurrent viewers whose connections cannot be taken over
RETRY_AFTER_S: Final = 10
CATCH_UP_S: Final = 10.0  # time within which a viewer must read each piece of the messages it missed
_STARTING = threading.Lock()
S = TypeVar("S", bound=Stream[Any])


class StreamRegistry:
    """Create the streams of this process on first use, and hold the connections to which they write."""

    def __init__(self, database: Database, redis_url: str | None) -> None:
        self.database = database
        self._connections = StreamConnections()
        self._streams: dict[str, Stream[Any]] = {}
        self._stopped = threading.Event()
        if redis_url is not None:
            arguments = (change_notifier.connect(redis_url), self.wake, self._stopped)
            threading.Thread(
                target=change_notifier.listen, args=arguments, name="change-notifications", daemon=True
            ).start()

    def get(self, kind: type[S], *arguments: Any) -> S:
        if kind.__name__ not in self._streams:
            self._streams[kind.__name__] = kind(self.database, self._connections, *arguments)
        return cast(S, self._streams[kind.__name__])

    def wake(self) -> None:
        for stream in list(self._streams.values()):
            stream.wake()

    def close(self) -> None:
        """End all streams."""
        self._stopped.set()
        for stream in list(self._streams.values()):
            stream.close()
        self._connections.stop()


def _get_stream(kind: type[S], *arguments: Any) -> S:
    name, redis_url = "referee.stream_registry", current_app.config["SETTINGS"].redis_url
    with _STARTING:
        registry: StreamRegistry | None = current_app.extensions.get(name)
        if registry is None or registry.database is not database():
            registry = current_app.extensions[name] = StreamRegistry(database(), redis_url)
        return registry.get(kind, *arguments)


def close(app: Flask) -> None:
    """End all streams of this process."""
    registry: StreamRegistry | None = app.extensions.pop("referee.stream_registry", None)
    if registry is not None:
        registry.close()


def count_viewers(app: Flask) -> int:
    """Return the number of viewers of streams of this process."""
    limits = (app.extensions.get(name) for name in list(app.extensions) if name.startswith("referee.streams "))
    return sum(limit.in_use for limit in limits if isinstance(limit, ConnectionLimit))


def follow(kind: type[Stream[Any]], id: str, after: int | None = None, *arguments: Any) -> Response:
    """Return a response that follows subject ``id`` after the message in ``Last-Event-ID``, by default after ``after``.

    The stream of this ``kind`` in this process is created with ``arguments`` on first use. Raise a 503 at the limit.
    """
    last_id, ended = _last_event_id()
    after = after if last_id is None else last_id
    if request.method == "HEAD":
        return _response([])
    sock = _connection()
    release = _connection_limit(None if sock is None else "taken over").acquire(limits.caller_address())
    try:
        stream = _get_stream(kind, *arguments)
        feed = stream.open(id)
    except BaseException:
        release()
        raise

    def on_close(viewer: StreamViewer | None = None) -> None:
        if release():
            stream.leave(feed, viewer)

    if ended and after is not None and stream.is_complete(feed, after):
        on_close()
        return Response(status=204)
    return _response(_StreamBody(stream, feed, after, sock, on_close))


class _StreamBody:
    """Generate the response body. The request's thread writes missed messages, the stream writer all later ones.

    If the connection cannot be taken over, the request's thread writes all messages.
    """

    def __init__(
        self,
        stream: Stream[Any],
        feed: Feed,
        after: int | None,
        sock: socket.socket | None,
        on_close: Callable[..., None],
    ) -> None:
        self._stream, self._feed, self._after, self._sock, self._on_close = stream, feed, after, sock, on_close
        self._chunked = request.environ.get("SERVER_PROTOCOL") == "HTTP/1.1"
        self._viewer: StreamViewer | None = None
        self._taken_over = False
        self._pieces: Generator[bytes, None, None] = self._generate()

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        self._pieces.close()
        if not self._taken_over:
            self._leave()

    def _leave(self) -> None:
        self._on_close(self._viewer)

    def _generate(self) -> Generator[bytes, None, None]:
        # Random, so that viewers do not all reconnect at the same moment after a restart.
        yield b"retry: %d\n\n" % random.randint(1000, 3000)  # noqa: S311  # not a secret
        if self._sock is None:
            yield from self._write_in_this_thread()
            return
        self._sock.settimeout(CATCH_UP_S)
        yield from self._stream.catch_up(self._feed, self._after, self._hand_over)
        # Otherwise the server would end the response. It leaves alone a connection that seems broken.
        raise OSError(errno.ENOTCONN, "the connection was handed over to the stream writer")

    def _hand_over(self, text: bytes, last: bool) -> None:
        sock = take_over(cast(socket.socket, self._sock))
        self._taken_over = True
        connection = StreamConnection(self._feed.id, sock, self._chunked, self._on_close)
        self._stream.connections.add(connection, text, last=last)

    def _write_in_this_thread(self) -> Iterator[bytes]:
        viewer = self._viewer = StreamViewer()

        def accept(text: bytes, last: bool) -> None:
            viewer.put(text, last=last)
            self._feed.waiting.add(viewer)

        yield from self._stream.catch_up(self._feed, self._after, accept)
        last = False
        try:
            while not last:
                text, last = viewer.get()
                yield text
        finally:
            self._leave()


def _response(body: Any) -> Response:
    response = Response(body, mimetype=MEDIA_TYPE, direct_passthrough=True)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"  # a proxy must not buffer the stream
    return response


def _last_event_id() -> tuple[int | None, bool]:
    """Return the number in ``Last-Event-ID`` (None without the header), and whether it names the final message.

    Raise a 422 for an invalid header.
    """
    text = request.headers.get("Last-Event-ID", "").strip()
    if not text:
        return None, False
    if not re.fullmatch(r"[0-9]{1,18}(\.end)?", text, re.ASCII):
        raise invalid([("Last-Event-ID", "Must be the id of a message of this stream.")])
    return int(text.partition(".")[0]), text.endswith(".end")


def _connection() -> socket.socket | None:
    """Return the socket of this request if it can be taken over (plain HTTP/1 under gunicorn's threads), else None."""
    environ = request.environ
    sock = environ.get("gunicorn.socket")
    plain = type(sock) is socket.socket and environ.get("SERVER_PROTOCOL") in ("HTTP/1.0", "HTTP/1.1")
    return sock if plain and environ.get("wsgi.multithread") else None


def _connection_limit(kind: str | None) -> ConnectionLimit:
    settings: Settings = current_app.config["SETTINGS"]
    most = settings.streams if kind else min(BLOCKED_THREADS, settings.streams)
    make = partial(ConnectionLimit, "viewers", most, settings.streams_per_address, RETRY_AFTER_S)
    return get_shared(f"referee.streams {kind}", make)
