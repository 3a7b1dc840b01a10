"""Fork processes of the service from one that has imported it, as ``referee up`` does; none imports it again."""

import multiprocessing
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from referee.runtime import parent_death
from referee.runtime.forked_process import become_program

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["tests.end_to_end.preloaded"])


class Fork:
    """Represent a forked process like ``subprocess.Popen``. ``command`` is "module:function" and its arguments."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path) -> None:
        log.touch()
        self._process = _SERVER.Process(target=_run, args=(command, dict(environment), folder, log), daemon=True)
        self._process.start()
        assert self._process.pid
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if (status := self.poll()) is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def _run(command: Sequence[str], environment: Mapping[str, str], folder: Path, log: Path) -> None:
    parent_death.set_parent_death_signal(os.getppid(), signal.SIGKILL)  # nothing outlives the tests
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os._exit(become_program(command, environment, folder, output))
