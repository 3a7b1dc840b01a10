"""Connections that are written to for hours, all of them by one thread that never waits for any.

What is written, and when, is the stream's. A connection comes here from the thread that answered its request, which is
then free for others: so a viewer costs a socket and a few kilobytes, not a thread.
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
from typing import Final

log = logging.getLogger(__name__)

HEARTBEAT_S: Final = 15.0
HEARTBEAT: Final = b":\n\n"  # a comment: finds peers that have gone without a word
MOST_BEHIND: Final = 512 << 10  # bytes that a slow reader may lag behind what its system's buffers hold
LAST_CHUNK: Final = b"0\r\n\r\n"


def chunk(text: bytes) -> bytes:
    """As HTTP/1.1 frames a piece of a body whose length is not known."""
    return b"%x\r\n%s\r\n" % (len(text), text)


@dataclass(eq=False, slots=True)
class StreamConnection:
    """A connection in the middle of an answer. ``gone`` is called once, when it is closed."""

    key: str
    sock: socket.socket
    chunked: bool
    gone: Callable[[], None]
    behind: deque[bytes] = field(default_factory=deque)
    behind_bytes: int = 0
    last: bool = False  # nothing follows what is behind
    writing: bool = False  # its system's buffer was full


def taken_over(sock: socket.socket) -> socket.socket:
    """The connection of ``sock`` as a socket of our own; the server that owned it is left with one that leads nowhere,
    which it can write to (in vain) and close as it likes."""
    ours = sock.dup()
    with socket.socket(sock.family, socket.SOCK_STREAM) as nowhere:
        os.dup2(nowhere.fileno(), sock.fileno(), inheritable=False)
    ours.setblocking(False)
    with suppress(OSError):
        ours.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return ours


class StreamConnections:
    """All connections of this process, by what they watch. Every method returns at once and may be called by any
    thread; what they ask for happens in the order of the calls."""

    def __init__(self, heartbeat_s: float = HEARTBEAT_S) -> None:
        self._heartbeat_s = heartbeat_s
        self._by_key: dict[str, set[StreamConnection]] = {}
        self._wishes: deque[Callable[[], None]] = deque()
        self._selector = selectors.DefaultSelector()
        self._bell, self._ear = socket.socketpair()
        self._ear.setblocking(False)
        self._bell.setblocking(False)
        self._selector.register(self._ear, selectors.EVENT_READ, None)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lines", daemon=True)
        self._thread.start()

    def add(self, line: StreamConnection, text: bytes, *, last: bool = False) -> None:
        """Takes on a connection, which is first told ``text``."""
        self._wish(lambda: self._add(line, text, last=last))

    def tell(self, key: str, text: bytes, *, last: bool = False) -> None:
        """Writes to all connections of this key; with ``last`` their answers end with it."""
        self._wish(lambda: self._tell(key, text, last=last))

    def settle(self, patience_s: float) -> None:
        """Waits until all that was asked for was tried, but no longer than that."""
        settled = threading.Event()
        self._wish(settled.set)
        settled.wait(patience_s)

    def stop(self, patience_s: float = 2.0) -> None:
        """Ends all answers in good order and waits for that, but not for anybody slow."""
        self._wish(self._stop)
        self._stopped.wait(patience_s)

    def _wish(self, wish: Callable[[], None]) -> None:
        self._wishes.append(wish)
        with suppress(OSError):  # full: it rings already
            self._bell.send(b".")

    # -- in the thread --

    def _run(self) -> None:
        beat_at = time.monotonic() + self._heartbeat_s
        while not self._stopped.is_set():
            for ready, mask in self._selector.select(max(0.0, beat_at - time.monotonic())):
                if ready.data is None:
                    self._ear.recv(4096)
                else:
                    self._serve(ready.data, mask)
            while self._wishes:
                self._fulfil(self._wishes.popleft())
            if time.monotonic() >= beat_at:
                beat_at = time.monotonic() + self._heartbeat_s
                for key in list(self._by_key):
                    self._tell(key, HEARTBEAT, last=False)

    def _fulfil(self, wish: Callable[[], None]) -> None:
        """What goes wrong with one wish is no reason to leave all others alone for good."""
        try:
            wish()
        except Exception:
            log.exception("viewers not served")

    def _serve(self, line: StreamConnection, mask: int) -> None:
        if mask & selectors.EVENT_READ and not _listens(line):
            self._drop(line)
        elif mask & selectors.EVENT_WRITE:
            self._flush(line)

    def _add(self, line: StreamConnection, text: bytes, *, last: bool) -> None:
        self._by_key.setdefault(line.key, set()).add(line)
        try:
            self._selector.register(line.sock, selectors.EVENT_READ, line)
        except (OSError, ValueError):  # no room for another, or it is closed
            log.exception("viewer not taken on")
            self._drop(line)
            return
        self._write([line], text, last=last)

    def _tell(self, key: str, text: bytes, *, last: bool) -> None:
        self._write(list(self._by_key.get(key, ())), text, last=last)

    def _write(self, lines: Iterable[StreamConnection], text: bytes, *, last: bool) -> None:
        """The same bytes to all: they are framed once."""
        framed = chunk(text) + (LAST_CHUNK if last else b"")
        for line in lines:
            if line.last:
                continue
            piece = framed if line.chunked else text
            line.last = last
            line.behind.append(piece)
            line.behind_bytes += len(piece)
            if not line.writing:
                self._flush(line)
            elif line.behind_bytes > MOST_BEHIND:
                log.info("slow viewer dropped", extra={"bytes": line.behind_bytes})
                self._drop(line)

    def _flush(self, line: StreamConnection) -> None:
        """Writes what the connection takes; the rest when it can take more."""
        behind = line.behind
        try:
            while behind:
                sent = line.sock.send(behind[0])
                line.behind_bytes -= sent
                if sent < len(behind[0]):
                    behind[0] = behind[0][sent:]
                else:
                    behind.popleft()
        except BlockingIOError:
            self._await_room(line, wanted=True)
            return
        except OSError:
            self._drop(line)
            return
        self._await_room(line, wanted=False)
        if line.last:
            self._drop(line)

    def _await_room(self, line: StreamConnection, *, wanted: bool) -> None:
        if line.writing != wanted:
            line.writing = wanted
            mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if wanted else 0)
            self._selector.modify(line.sock, mask, line)

    def _drop(self, line: StreamConnection) -> None:
        mine = self._by_key.get(line.key, set())
        if line not in mine:
            return
        mine.discard(line)
        if not mine:
            del self._by_key[line.key]
        with suppress(KeyError, ValueError):  # it was never registered
            self._selector.unregister(line.sock)
        line.sock.close()
        try:
            line.gone()
        except Exception:
            log.exception("viewer gone, but not forgotten")

    def _stop(self) -> None:
        for lines in list(self._by_key.values()):
            self._write(list(lines), b": the service stops; come back\n\n", last=True)
        for line in [line for lines in list(self._by_key.values()) for line in lines]:
            self._drop(line)
        self._stopped.set()


def _listens(line: StreamConnection) -> bool:
    """Whether the other end is still there. What it says in the middle of our answer is of no interest."""
    try:
        return bool(line.sock.recv(4096))
    except BlockingIOError:
        return True
    except OSError:
        return False
