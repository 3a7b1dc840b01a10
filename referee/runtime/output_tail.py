"""Read the output of a child process and keep its beginning, its end and its last Python traceback."""

import os
import re
import select
import threading
import time
from contextlib import suppress
from typing import IO, Final

MAX_BYTES: Final = 4096
MAX_TRACEBACK_LINES: Final = 40
PIECE_BYTES: Final = 65_536
READ_PAUSE_S: Final = 0.005  # after every full piece, so that endless output is slowed down and uses no disk
POLL_S: Final = 0.005
TRACEBACK: Final = b"Traceback (most recent call last):"
# This matches the last line of a traceback, unless threads interleave their output.
RAISED: Final = re.compile(rb"[A-Za-z_][\w.]*(:|$)")
# Servers write a traceback with one of these errors when we close a connection whose match is no longer needed.
HUNG_UP: Final = (b"BrokenPipeError", b"ConnectionResetError", b"ConnectionAbortedError")


class OutputTail:
    """Read a pipe in a background thread, which ``follow`` starts, so that the writer never blocks for long.

    Everything that is read is also written to the file descriptor ``copy_to``, if there is one.
    """

    def __init__(self, pipe: IO[bytes], copy_to: int | None = None) -> None:
        self._copy_to = copy_to
        self.head = b""
        self._tail = b""
        self._traceback: list[bytes] = []  # the lines of the last complete traceback
        self._begun: list[bytes] = []  # the lines of an incomplete traceback
        self._cut = b""  # an incomplete line
        self._pipe = pipe
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reading = threading.Lock()

    def follow(self) -> None:
        """Start reading. Call this once, and after forking child processes, because it starts a thread."""
        self._reader.start()

    def lines(self, most: int) -> str:
        """Return the last ``most`` lines, or fewer if the last ``MAX_BYTES`` of the output contain fewer."""
        return "\n".join(self._tail.decode(errors="replace").splitlines()[-most:])

    def traceback(self, most: int) -> str:
        """Return the last ``most`` lines of the last Python traceback, or an empty string. Tracebacks of closed
        connections do not count."""
        return b"\n".join(self._traceback[-most:]).decode(errors="replace")

    def settle(self, patience_s: float) -> None:
        """Wait until all output written so far has been read, but at most ``patience_s`` seconds."""
        end = time.monotonic() + patience_s
        while self._reader.is_alive() and time.monotonic() < end:
            with self._reading:
                if not self._is_readable(0):
                    return
            time.sleep(POLL_S)

    def end(self, patience_s: float) -> None:
        """Wait at most ``patience_s`` seconds for the end of the output, and close the pipe if it was reached."""
        if self._reader.ident is not None:
            self._reader.join(patience_s)
        if not self._reader.is_alive():
            self._pipe.close()

    def _read(self) -> None:
        while self._is_readable(None):
            with self._reading:
                piece = os.read(self._pipe.fileno(), PIECE_BYTES)
                self._keep(piece)
            if not piece:
                return
            if self._copy_to is not None:
                with suppress(OSError):  # nobody reads it any more
                    os.write(self._copy_to, piece)
            if len(piece) == PIECE_BYTES:
                time.sleep(READ_PAUSE_S)

    def _is_readable(self, timeout_ms: int | None) -> bool:
        """Return whether data or the end of the output can be read. If ``timeout_ms`` is None, wait without limit."""
        poll = select.poll()
        poll.register(self._pipe.fileno(), select.POLLIN)
        return bool(poll.poll(timeout_ms))

    def _keep(self, piece: bytes) -> None:
        self.head += piece[: MAX_BYTES - len(self.head)]
        self._tail = (self._tail + piece)[-MAX_BYTES:]
        *lines, cut = (self._cut + piece).split(b"\n")
        self._cut = cut[:MAX_BYTES]
        if self._begun or any(TRACEBACK in line for line in lines):
            for line in lines:
                self._keep_traceback(line[:MAX_BYTES])

    def _keep_traceback(self, line: bytes) -> None:
        if TRACEBACK in line:
            self._begun = [line]
        elif self._begun and line.startswith(b" "):
            self._begun = [*self._begun[-MAX_TRACEBACK_LINES:], line]
        elif self._begun:  # the line that names the exception
            if RAISED.match(line) and not line.startswith(HUNG_UP):
                self._traceback = [*self._begun, line]
            self._begun = []
