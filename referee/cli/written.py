"""What a program that runs beside us writes: its beginning and its end are kept, the rest is forgotten."""

import os
import threading
import time
from typing import IO, Final

KEPT_BYTES: Final = 4096
PIECE_BYTES: Final = 65_536
REST_S: Final = 0.005  # after every full piece: who writes without end waits for us, and takes no disk


class Written:
    """Reads a pipe in a thread of its own from ``follow`` on, so that the writer need never wait for long."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.head = b""
        self._tail = b""
        self._pipe = pipe
        self._reader = threading.Thread(target=self._read, daemon=True)

    def follow(self) -> None:
        """Begins to read; once. Whoever still has to fork does so before."""
        self._reader.start()

    def lines(self, most: int) -> str:
        """The last lines, as far as they are kept."""
        return "\n".join(self._tail.decode(errors="replace").splitlines()[-most:])

    def settle(self, patience_s: float) -> None:
        """Waits, not for long, until all was read that a writer who is gone has left."""
        if self._reader.ident is not None:
            self._reader.join(patience_s)

    def end(self, patience_s: float) -> None:
        """Stops reading. A writer that lives on, somewhere else, is left alone."""
        self.settle(patience_s)
        if not self._reader.is_alive():
            self._pipe.close()

    def _read(self) -> None:
        while piece := os.read(self._pipe.fileno(), PIECE_BYTES):
            self.head += piece[: KEPT_BYTES - len(self.head)]
            self._tail = (self._tail + piece)[-KEPT_BYTES:]
            if len(piece) == PIECE_BYTES:
                time.sleep(REST_S)
