"""The word from a worker to its work-horse: stop at the next decision and give the leases back.

It travels as SIGUSR1, because RQ has its own use for SIGTERM. A runner turns it into an act of its own:
``loop.add_signal_handler(stopping.SIGNAL, stop)`` and then, for a word that came before the loop was there,
``if stopping.requested(): stop()``.
"""

import signal
from types import FrameType
from typing import Final

SIGNAL: Final = signal.SIGUSR1

_requested = False


def is_stop_requested() -> bool:
    """Whether this process was told to stop since ``listen``."""
    return _requested


def listen() -> None:
    """Notes the word from now on; the first thing a work-horse does."""
    global _requested
    _requested = False
    signal.signal(SIGNAL, _note)


def _note(_signal: int, _frame: FrameType | None) -> None:
    global _requested
    _requested = True
