"""Repeat the steps of a background task in a thread of the scheduler."""

import logging
import threading
from collections.abc import Callable
from typing import Final

from referee.errors import Unavailable

log = logging.getLogger(__name__)

RETRY_S: Final = 1.0  # after the database was not available
ERROR_PAUSE_S: Final = 60.0


def run_steps(task: str, step: Callable[[], float], stopped: threading.Event, working: threading.Event) -> None:
    """Call ``step``, which returns the pause until its next call in seconds, until ``stopped`` is set.

    Call it only while ``working`` is set.

    Log errors as ``TASK_failed``, or ``TASK_postponed`` while the database is not available, and continue.
    """
    wait_s = 0.0
    while not stopped.wait(wait_s):
        if not working.is_set():
            wait_s = RETRY_S
            continue
        try:
            wait_s = step()
        except Unavailable as error:
            log.warning(f"{task}_postponed", extra={"reason": str(error)})
            wait_s = RETRY_S
        except Exception:
            log.exception(f"{task}_failed")
            wait_s = ERROR_PAUSE_S
