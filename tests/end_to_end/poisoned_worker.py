"""A worker like any other, but for the matches named in the file ``poison``: their fifth decision kills the horse.

It notes every death in the file ``deaths``.
"""

import os
import resource
from collections.abc import Awaitable, Callable
from pathlib import Path

from referee.botclient import match_driver
from referee.match.canonical import Json
from referee.match.match import Answer, Match, Request
from workers import match_runner, worker

FATAL = 4


def main() -> int:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = Path(os.environ["REFEREE_DATA"])
    poison = (folder / "poison").read_text().split()

    async def drive(
        match: Match,
        ask: Callable[[Request], Awaitable[Answer]],
        note: Callable[[Match, list[Json], Answer], Awaitable[None]],
    ) -> None:
        async def asked(request: Request) -> Answer:
            if match.header["match"] in poison and request.n >= FATAL:
                with (folder / "deaths").open("a") as deaths:
                    deaths.write(f"{os.getpid()}\n")
                os.abort()
            return await ask(request)

        await match_driver.drive(match, asked, note)

    match_runner.drive = drive  # type: ignore[assignment, attr-defined]  # in this process alone
    return worker.main()
