"""Ask a work-horse to stop at the next decision and to release its claims.

A worker sends SIGUSR1, since RQ handles SIGTERM itself. A runner installs its own handler with
``loop.add_signal_handler(shutdown.SIGNAL, stop)`` and then, for a signal that came earlier, calls ``stop`` if
``shutdown.is_stop_requested()``.
"""

import signal
from types import FrameType
from typing import Final

SIGNAL: Final = signal.SIGUSR1

_requested = False


def is_stop_requested() -> bool:
    """Return whether this process has received the signal since ``listen``."""
    return _requested


def listen() -> None:
    """Record the signal from now on. A work-horse calls this first."""
    global _requested
    _requested = False
    signal.signal(SIGNAL, _record_request)


def _record_request(_signal: int, _frame: FrameType | None) -> None:
    global _requested
    _requested = True
