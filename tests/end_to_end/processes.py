"""Real processes for the tests: started by name, found, stopped and killed by number; what they log is kept."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.runtime import parent_death

PATIENCE_S = 60.0
LOOK_S = 0.02


@dataclass
class Process:
    """One process and its log. ``horse`` is the child that a worker has forked, if any."""

    name: str
    popen: subprocess.Popen[bytes]
    log: Path
    replaced: bool = False  # by another, after its end

    @classmethod
    def start(cls, name: str, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> "Process":
        log = folder / f"{name}.log"
        with log.open("ab") as output:
            popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=dict(environment),
                cwd=folder,
                start_new_session=True,
                preexec_fn=parent_death.make_preexec(signal.SIGKILL),  # nothing outlives the tests
            )
        return cls(name, popen, log)

    @classmethod
    def module(cls, name: str, module: str, environment: Mapping[str, str], folder: Path) -> "Process":
        return cls.start(name, [sys.executable, "-m", module], environment, folder)

    @property
    def pid(self) -> int:
        return self.popen.pid

    @property
    def alive(self) -> bool:
        return self.popen.poll() is None

    @property
    def horse(self) -> int | None:
        return next((pid for pid in children(self.pid) if _leads_group(pid)), None)

    def send(self, word: signal.Signals) -> None:
        if self.alive:
            self.popen.send_signal(word)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.popen.wait(PATIENCE_S)

    def terminate(self, patience_s: float = 15.0) -> int:
        """The exit status after a polite word."""
        self.send(signal.SIGTERM)
        return self.popen.wait(patience_s)

    def tail(self, lines: int = 30) -> str:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(f"{self.name}: {line}" for line in text.splitlines()[-lines:])


def children(pid: int) -> list[int]:
    """The processes whose parent this is; zombies do not count."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                found.append(int(stat.parent.name))
    return found


def _leads_group(pid: int) -> bool:
    """Return whether the process leads a group, as a work-horse does, unlike the `git` that finds the version."""
    try:
        return os.getpgid(pid) == pid
    except ProcessLookupError:
        return False


def gone(pid: int) -> bool:
    """Return whether no such process runs; zombies count as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def send(pid: int, word: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, word)


def until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE_S, tell: Callable[[], str] = str) -> Any:
    """Looks until the condition holds and gives its value; fails saying what was waited for."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}\n{tell()}")
        time.sleep(LOOK_S)
    return value
