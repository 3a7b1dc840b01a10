"""Run searches in a few processes of their own, so that they delay no event loop.

A process that dies is replaced and its search repeated, with the same result: a search depends on the question and the
seed alone. The processes end with the process that started them, because their standard input then ends.
"""

import asyncio
import atexit
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import IO, Any, Final

import orjson

from referee.errors import RefereeError
from referee.games.state import Json
from referee.settings import environment

ATTEMPTS: Final = 3  # processes in which a search is tried, each of which dies
STOP_S: Final = 1.0


class SearchFailed(RefereeError):
    """Signal that several processes died during a search. This is a bug of ours."""


class SearchPool:
    """Search in up to ``size`` processes, each started when first needed."""

    def __init__(self, size: int) -> None:
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="house-search")
        self._own = threading.local()  # each thread talks to its own process
        self._processes: list[subprocess.Popen[bytes]] = []

    async def search(self, game: str, question: Json, seed: int) -> Json:
        """Return the action that ``search_action`` finds. Raise ``SearchFailed``."""
        asked = orjson.dumps({"game": game, "question": question, "seed": str(seed)}) + b"\n"
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._search, asked)

    def processes(self) -> list[int]:
        """Return the ids of the running processes."""
        return [process.pid for process in self._processes if process.poll() is None]

    def close(self) -> None:
        """Stop the processes. Do not wait for searches in progress."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            _stop(process)

    def _search(self, asked: bytes) -> Json:
        for _ in range(ATTEMPTS):
            process = self._living_process()
            try:
                _pipe(process.stdin).write(asked)
                _pipe(process.stdin).flush()
                answered = _pipe(process.stdout).readline()
            except OSError:
                answered = b""
            if answered:
                action: Json = orjson.loads(answered)
                return action
            _stop(process)
        raise SearchFailed(f"{ATTEMPTS} processes died during a search; their standard error says why")

    def _living_process(self) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] | None = getattr(self._own, "process", None)
        if process is None or process.poll() is not None:
            command = [sys.executable, "-P", "-m", "referee.house.pool_process"]
            process = subprocess.Popen(  # noqa: S603  # our own module
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
            )
            self._own.process = process
            self._processes = [running for running in self._processes if running.poll() is None] + [process]
        return process


def shared_pool() -> SearchPool:
    """Return the pool of this process."""
    return _pool_of(os.getpid())  # a forked child must not use the pipes of its parent


@cache
def _pool_of(_pid: int) -> SearchPool:
    pool = SearchPool(max(1, min(4, (os.cpu_count() or 1) - 1)))
    atexit.register(pool.close)
    return pool


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with suppress(OSError):  # the rest of a question cannot be written any more
        _pipe(process.stdin).close()
    process.wait(STOP_S)
    _pipe(process.stdout).close()


def _pipe(stream: IO[bytes] | None) -> Any:
    assert stream is not None, "a pipe was requested"
    return stream
