"""A house bot with one incorrect habit, to be checked."""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from aiohttp import web

from referee.house.players import FirstPlayer, HousePlayer
from referee.house.server import House
from referee.match.canonical import Json
from referee.protocol.signing import Signer
from tests.botclient.hostile import SECRET


class Odd(House):
    """A bot that plays the default. Its ``habit`` gets every call first and returns a response or None."""

    def __init__(self, habit: "Habit", player: type[HousePlayer] | None = None) -> None:
        super().__init__("odd", player or FirstPlayer, SECRET)
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
