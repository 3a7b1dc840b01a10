"""A house bot with one incorrect habit, and how it is checked."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any

import orjson
from aiohttp import web

from referee.botclient.client import CallLimits, CallTarget
from referee.conformance.context import Pace
from referee.conformance.report import ConformanceReport
from referee.conformance.suite import run_check
from referee.house.players import FirstPlayer, find_player
from referee.house.server import House
from referee.match.canonical import Json
from referee.protocol.signing import Signer
from tests.botclient.hostile import LOOPBACK, PATIENCE_S, SECRET

GAME = "saint-poker"


class Odd(House):
    """A bot that plays the default. Its ``habit`` gets every call first and returns a response or None."""

    def __init__(self, habit: "Habit") -> None:
        super().__init__("odd", FirstPlayer, SECRET)
        self.habit = habit
        self.memory: dict[str, Any] = {}  # for the habit
        self.calls = 0

    async def _manifest(self, request: web.Request) -> web.Response:
        return await self._twisted(request, super()._manifest)

    async def _decide(self, request: web.Request) -> web.Response:
        return await self._twisted(request, super()._decide)

    async def _notify(self, request: web.Request) -> web.Response:
        return await self._twisted(request, super()._notify)

    async def _twisted(
        self, request: web.Request, usual: Callable[[web.Request], Awaitable[web.Response]]
    ) -> web.Response:
        body = await request.read()
        self.calls += 1
        answer = await self.habit(self, request, orjson.loads(body) if body else {})
        return await usual(request) if answer is None else answer


Habit = Callable[[Odd, web.Request, Json], Awaitable[web.Response | None]]


def said(body: Json, status: int = 200) -> web.Response:
    return web.json_response(body, status=status)


def played(question: Json, choice: int = 0) -> web.Response:
    return said({"decision": question["decision"]["id"], "choice": choice})


def is_signed(request: web.Request, body: bytes) -> bool:
    """Return whether the signature is valid, ignoring its age."""
    given = request.headers
    id, sent, signatures = (given.get(f"webhook-{part}", "") for part in ("id", "timestamp", "signature"))
    return Signer([SECRET]).verify(id, sent, body, signatures)


async def is_correct(bot: Odd, request: web.Request, body: Json) -> web.Response | None:
    return None


def house(name: str, secret: str | None = None) -> House:
    player = find_player(name)
    return House(player.full_name(), player, secret)


@contextmanager
def served(bot: House) -> Iterator[str]:
    """Serve a bot from a thread while the block runs; yield its URL."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(bot.start("127.0.0.1", 0), loop).result(PATIENCE_S)
        yield bot.url
    finally:
        asyncio.run_coroutine_threadsafe(bot.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def check_bot(
    bot: House,
    *,
    secret: str | None = SECRET,
    pace: Pace | None = None,
    pause: Callable[[], Awaitable[object]] | None = None,
    at: Callable[[str], str] = str,
    **options: Any,
) -> ConformanceReport:
    """Return the report on a bot, which is served until then.

    Pauses take no time: ``pause`` is called, and an odd bot notified. ``at`` changes the URL.
    """

    async def paused(_seconds: float) -> None:
        if isinstance(bot, Odd):
            bot.memory["paused"] = True
        if pause is not None:
            await pause()

    await bot.start("127.0.0.1", 0)
    target = CallTarget("bot_test", at(bot.url), (secret,) if secret else ())
    usual: Json = {"games": (GAME,), "questions": 4, "dice": Random("test")}
    try:
        async with asyncio.timeout(PATIENCE_S * 6):
            return await run_check(
                target, LOOPBACK, CallLimits(), pace=replace(pace or Pace(), sleep=paused), **(usual | options)
            )
    finally:
        await bot.close()
