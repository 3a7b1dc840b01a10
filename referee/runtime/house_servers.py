"""Serve several house players over HTTP from one process, as long as its parent process runs.

``python -m referee.runtime.house_servers LATENCY_MS NAME…`` prints one URL per line. A line ``INDEX SECRET`` on
standard input, with an index from 0, sets the secret of a bot; the process prints ``ok``. It exits at the end of input.
"""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from referee.errors import RefereeError
from referee.house import server as house
from referee.settings import environment

HOST = "127.0.0.1"
STOP_S = 3.0


class HouseServer:
    """Run the serving process as a child process. ``urls`` are the addresses of its bots."""

    def __init__(self, names: Sequence[str], latency_ms: int = 0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "referee.runtime.house_servers", str(latency_ms), *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(PYTHONUNBUFFERED="1"),
            start_new_session=True,
            text=True,
        )
        self.urls = [self._line() for _ in names]

    def write_secret(self, index: int, secret: str) -> None:
        """Set the secret of the bot with this index, counted from 0. From then on, the bot answers challenges."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{index} {secret}\n")
        self._process.stdin.flush()
        self._line()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RefereeError("The process that serves the house bots exited on its own.")
        return line.strip()


async def serve(names: Sequence[str], latency_ms: int) -> None:
    """Serve these house players until standard input ends."""
    bots = [await house.serve(name, HOST, latency_ms=latency_ms) for name in names]
    for bot in bots:
        sys.stdout.write(bot.url + "\n")
    sys.stdout.flush()
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        index, secret = line.split()
        bots[int(index)].secret = secret
        sys.stdout.write("ok\n")
        sys.stdout.flush()
    for bot in bots:
        await bot.close()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[2:], int(sys.argv[1])))
