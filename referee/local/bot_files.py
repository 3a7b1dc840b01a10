"""Players given as a program: started here for as long as they play, found by the port they were given.

How a bot is called once it listens is the business of ``local``.
"""

import errno
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Final

from referee.errors import RefereeError
from referee.local.matches import LocalEntrant
from referee.protocol.signing import bot_secret
from referee.runtime import parent_death
from referee.runtime.output_tail import OutputTail

PATIENCE_S: Final = 60.0  # a compiler may have to run first
STEP_S: Final = 0.05
STOPS_IN_S: Final = 2.0
SETTLES_IN_S: Final = 1.0  # enough to read what a bot has written, unless it never stops writing
TAIL_LINES: Final = 12
STOP_WORDS: Final = (signal.SIGTERM, signal.SIGHUP)  # beside Ctrl-C, which is an exception by itself
PRIVATE: Final = ("REFEREE_", "DATABASE_URL", "REDIS_URL")  # of our surroundings, what is no bot's business
HINTS: Final = {
    errno.ENOENT: "; does its first line name a program that is not there, or end as lines of Windows do?",
    errno.ENOEXEC: "; does its first line name what runs it, as #!/bin/sh does?",
}
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
    written: OutputTail = field(repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def tail(self) -> str:
        """The last lines it wrote, to either stream."""
        self.written.settle(SETTLES_IN_S)
        return self.written.lines(TAIL_LINES)

    def traceback(self) -> str:
        """Return the last Python traceback that it wrote (the end of a long one), or an empty string."""
        self.written.settle(SETTLES_IN_S)
        return self.written.traceback(TAIL_LINES)

    def listens(self) -> bool:
        """Whether somebody answers at the port it was given, or else at one it has printed, which is then its port."""
        printed = [int(port) for port in PRINTED_URL.findall(self.written.head)]
        for port in (self.port, *printed):
            if 0 < port < 65536 and _is_open(port):
                self.port = port
                return True
        return False

    def tell(self, word: signal.Signals) -> None:
        """Sends a signal to it and to what it has started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, word)

    def ends_by(self, moment: float) -> bool:
        """Waits for its end, until then."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, moment - time.monotonic()))
        return self.process.returncode is not None


@dataclass(frozen=True, slots=True)
class RunningBots:
    """Who plays, each with the address to call, and what the calls are signed with."""

    entrants: list[LocalEntrant]
    secrets: tuple[str, ...]
    processes: list[BotProcess]

    def fallen(self) -> list[BotProcess]:
        """Those that have ended by themselves."""
        return [one for one in self.processes if one.process.poll() is not None]


@contextmanager
def run_bots(entrants: Sequence[LocalEntrant], secrets: tuple[str, ...]) -> Iterator[RunningBots]:
    """Starts the bots among ``entrants`` that are files, each once, and stops them at the end.

    A bot is told its port in ``$PORT`` and as its first argument, and its secret in ``$REFEREE_BOT_SECRET``: the one
    given, else one made for this time, with which then all calls are signed. Raises ``BotNotStarted``.
    """
    files = list(dict.fromkeys(one.file for one in entrants if one.file))
    if files and not secrets:
        secrets = (bot_secret(os.urandom(32), "referee play", 1),)
    processes: list[BotProcess] = []
    with _signals_raised():
        try:
            for file, port in zip(files, _free_ports(len(files)), strict=True):
                processes.append(_start(file, port, secrets[0]))
            for process in processes:
                process.written.follow()  # from here on there are threads: all that is forked was
            for process in processes:
                _await(process)
            urls = {one.file: one.url for one in processes}
            called = [replace(one, url=urls[one.file]) if one.file else one for one in entrants]
            yield RunningBots(called, secrets, processes)
        finally:
            _stop(processes)


@contextmanager
def _signals_raised() -> Iterator[None]:
    """Words to stop that would end us on the spot become exceptions, so that what was started is stopped first."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {word: signal.getsignal(word) for word in STOP_WORDS}
    for word, handler in before.items():
        if handler is signal.SIG_DFL:  # else somebody here, or whoever started us, wants it otherwise
            signal.signal(word, _leave)
    try:
        yield
    finally:
        for word, handler in before.items():
            signal.signal(word, handler)


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _stop(processes: Sequence[BotProcess]) -> None:
    """Ends all of them and what they have started, together; another word to stop meanwhile changes nothing."""
    is_main = threading.current_thread() is threading.main_thread()
    before = {word: signal.signal(word, signal.SIG_IGN) for word in (signal.SIGINT, *STOP_WORDS)} if is_main else {}
    try:
        for word in (signal.SIGTERM, signal.SIGKILL):
            for one in processes:
                one.tell(word)
            moment = time.monotonic() + STOPS_IN_S
            for one in processes:
                one.ends_by(moment)
        for one in processes:
            one.written.end(STEP_S)
    finally:
        for word, handler in before.items():
            signal.signal(word, handler)


def _start(file: Path, port: int, secret: str) -> BotProcess:
    ours = {name: value for name, value in os.environ.items() if not name.startswith(PRIVATE)}
    try:
        process = subprocess.Popen(
            [*_command(file), str(port)],
            cwd=file.parent,
            env=ours | {"PORT": str(port), "REFEREE_BOT_SECRET": secret, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a group of its own, so that what it starts ends with it
            preexec_fn=parent_death.make_preexec(signal.SIGTERM),
        )
    except OSError as error:
        hint = HINTS.get(error.errno or 0, "")
        raise BotNotStarted(f"{file} cannot be started: {error.strerror}{hint}") from error
    assert process.stdout is not None  # it was asked for
    return BotProcess(file, port, process, OutputTail(process.stdout))


def _command(file: Path) -> list[str]:
    """How the program is run: by what its name ends in, else by itself."""
    if not file.is_file():
        raise BotNotStarted(f"the file {file} does not exist")
    whole = str(file.resolve())
    if file.suffix in RUNNERS:
        (tool, *words), language = RUNNERS[file.suffix]
        found = shutil.which(tool)
        if found is None:
            raise BotNotStarted(f"{file} needs {language}, but {tool!r} is not on PATH")
        return [found, *words, whole]
    if not os.access(file, os.X_OK):
        known = ", ".join(RUNNERS)
        raise BotNotStarted(
            f"{file} is not a program: its name ends in none of {known}, and it may not be executed (chmod +x)"
        )
    return [whole]


def _await(bot: BotProcess) -> None:
    """Returns when the bot listens. One that has ended does not, whoever answers at its port."""
    give_up = time.monotonic() + PATIENCE_S
    while True:
        listens, status = bot.listens(), bot.process.poll()
        if status is not None:
            raise BotNotStarted(f"{bot.file} ended with status {status} before it listened. It wrote:\n{bot.tail()}")
        if listens:
            return
        if time.monotonic() > give_up:
            raise BotNotStarted(
                f"{bot.file} does not listen on port {bot.port}, which it was given in $PORT and as its first "
                f"argument, and printed no http://127.0.0.1:PORT within {PATIENCE_S:.0f} s. It wrote:\n{bot.tail()}"
            )
        time.sleep(STEP_S)


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_ports(count: int) -> list[int]:
    """Ports nobody listens on; all of them are held until the last is found, so that none comes twice."""
    with ExitStack() as held:
        listeners = [held.enter_context(socket.socket()) for _ in range(count)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [int(listener.getsockname()[1]) for listener in listeners]
