"""Close connections of clients that send or read so slowly that they would occupy the threads of the API.

``gunicorn_worker`` closes connections that stall. The limits here are for those that go on, a few bytes at a time: a
request must arrive in a certain time, a response must be read at a certain rate, and slow clients get half of the
threads. Event streams are not affected, since they occupy no thread.
"""

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

log = logging.getLogger(__name__)

MIN_RATE_BYTES_PER_S: Final = 4_096  # at which a response must be read, on average
SLOW_AFTER_S: Final = 2.0  # spent on waiting for a client in one request
SLOW_PART: Final = 2  # slow clients occupy at most one in this many threads
_LOOK_EVERY_S: Final = 0.5

WsgiApp = Callable[[dict[str, Any], Any], Iterable[bytes]]


@dataclass(eq=False, slots=True)
class _Client:
    """Hold what a thread of the API knows about the client of its current request."""

    sock: socket.socket
    since: float | None  # since when the thread waits for the client; None while it does not
    due: float  # when the client must be done with what the thread waits for
    waited_s: float = 0.0  # in earlier waits of this request
    sent_bytes: int = 0
    sending_since: float | None = None

    def total_s(self, now: float) -> float:
        return self.waited_s + (0.0 if self.since is None else now - self.since)


class SlowClients:
    """Keep track of the clients for which threads wait, and disconnect those that are too slow."""

    def __init__(self, threads: int, request_timeout_s: float, seconds: Callable[[], float] = time.monotonic) -> None:
        self._most_slow = max(1, threads // SLOW_PART)
        self._request_timeout_s = request_timeout_s
        self._seconds = seconds
        self._lock = threading.Lock()
        self._clients: dict[int, _Client] = {}  # by thread

    def start(self) -> None:
        """Look for slow clients from now on, in a thread of its own."""
        threading.Thread(target=self._look_for_ever, name="slow-clients", daemon=True).start()

    @contextmanager
    def serve(self, sock: socket.socket) -> Iterator[None]:
        """Watch the client of ``sock`` while this thread serves a request."""
        now = self._seconds()
        thread = threading.get_ident()
        with self._lock:
            self._clients[thread] = _Client(sock, now, now + self._request_timeout_s)
        try:
            yield
        finally:
            with self._lock:
                del self._clients[thread]

    def watch(self, app: WsgiApp) -> WsgiApp:
        """Return the application with its waits for clients noted: those for the body, and those for readers."""

        def call_app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            client = self._clients[threading.get_ident()]
            environ["wsgi.input"] = _WatchedInput(environ["wsgi.input"], self, client)
            self.end_wait(client)
            return self._send(client, app(environ, start_response))

        return call_app

    def close_slow(self) -> int:
        """Disconnect the clients that are over a limit. Return their number."""
        now = self._seconds()
        with self._lock:
            waiting = [client for client in self._clients.values() if client.since is not None]
            late = {client for client in waiting if now >= client.due}
            slow = [client for client in waiting if client not in late and client.total_s(now) > SLOW_AFTER_S]
            slow.sort(key=lambda client: -client.total_s(now))
            late.update(slow[: max(0, len(slow) - self._most_slow)])
            for client in late:
                client.due = float("inf")
                client.since = None
                with suppress(OSError):  # closed by the other side, or handed over to a stream
                    socket.socket.shutdown(client.sock, socket.SHUT_RDWR)  # also of a TLS socket, in mid-read
        if late:
            log.info("slow_connections_closed", extra={"count": len(late)})
        return len(late)

    def begin_wait(self, client: _Client) -> None:
        client.since = self._seconds()

    def end_wait(self, client: _Client) -> None:
        with self._lock:
            client.waited_s = client.total_s(self._seconds())
            client.since = None

    def _send(self, client: _Client, parts: Iterable[bytes]) -> Iterator[bytes]:
        try:
            for part in parts:
                now = self._seconds()
                client.sending_since = client.sending_since or now
                client.sent_bytes += len(part)
                client.due = client.sending_since + self._request_timeout_s + client.sent_bytes / MIN_RATE_BYTES_PER_S
                client.since = now
                yield part
                self.end_wait(client)
        finally:
            if hasattr(parts, "close"):
                parts.close()
            self.begin_wait(client)  # for the rest of the request, if the application did not read all of it

    def _look_for_ever(self) -> None:
        while True:
            time.sleep(_LOOK_EVERY_S)
            self.close_slow()


class _WatchedInput:
    """Note each wait for a part of the body."""

    def __init__(self, body: Any, clients: SlowClients, client: _Client) -> None:
        self._body = body
        self._clients = clients
        self._client = client

    def read(self, *size: int) -> Any:
        self._clients.begin_wait(self._client)
        try:
            return self._body.read(*size)
        finally:
            self._clients.end_wait(self._client)
