"""Players given as a program: started here for as long as they play, found by the port they were given.

How a bot is called once it listens is the business of ``local``.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Final

from referee import leash
from referee.bots.signing import bot_secret
from referee.cli.local import Entrant
from referee.errors import RefereeError

PATIENCE_S: Final = 60.0  # a compiler may have to run first
STEP_S: Final = 0.05
STOPS_IN_S: Final = 2.0
TAIL_BYTES: Final = 4096
TAIL_LINES: Final = 12
PRINTED_URL: Final = re.compile(rb"http://(?:127\.0\.0\.1|localhost):(\d{1,5})\b")
RUNNERS: Final = {  # by the end of the file's name: what runs it, and what that is called
    ".py": ((sys.executable,), "Python"),
    ".js": (("node",), "Node.js"),
    ".mjs": (("node",), "Node.js"),
    ".cjs": (("node",), "Node.js"),
    ".go": (("go", "run"), "Go"),
}


class BotNotStarted(RefereeError):
    """A program that cannot be run, ended at once, or never listened."""


@dataclass(slots=True)
class BotProcess:
    """A bot that was started, with what it writes."""

    file: Path
    port: int
    process: subprocess.Popen[bytes]
    output: IO[bytes] = field(repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def tail(self) -> str:
        """The last lines it wrote, to either stream."""
        self.output.seek(max(0, self.output.seek(0, os.SEEK_END) - TAIL_BYTES))
        return "\n".join(self.output.read().decode(errors="replace").splitlines()[-TAIL_LINES:])

    def listens(self) -> bool:
        """Whether somebody answers at the port it was given, or else at one it has printed, which is then its port."""
        self.output.seek(0)
        printed = [int(port) for port in PRINTED_URL.findall(self.output.read(TAIL_BYTES))]
        for port in (self.port, *printed):
            if 0 < port < 65536 and _is_open(port):
                self.port = port
                return True
        return False

    def stop(self) -> None:
        """Ends it and what it has started."""
        for word in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, word)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(STOPS_IN_S)
        self.output.close()


@dataclass(frozen=True, slots=True)
class Running:
    """Who plays, each with the address to call, and what the calls are signed with."""

    entrants: list[Entrant]
    secrets: tuple[str, ...]
    processes: list[BotProcess]

    def fallen(self) -> list[BotProcess]:
        """Those that have ended by themselves."""
        return [one for one in self.processes if one.process.poll() is not None]


@contextmanager
def started(entrants: Sequence[Entrant], secrets: tuple[str, ...]) -> Iterator[Running]:
    """Starts the bots among ``entrants`` that are files, each once, and stops them at the end.

    A bot is told its port in ``$PORT`` and as its first argument, and its secret in ``$REFEREE_BOT_SECRET``: the one
    given, else one made for this time, with which then all calls are signed. Raises ``BotNotStarted``.
    """
    files = list(dict.fromkeys(one.file for one in entrants if one.file))
    if files and not secrets:
        secrets = (bot_secret(os.urandom(32), "referee play", 1),)
    processes: list[BotProcess] = []
    try:
        for file in files:
            processes.append(_start(file, secrets[0]))
        for process in processes:
            _await(process)
        urls = {one.file: one.url for one in processes}
        called = [replace(one, url=urls[one.file]) if one.file else one for one in entrants]
        yield Running(called, secrets, processes)
    finally:
        for process in processes:
            process.stop()


def _start(file: Path, secret: str) -> BotProcess:
    port = _free_port()
    output = tempfile.TemporaryFile()  # noqa: SIM115  # closed by ``stop``
    environment = os.environ | {"PORT": str(port), "REFEREE_BOT_SECRET": secret, "PYTHONUNBUFFERED": "1"}
    try:
        process = subprocess.Popen(
            [*_command(file), str(port)],
            cwd=file.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # a group of its own, so that what it starts ends with it
            preexec_fn=leash.tied(signal.SIGTERM),
        )
    except OSError as error:
        output.close()
        raise BotNotStarted(f"{file} cannot be started: {error.strerror}") from error
    return BotProcess(file, port, process, output)


def _command(file: Path) -> list[str]:
    """How the program is run: by what its name ends in, else by itself."""
    if not file.is_file():
        raise BotNotStarted(f"there is no file {file}")
    whole = str(file.resolve())
    if file.suffix in RUNNERS:
        (tool, *words), language = RUNNERS[file.suffix]
        found = shutil.which(tool)
        if found is None:
            raise BotNotStarted(f"{file} needs {language}: there is no {tool!r} on PATH")
        return [found, *words, whole]
    if not os.access(file, os.X_OK):
        known = ", ".join(RUNNERS)
        raise BotNotStarted(f"{file} is no program: it ends in none of {known}, and may not be executed (chmod +x)")
    return [whole]


def _await(bot: BotProcess) -> None:
    """Returns when the bot listens."""
    give_up = time.monotonic() + PATIENCE_S
    while not bot.listens():
        status = bot.process.poll()
        if status is not None:
            raise BotNotStarted(f"{bot.file} ended with status {status} before it listened. It wrote:\n{bot.tail()}")
        if time.monotonic() > give_up:
            raise BotNotStarted(
                f"{bot.file} does not listen on port {bot.port}, which it was given in $PORT and as its first "
                f"argument, and printed no http://127.0.0.1:PORT within {PATIENCE_S:.0f} s. It wrote:\n{bot.tail()}"
            )
        time.sleep(STEP_S)


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
