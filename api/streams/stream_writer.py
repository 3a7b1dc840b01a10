"""Write to all open stream connections from one thread that never blocks on any of them.

The thread that answered the request hands over its connection and is then free for other requests. So a viewer costs a
socket and a few kilobytes, not a thread.
"""

import logging
import os
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

log = logging.getLogger(__name__)

HEARTBEAT_S: Final = 15.0
HEARTBEAT: Final = b":\n\n"  # a comment; writing it detects peers that disappeared without closing
MAX_BEHIND_BYTES: Final = 512 << 10  # bytes queued for a slow reader, apart from the buffers of the system
LAST_CHUNK: Final = b"0\r\n\r\n"


def chunk(text: bytes) -> bytes:
    """Return ``text`` as a chunk in the chunked transfer coding of HTTP/1.1."""
    return b"%x\r\n%s\r\n" % (len(text), text)


@dataclass(eq=False, slots=True)
class StreamConnection:
    """Hold a connection in the middle of a response. ``on_close`` is called once, when the connection is closed."""

    key: str
    sock: socket.socket
    chunked: bool
    on_close: Callable[[], None]
    behind: deque[bytes] = field(default_factory=deque)
    behind_bytes: int = 0
    last: bool = False  # nothing will be added to ``behind``
    writing: bool = False  # waiting until the system's buffer has room


def take_over(sock: socket.socket) -> socket.socket:
    """Return a new, non-blocking socket for the connection of ``sock``.

    Leave ``sock`` unconnected, so that the server can close it, and whatever the server writes to it is lost. Raise
    ``OSError`` without a free file descriptor, and leave ``sock`` as it is.
    """
    ours = sock.dup()
    try:
        with socket.socket(sock.family, socket.SOCK_STREAM) as unconnected:
            os.dup2(unconnected.fileno(), sock.fileno(), inheritable=False)
    except OSError:
        ours.close()  # the traceback would keep the connection open
        raise
    ours.setblocking(False)
    with suppress(OSError):
        ours.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return ours


class StreamConnections:
    """Write to all stream connections of this process. The key of a connection is the id of its subject.

    Every public method may be called from any thread. It queues a job and returns immediately; the jobs run in the
    order of the calls. ``wait_until_written`` and ``stop`` also wait for their job.
    """

    def __init__(self, heartbeat_s: float = HEARTBEAT_S) -> None:
        self._heartbeat_s = heartbeat_s
        self._by_key: dict[str, set[StreamConnection]] = {}
        self._jobs: deque[Callable[[], None]] = deque()
        self._selector = selectors.DefaultSelector()
        self._wake_sender, self._wake_receiver = socket.socketpair()
        self._wake_receiver.setblocking(False)
        self._wake_sender.setblocking(False)
        self._selector.register(self._wake_receiver, selectors.EVENT_READ, None)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stream-writer", daemon=True)
        self._thread.start()

    def add(self, connection: StreamConnection, text: bytes, *, last: bool = False) -> None:
        """Add a connection, and send it ``text`` first. With ``last``, end its response."""
        self._submit(lambda: self._add(connection, text, last=last))

    def send(self, key: str, text: bytes, *, last: bool = False) -> None:
        """Send ``text`` to all connections of ``key``. With ``last``, end their responses."""
        self._submit(lambda: self._send(key, text, last=last))

    def wait_until_written(self, patience_s: float) -> None:
        """Wait until all queued jobs have been attempted, for at most ``patience_s`` seconds."""
        done = threading.Event()
        self._submit(done.set)
        done.wait(patience_s)

    def stop(self, patience_s: float = 2.0) -> None:
        """End all responses properly. Wait for at most ``patience_s`` seconds, and not for slow readers."""
        self._submit(self._stop)
        self._stopped.wait(patience_s)

    def _submit(self, job: Callable[[], None]) -> None:
        self._jobs.append(job)
        with suppress(OSError):  # the socket's buffer is full, so the thread is being woken already
            self._wake_sender.send(b".")

    # -- in the thread --

    def _run(self) -> None:
        beat_at = time.monotonic() + self._heartbeat_s
        while not self._stopped.is_set():
            for ready, mask in self._selector.select(max(0.0, beat_at - time.monotonic())):
                if ready.data is None:
                    self._wake_receiver.recv(4096)
                else:
                    self._serve(ready.data, mask)
            while self._jobs:
                self._run_job(self._jobs.popleft())
            if time.monotonic() >= beat_at:
                beat_at = time.monotonic() + self._heartbeat_s
                for key in list(self._by_key):
                    self._send(key, HEARTBEAT, last=False)

    def _run_job(self, job: Callable[[], None]) -> None:
        """Run ``job``. Log a failure, so that the thread continues to serve the other connections."""
        try:
            job()
        except Exception:
            log.exception("stream_job_failed")

    def _serve(self, connection: StreamConnection, mask: int) -> None:
        if mask & selectors.EVENT_READ and not _is_connected(connection):
            self._drop(connection)
        elif mask & selectors.EVENT_WRITE:
            self._flush(connection)

    def _add(self, connection: StreamConnection, text: bytes, *, last: bool) -> None:
        self._by_key.setdefault(connection.key, set()).add(connection)
        try:
            self._selector.register(connection.sock, selectors.EVENT_READ, connection)
        except (OSError, ValueError):  # the selector is full, or the socket closed
            log.exception("stream_not_added")
            self._drop(connection)
            return
        self._write([connection], text, last=last)

    def _send(self, key: str, text: bytes, *, last: bool) -> None:
        self._write(list(self._by_key.get(key, ())), text, last=last)

    def _write(self, connections: Iterable[StreamConnection], text: bytes, *, last: bool) -> None:
        """Queue ``text`` for all of these connections, and write as much as they accept now."""
        framed = chunk(text) + (LAST_CHUNK if last else b"")
        for connection in connections:
            if connection.last:
                continue
            piece = framed if connection.chunked else text
            connection.last = last
            connection.behind.append(piece)
            connection.behind_bytes += len(piece)
            if not connection.writing:
                self._flush(connection)
            elif connection.behind_bytes > MAX_BEHIND_BYTES:
                log.info("slow_viewer_dropped", extra={"bytes": connection.behind_bytes})
                self._drop(connection)

    def _flush(self, connection: StreamConnection) -> None:
        """Write as much as the connection accepts now, and wait for room for the rest."""
        behind = connection.behind
        try:
            while behind:
                sent = connection.sock.send(behind[0])
                connection.behind_bytes -= sent
                if sent < len(behind[0]):
                    behind[0] = behind[0][sent:]
                else:
                    behind.popleft()
        except BlockingIOError:
            self._wait_for_room(connection, wanted=True)
            return
        except OSError:
            self._drop(connection)
            return
        self._wait_for_room(connection, wanted=False)
        if connection.last:
            self._drop(connection)

    def _wait_for_room(self, connection: StreamConnection, *, wanted: bool) -> None:
        if connection.writing != wanted:
            connection.writing = wanted
            mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if wanted else 0)
            self._selector.modify(connection.sock, mask, connection)

    def _drop(self, connection: StreamConnection) -> None:
        same_key = self._by_key.get(connection.key, set())
        if connection not in same_key:
            return
        same_key.discard(connection)
        if not same_key:
            del self._by_key[connection.key]
        with suppress(KeyError, ValueError):  # it was never registered
            self._selector.unregister(connection.sock)
        connection.sock.close()
        try:
            connection.on_close()
        except Exception:
            log.exception("stream_cleanup_failed")

    def _stop(self) -> None:
        for connections in list(self._by_key.values()):
            self._write(list(connections), b": the service is shutting down; reconnect\n\n", last=True)
        for connection in list(chain.from_iterable(self._by_key.values())):
            self._drop(connection)
        self._stopped.set()


def _is_connected(connection: StreamConnection) -> bool:
    """Return whether the peer is still connected. Discard data that it sent during our response."""
    try:
        return bool(connection.sock.recv(4096))
    except BlockingIOError:
        return True
    except OSError:
        return False
