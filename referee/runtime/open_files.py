"""Count the file descriptors of a process, and notice when few are left. Linux only: elsewhere nothing is known."""

import errno
import logging
import os
import resource
import threading
from dataclasses import dataclass
from typing import Final

LOW_PART: Final = 0.9  # of the limit
CHECK_EVERY_S: Final = 5.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenFiles:
    """Hold how many file descriptors a process has open, and how many it may have."""

    open: int
    limit: int

    @property
    def is_low(self) -> bool:
        """Return whether few descriptors are left."""
        return self.open >= self.limit * LOW_PART


def count_open_files(pid: int = 0) -> OpenFiles | None:
    """Count the descriptors of a process, by default of this one. Return None if they cannot be counted."""
    try:
        limit, _ = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    except (AttributeError, OSError):
        return None
    try:
        return OpenFiles(len(os.listdir(f"/proc/{pid or 'self'}/fd")), limit)
    except OSError as error:  # none is left for reading the directory
        return OpenFiles(limit, limit) if error.errno == errno.EMFILE and not pid else None


def report_open_files() -> float:
    """Return the number of descriptors that this process has open, or 0 if they cannot be counted."""
    files = count_open_files()
    return 0 if files is None else files.open


class OpenFilesWatch:
    """Log when few descriptors of a process are left, and when there are enough again."""

    def __init__(self) -> None:
        self.is_low = False

    def note(self, files: OpenFiles | None) -> None:
        """Take in a count."""
        if files is None or files.is_low == self.is_low:
            return
        self.is_low = files.is_low
        level = logging.WARNING if self.is_low else logging.INFO
        event = "files_running_out" if self.is_low else "files_available"
        log.log(level, event, extra={"open_files": files.open, "limit": files.limit})

    def run(self, stopped: threading.Event) -> None:
        """Count the descriptors of this process every few seconds until ``stopped`` is set."""
        while not stopped.wait(CHECK_EVERY_S):
            self.note(count_open_files())
