"""The command `referee` as a real process in a folder of its own, and who is left of its family."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from click.testing import CliRunner, Result

from referee.cli import main

PATIENCE_S = 60.0
UMASK = 0o022  # the usual default: private files need explicit permissions


def surroundings(**changes: str) -> dict[str, str]:
    """Our environment without anything that would lead a service elsewhere."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("REFEREE_") and name not in ("DATABASE_URL", "REDIS_URL")
    }
    return ours | {"PYTHONUNBUFFERED": "1"} | changes


def referee(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "referee", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=surroundings(**changes),
        umask=UMASK,
        check=False,
    )


def says(environment: Mapping[str, str | None], *arguments: str, status: int = 0) -> Result:
    """Run a command in this process and expect this exit status."""
    told = CliRunner().invoke(main, arguments, env=environment)
    assert told.exit_code == status, f"{arguments}: {told.exit_code}\n{told.output}\n{told.exception!r}"
    return told


@dataclass
class Service:
    """A running ``referee up``."""

    process: subprocess.Popen[str]
    folder: Path
    url: str
    said: str

    def get(self, path: str, token: str = "") -> Any:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE_S)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def ready(self) -> bool:
        try:
            state = self.get("/readyz")
        except (OSError, http.client.HTTPException):
            return False
        return bool(state["status"] == "ok")

    def stop(self, word: signal.Signals) -> int:
        """Sends the word and waits for the end; gives the exit status."""
        self.process.send_signal(word)
        return self.process.wait(PATIENCE_S)


@contextmanager
def service(folder: Path, *arguments: str, **changes: str) -> Iterator[Service]:
    """``referee up`` on a free port, up and ready; killed with its family if the test has not ended it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "referee", "up", "--data", str(folder), "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=surroundings(**changes),
        umask=UMASK,
    )
    assert process.stdout is not None
    try:
        said = ""
        while "referee is up" not in said:
            line = process.stdout.readline()
            assert line, f"referee up ended: {said}"
            said += line
        found = re.search(r"http://[\d.:]+", said)
        assert found
        yield Service(process, folder, found[0], said)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        for left in family(folder):
            with suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)


def family(folder: Path) -> dict[int, str]:
    """All living processes that work on this folder: process id -> command line and, in brackets, name."""
    mark = str(folder).encode()
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError):
                command = (entry / "cmdline").read_bytes()
                own = mark in command or b"REFEREE_DATA=" + mark in (entry / "environ").read_bytes()
                if own and command and (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                    name = (entry / "comm").read_text().strip()
                    found[int(entry.name)] = f"{command.replace(bytes(1), b' ').decode()}[{name}]"
    return found


def comes_true(what: Callable[[], object], within_s: float = PATIENCE_S) -> bool:
    """Return whether the condition becomes true in time."""
    end = time.monotonic() + within_s
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
