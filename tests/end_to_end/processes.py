"""Real processes for the tests: started by name, found, stopped and killed by number; what they log is kept."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.runtime import parent_death
from tests.end_to_end.forks import Fork

PATIENCE_S = 60.0
LOOK_S = 0.05


@dataclass
class Process:
    """One process and its log. ``horse`` is the child that a worker has forked, if any."""

    name: str
    popen: subprocess.Popen[bytes] | Fork
    log: Path

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
    def fork(cls, name: str, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> "Process":
        """Call "module:function" with the arguments after it, in a process that need not import the service."""
        log = folder / f"{name}.log"
        return cls(name, Fork(command, environment, folder, log), log)

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

    def terminate(self, patience_s: float = PATIENCE_S) -> int:
        """The exit status after a polite word."""
        self.send(signal.SIGTERM)
        return self.popen.wait(patience_s)

    def tail(self, lines: int = 30) -> str:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(f"{self.name}: {line}" for line in text.splitlines()[-lines:])


def children(pid: int) -> list[int]:
    """The processes whose parent this is; zombies do not count."""
    with suppress(OSError):
        tasks = Path(f"/proc/{pid}/task").iterdir()
        found = [int(child) for task in tasks for child in (task / "children").read_text().split()]
        return [child for child in found if not gone(child)]
    return []


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
