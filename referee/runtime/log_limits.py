"""Limit what a process logs: the lines of each cause in a minute, and the length of texts that come from outside.

A cause is the place in the code that logs, with the type of the exception. Whatever strangers do, it has few causes.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, MutableMapping
from functools import partial
from typing import Any, Final

LINES_PER_MINUTE: Final = 300  # of a cause; a runner that stops logs a line for each of its matches
REQUEST_LINES: Final = "api.request_log"  # the logger with a line for each request
LINES_FOR_REQUESTS: Final = 6_000  # a minute
LINES_FOR_STRANGERS: Final = 30  # where a single request without a token causes a line
MAX_TEXT: Final = 1_000  # characters of a text
MAX_TRACEBACK: Final = 20_000
MAX_DEPTH: Final = 6  # of lists and objects in a field
WINDOW_S: Final = 60.0

_Cause = tuple[str, str, int, str]


class LineLimit(logging.Filter):
    """Drop the lines of a cause above the limit. The first line of the next minute counts them as ``dropped_lines``."""

    def __init__(self, lines: int = LINES_PER_MINUTE, *, seconds: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._lines = lines
        self._seconds = seconds
        self._lock = threading.Lock()
        self._windows: dict[_Cause, tuple[float, int]] = {}  # the end of the minute, and the lines in it

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is logged. Cut its message if it is very long."""
        _mend_message(record)
        raised = record.exc_info[0] if record.exc_info else None
        cause = (record.name, record.pathname, record.lineno, raised.__name__ if raised else "")
        now, most = self._seconds(), LINES_FOR_REQUESTS if record.name == REQUEST_LINES else self._lines
        with self._lock:
            ends, lines = self._windows.get(cause, (now + WINDOW_S, 0))
            dropped = lines - most if now >= ends else 0
            if now >= ends:
                ends, lines = now + WINDOW_S, 0
            self._windows[cause] = ends, lines + 1
        if lines >= most:
            return False
        text = cut(record.getMessage())
        if dropped > 0:
            record.dropped_lines = dropped
        if text != record.getMessage() or (dropped > 0 and not _is_event(text)):
            record.msg, record.args = text + (f" ({dropped} such lines were dropped)" if dropped > 0 else ""), ()
        return True


def _mend_message(record: logging.LogRecord) -> None:
    """Replace a message whose fields do not fit by its parts: what logs must not raise, whatever a library does."""
    try:
        record.getMessage()
    except (TypeError, ValueError, KeyError):
        record.msg, record.args = f"{record.msg} {record.args!r}", ()


def cut(text: str, most: int = MAX_TEXT) -> str:
    """Return the text, or its beginning with its length if it is longer than ``most``."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def cut_texts(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Cut the texts of an event (a processor of structlog)."""
    for name, value in event.items():
        event[name] = change_texts(value, partial(cut, most=MAX_TRACEBACK if name == "exception" else MAX_TEXT))
    return event


def change_texts(value: Any, change: Callable[[str], str], depth: int = MAX_DEPTH) -> Any:
    """Return the value of a field with all its texts changed.

    What is neither JSON nor a text counts as its text, and so does what is in more than ``depth`` lists or objects.
    """
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, Mapping) and depth:
        return {change(str(name)): change_texts(member, change, depth - 1) for name, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset | deque) and depth:
        return [change_texts(member, change, depth - 1) for member in value]
    return change(str(value))


def _is_event(text: str) -> bool:
    """Return whether a message is the name of an event of ours, whose fields are logged."""
    return text.isidentifier()
