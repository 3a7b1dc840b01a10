"""Bots that answer at random each time they are asked, and note every question and every answer."""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Any

import orjson
from aiohttp import web

from referee.house.server import House
from tests.end_to_end.bots import Bots


@dataclass(slots=True)
class Ask:
    """Hold one question as one bot received it, from ``host`` and its port ``connection``, and the action it gave."""

    id: str
    match_id: str
    seat: int
    body: str  # digest
    at: float
    connection: int
    action: Any = None
    host: str = ""

    @property
    def origin(self) -> tuple[str, int]:
        """Return the address and the port of the runner: each runner opens its own connections."""
        return self.host, self.connection


@dataclass(slots=True)
class Notebook:
    """Collect the questions to all bots, in order of arrival, and the ends of matches that they learned of."""

    asks: list[Ask] = field(default_factory=list)
    ended: dict[str, float] = field(default_factory=dict)  # by match: when the first bot learned its result
    by_match: dict[str, list[Ask]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def note(self, ask: Ask) -> None:
        with self._lock:
            self.asks.append(ask)
            self.by_match.setdefault(ask.match_id, []).append(ask)

    def asks_of(self, match_id: str) -> list[Ask]:
        with self._lock:
            return list(self.by_match.get(match_id, ()))

    def all_asks(self) -> list[Ask]:
        with self._lock:
            return list(self.asks)

    def count_different(self, match_id: str) -> int:
        """Return how many different questions this match has asked."""
        return len({ask.id for ask in self.asks_of(match_id)})


class RandomBot(House):
    """Choose a legal action at random, again each time the same question is asked."""

    bots: "RandomBots"

    async def _decide(self, request: web.Request) -> web.Response:
        question = await self._read_signed_body(request)
        match, id = question["match"], request.headers["webhook-id"]
        host, port = request.transport.get_extra_info("peername")[:2] if request.transport else ("", 0)
        body = sha256(await request.read()).hexdigest()
        ask = Ask(id, match["id"], match["seat"], body, time.monotonic(), port, host=host)
        self.bots.notebook.note(ask)
        await self.bots.wait_if_held(ask)
        if self.latency_ms:
            await asyncio.sleep(self.latency_ms / 1000)
        ask.action = self.bots.rng.choice(question["legal_actions"])
        answer = {"decision": question["decision"]["id"], "action": ask.action}
        return web.Response(body=orjson.dumps(answer), content_type="application/json")

    async def _read_signed_body(self, request: web.Request) -> Any:
        body = await super()._read_signed_body(request)
        if body.get("type") == "match_end":
            self.bots.notebook.ended.setdefault(body["match"]["id"], time.monotonic())
        return body


class RandomBots(Bots):
    """Serve such bots. A question that ``holds`` accepts waits for ``release_asks``."""

    def __init__(self, seed: int = 0, *, holds: Callable[[Ask], bool] = lambda ask: False) -> None:
        super().__init__()
        self.notebook = Notebook()
        self.rng = Random(seed)
        self.holds = holds
        self.held: list[tuple[Ask, asyncio.Event]] = []

    def serve_random(self, *, latency_ms: int = 0, host: str = "127.0.0.1") -> House:
        """Serve one more bot. Its address is that of ``host``."""
        house: House = RandomBot("random", None, latency_ms=latency_ms)  # type: ignore[arg-type]  # it decides itself
        house.bots = self  # type: ignore[attr-defined]
        self.run(house.start(host, 0))
        self.served.append(house)
        return house

    async def wait_if_held(self, ask: Ask) -> None:
        if self.holds(ask):
            released = asyncio.Event()
            self.held.append((ask, released))
            await released.wait()

    def held_asks(self, match_id: str) -> list[Ask]:
        return [ask for ask, _ in list(self.held) if ask.match_id == match_id]

    def release_asks(self, *asks: Ask) -> None:
        """Let these questions be answered, or all that wait."""
        for entry in list(self.held):
            ask, released = entry
            if not asks or ask in asks:
                self.held.remove(entry)
                self._loop.call_soon_threadsafe(released.set)

    def release(self, *ids: str) -> None:
        self.holds = lambda ask: False
        self.release_asks()
        super().release(*ids)


def hold_from(notebook: Notebook, number: int) -> Callable[[Ask], bool]:
    """Return a rule that holds, in each match, the different question with this number (from 1) and all later ones."""

    def is_held(ask: Ask) -> bool:
        return notebook.count_different(ask.match_id) >= number

    return is_held
