"""House bots as real HTTP servers in a thread of the tests, which see every question and may keep one waiting."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar

from aiohttp import web

from referee.house.players import find_player
from referee.house.server import House

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """What a bot was asked, when, and in which bytes."""

    id: str  # match, seat and number of the question
    match_id: str
    at: float
    body: bytes


@dataclass
class Desk:
    """All questions to all bots, and which of them wait."""

    holds: Sequence[int] = ()  # in each match, delay the first question that follows at least this number of others
    asked: list[Question] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    held: dict[str, asyncio.Event] = field(default_factory=dict)
    trouble: list[str] = field(default_factory=list)

    def held_of(self, match_id: str) -> list[str]:
        return [id for id in list(self.held) if id.startswith(match_id + "_")]

    def times(self, id: str) -> list[Question]:
        return [question for question in list(self.asked) if question.id == id]

    def of(self, match_id: str) -> list[Question]:
        return [question for question in list(self.asked) if question.match_id == match_id]


class Watched(House):
    """A house bot that notes every question at the desk before it answers."""

    desk: Desk

    async def _decide(self, request: web.Request) -> web.Response:
        id = request.headers["webhook-id"]
        match_id, _, _ = id.rsplit("_", 2)
        body = await request.read()
        self.desk.asked.append(Question(id, match_id, time.monotonic(), body))
        earlier = {question.id for question in self.desk.of(match_id)} - {id}
        holds = [hold for hold in self.desk.holds if len(earlier) >= hold]
        if id not in self.desk.held and len(self.desk.held_of(match_id)) < len(holds):
            released = self.desk.held[id] = asyncio.Event()
            await released.wait()
        try:
            response = await super()._decide(request)
        except web.HTTPException as error:
            self.desk.trouble.append(f"{id}: {error.text}")
            raise
        self.desk.answered.append(id)
        return response


class Bots:
    """A thread with an event loop in which bots are served."""

    def __init__(self, *, holds: Sequence[int] = ()) -> None:
        self.desk = Desk(holds)
        self.served: list[House] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="bots", daemon=True)

    def serve(self, name: str, *, latency_ms: int = 0, make: Callable[..., House] = Watched) -> House:
        """One more bot, played by the house player of this name."""
        house = make(name, find_player(name), latency_ms=latency_ms)
        if isinstance(house, Watched):
            house.desk = self.desk
        self.run(house.start("127.0.0.1", 0))
        self.served.append(house)
        return house

    def release(self, *ids: str) -> None:
        """Lets questions be answered: these, or all that wait."""
        for id in ids or list(self.desk.held):
            self._loop.call_soon_threadsafe(self.desk.held[id].set)

    def expect(self, *holds: int) -> None:
        """Answer and forget all questions, and delay others from now on."""
        self.release()
        self.desk.holds = holds
        for kept in (self.desk.asked, self.desk.answered, self.desk.held):
            kept.clear()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.desk.holds = ()
        self.release()
        for house in self.served:
            self.run(house.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
