"""A raw server on loopback that runs a script for each connection, and helpers that call it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Self

from referee.botclient.address_guard import Policy
from referee.botclient.client import BotCaller, BotSeat, CallLimits, CallTarget
from referee.botclient.reply import Reply
from referee.match.match import Request
from referee.protocol.signing import bot_secret

LOOPBACK = Policy.parse("127.0.0.0/8:1024-65535")
SECRET = bot_secret(b"m" * 32, "bot_test", 1)
GOOD_BODY = b'{"decision":"mat_test_s1_q7","choice":0}'
LONG_S = 30.0  # duration of a hostile script
PATIENCE_S = 10.0  # longest duration of a call: far above any deadline used, far below LONG_S


class Line:
    """An accepted connection, from the side of the bot."""

    def __init__(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.number = number  # 1 for the first
        self.reader = reader
        self.writer = writer

    async def request(self) -> bytes:
        """Return the next complete request."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
        return head + await self.reader.readexactly(int(fields.get(b"Content-Length", 0)))

    async def send(self, *parts: bytes) -> None:
        for part in parts:
            self.writer.write(part)
            await self.writer.drain()

    async def trickle(self, piece: bytes, every_s: float = 0.02) -> None:
        """Send the piece repeatedly until the connection ends or ``LONG_S`` is over."""
        for _ in range(int(LONG_S / every_s)):
            await self.send(piece)
            await asyncio.sleep(every_s)

    async def silence(self) -> None:
        """Wait until the other side closes the connection."""
        await asyncio.wait_for(self.reader.read(), LONG_S)

    def reset(self) -> None:
        self.writer.transport.abort()


Script = Callable[[Line], Awaitable[None]]


class Hostile:
    """A hostile bot: ``async with Hostile(script) as bot``. It counts connections and requests."""

    def __init__(self, script: Script, host: str = "127.0.0.1", tls: Any = None) -> None:
        self.script = script
        self.host = host
        self.tls = tls
        self.connections = 0
        self.cut_off = 0  # connections that the referee closed
        self.finished = 0  # scripts that ran to their end
        self.requests: list[bytes] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://{self.host}:{self.port}"
        return self

    async def __aexit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def settled(self) -> None:
        """Wait until all connections are closed."""
        await asyncio.wait_for(asyncio.gather(*self._tasks, return_exceptions=True), PATIENCE_S)

    def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.ensure_future(self._scripted(Line(self.connections, reader, writer)))
        self._tasks.add(task)

    async def _scripted(self, line: Line) -> None:
        read = line.request

        async def noted() -> bytes:
            request = await read()
            self.requests.append(request)
            return request

        line.request = noted  # type: ignore[method-assign]  # a note in passing
        try:
            await self.script(line)
            self.finished += 1
        except (ConnectionError, asyncio.IncompleteReadError):
            self.cut_off += 1
        finally:
            line.writer.close()


def response(body: bytes = GOOD_BODY, status: str = "200 OK", *fields: str, length: bool = True) -> bytes:
    """Return a plain response with additional ``fields``."""
    lines = [f"HTTP/1.1 {status}", *fields]
    if not any(field.lower().startswith("content-type") for field in fields):
        lines.append("Content-Type: application/json")
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def says(*parts: bytes) -> Script:
    """Return a script that answers every request with these bytes."""

    async def script(line: Line) -> None:
        while True:
            await line.request()
            await line.send(*parts)

    return script


def after_request(then: Callable[[Line], Awaitable[None]]) -> Script:
    async def script(line: Line) -> None:
        await line.request()
        await then(line)

    return script


def caller(url: str, *, limits: CallLimits | None = None, policy: Policy = LOOPBACK, **more: Any) -> BotCaller:
    """Return a caller of the bot at this URL. It always signs as of the same moment unless ``now`` is None."""
    target = CallTarget("bot_test", url, (SECRET,), more.pop("max_concurrent_requests", 8))
    now = more.pop("now", lambda: 1_700_000_000.0) or time.time
    return BotCaller(target, policy, limits, now=now, **more)


async def called(bot: BotCaller, deadline_ms: int = 300) -> Reply:
    """Ask a question; fail if the call takes longer than ``PATIENCE_S``."""
    async with asyncio.timeout(PATIENCE_S):
        return await bot.post("/decide", b"{}", "mat_test_s1_q7", deadline_ms)


async def call(script: Script, deadline_ms: int = 300) -> tuple[Reply, Hostile]:
    """Ask a bot with this script one question."""
    async with Hostile(script) as bot:
        one = caller(bot.url)
        reply = await called(one, deadline_ms)
        one.close()
        await bot.settled()
        return reply, bot


async def until(holds: Callable[[], bool]) -> None:
    """Wait until another task makes the condition true."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110  # what is waited for tells nobody
            await asyncio.sleep(0.002)


def fault(script: Script, deadline_ms: int = 300) -> str:
    return asyncio.run(call(script, deadline_ms))[0].fault


HEADER = {
    "match": "mat_test",
    "game": "saint-poker",
    "rules_version": 1,
    "options": {"rounds": 8},
    "players": [{"bot": "bot_a", "name": "a", "version": "1"}, {"bot": "bot_b", "name": "b", "version": "2"}],
    "seats": 2,
    "rated": True,
}
LEGAL = [{"type": "take", "card": "Th"}, {"type": "take", "card": "2c"}]


def question(n: int = 7, *, legal: Sequence[Any] = LEGAL, budget_ms: int = 1000, bank_ms: int = 0) -> Request:
    return Request(
        seat=1,
        n=n,
        question=n,
        observation={"phase": "pickup", "hand": ["Ks"]},
        new_events=[{"event": "take", "seat": 0, "card": "3d"}],
        legal_actions=list(legal),
        default_action=legal[0],
        time={"budget_ms": budget_ms, "bank_ms": bank_ms, "last_ms": None},
    )


def seat(bot: BotCaller) -> BotSeat:
    return BotSeat(bot, HEADER, 1)
