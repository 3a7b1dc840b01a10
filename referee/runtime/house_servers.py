"""Several house players served by one process, as real HTTP bots, for as long as whoever started it lives.

``python -m referee.runtime.house_servers NAME…`` prints one URL a line; ``INDEX SECRET`` lines on its input hand out
secrets and are answered by ``ok``. It ends when its input ends.
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


class Houses:
    """The serving process as its starter sees it: where the bots are, and a way to tell them their secrets."""

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

    def tell(self, index: int, secret: str) -> None:
        """Gives a bot its secret; it answers challenges from then on."""
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
            raise RefereeError("the house bots ended by themselves")
        return line.strip()


async def serve(names: Sequence[str], latency_ms: int) -> None:
    """Serves until the input ends."""
    served = [await house.serve(name, HOST, latency_ms=latency_ms) for name in names]
    for one in served:
        sys.stdout.write(one.url + "\n")
    sys.stdout.flush()
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        index, secret = line.split()
        served[int(index)].secret = secret
        sys.stdout.write("ok\n")
        sys.stdout.flush()
    for one in served:
        await one.close()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[2:], int(sys.argv[1])))
