"""Serve many bots and receivers of notifications on one loopback port, distinguished by their paths.

A single replacement therefore makes the addresses stored in a fixture point here. Requests with a wrong signature are
rejected and noted.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self

from aiohttp import web

from referee.house.players import find_player
from referee.house.server import House
from referee.match.canonical import Json
from referee.protocol.signing import Signer

Interceptor = Callable[[str, Json], Awaitable[web.Response | None]]


class NamedBot(House):
    """A house player with a name and a version of its own. ``secret`` is the one that its owner was shown."""

    def __init__(self, name: str, kind: str = "first", version: str = "1.0", secret: str | None = None) -> None:
        super().__init__(name, find_player(kind), secret)
        self.kind = kind
        self.version = version
        self.intercept: Interceptor | None = None  # may answer in place of the player, or hang

    async def answer(self, request: web.Request, what: str) -> web.Response:
        """Answer a request for the manifest (``""``), for a decision, or a notice."""
        if self.intercept is not None:
            body = await request.read()
            instead = await self.intercept(self.name, json.loads(body) if body else {})
            if instead is not None:
                return instead
        match what:
            case "":
                said = json.loads(str((await self._manifest(request)).text))
                return web.json_response({**said, "version": self.version})
            case "decide":
                return await self._decide(request)
            case "notify":
                return await self._notify(request)
        raise web.HTTPNotFound


@dataclass
class WebhookReceiver:
    """An owner's address for notifications. It answers with ``status``, or hangs if that is None."""

    secret: str
    status: int | None = 204
    bodies: dict[str, bytes] = field(default_factory=dict)  # by delivery


@dataclass
class BotServer:
    """Bots at ``/NAME``, receivers at ``/hooks/NAME``. Those that are ``unavailable`` answer 503."""

    bots: dict[str, NamedBot] = field(default_factory=dict)
    receivers: dict[str, WebhookReceiver] = field(default_factory=dict)
    unavailable: set[str] = field(default_factory=set)
    decisions: Counter[str] = field(default_factory=Counter)  # asked of each bot
    rejected: list[str] = field(default_factory=list)  # paths of requests with a wrong signature
    url: str = ""
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self, port: int = 0) -> Self:
        """Listen on a port (0 takes a free one); ``url`` is the address."""
        app = web.Application(client_max_size=4 * 1024 * 1024)
        app.router.add_post("/hooks/{name}", self._serve_receiver)
        app.router.add_route("*", "/{name}", self._serve_bot)
        app.router.add_route("*", "/{name}/{what:.*}", self._serve_bot)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def close(self) -> None:
        self.closing.set()  # ends requests that hang
        await self._runner.cleanup()

    async def _serve_bot(self, request: web.Request) -> web.Response:
        name, what = request.match_info["name"], request.match_info.get("what", "")
        bot = self.bots.get(name)
        if bot is None:
            raise web.HTTPNotFound
        if name in self.unavailable:
            raise web.HTTPServiceUnavailable
        self.decisions[name] += what == "decide"
        with self._noting_rejection(request):
            return await bot.answer(request, what)

    async def _serve_receiver(self, request: web.Request) -> web.Response:
        receiver = self.receivers.get(request.match_info["name"])
        if receiver is None:
            raise web.HTTPNotFound
        body, given = await request.read(), request.headers
        signed = given["webhook-id"], given["webhook-timestamp"], body, given["webhook-signature"]
        with self._noting_rejection(request):
            if not Signer([receiver.secret]).verify(*signed):
                raise web.HTTPUnauthorized
        if receiver.status is None:
            await self.closing.wait()
        if receiver.status == 204:
            receiver.bodies[given["webhook-id"]] = body
        return web.Response(status=receiver.status or 503)

    @contextmanager
    def _noting_rejection(self, request: web.Request) -> Iterator[None]:
        try:
            yield
        except web.HTTPUnauthorized:
            self.rejected.append(request.path)
            raise
