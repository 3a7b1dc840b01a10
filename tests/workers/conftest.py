"""A database for workers, with house bots served on loopback and registered like any other bots."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.audit.database_audit import audit
from referee.bots import bots
from referee.bots.bots import Quotas
from referee.bots.tables import Bot
from referee.games import catalogue
from referee.house.players import find_player
from referee.house.server import House, serve
from referee.match.canonical import Json
from referee.match.log import parse_row
from referee.match.time_limits import Limits
from referee.match.verification import VerificationReport, verify
from referee.matches import matches
from referee.matches.logs import logs
from referee.matches.logs.recording import MatchUpdate
from referee.matches.matches import MatchPlan
from referee.matches.scheduling import Deal, create_matches
from referee.matches.states import DealSharing
from referee.matches.tables import MatchSeat, StoredMatch
from referee.protocol.signing import bot_secret
from referee.settings import Settings
from referee.version import RELEASE
from tests.database.databases import kept, sqlite_url
from tests.database.world import Transactions, manifest_of, verify_all
from tests.surroundings import MASTER_KEY, settings_for
from workers.database_thread import DatabaseThread
from workers.runner import Runner
from workers.runner_counters import RunnerCounters

SHORT = {"rounds": 2}
PATIENT = Limits(60_000, 60_000)


class First(House):
    """A house bot that always plays the default."""

    def __init__(self) -> None:
        super().__init__("first", find_player("first"))

    async def listen(self, ssl_context: Any = None) -> None:
        """Listen on the port of its URL again, or over TLS from now on."""
        if self._runner is not None:
            port = int(self.url.rpartition(":")[2])
            await web.TCPSite(self._runner, "127.0.0.1", port, ssl_context=ssl_context).start()

    async def stop_listening(self) -> None:
        """Refuse new connections. Open ones stay."""
        assert self._runner is not None
        for site in list(self._runner.sites):
            await site.stop()


class Scripted(First):
    """A house bot that always plays the default. ``before`` sees the question first; if it returns
    something, that is the answer."""

    def __init__(self, before: Callable[[web.Request], Awaitable[web.Response | None]]) -> None:
        super().__init__()
        self.before = before

    async def _decide(self, request: web.Request) -> web.Response:
        return await self.before(request) or await super()._decide(request)


def hang_up(request: web.Request) -> web.Response:
    """Break the connection off. The response is never sent."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


class Holding:
    """A handler that counts questions and delays them until released."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bytes]] = []  # webhook-id and body
        self.released = asyncio.Event()
        self.most_at_once = self._at_once = 0

    async def __call__(self, request: web.Request) -> None:
        self.asked.append((request.headers["webhook-id"], await request.read()))
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        await self.released.wait()
        self._at_once -= 1

    async def until_asked(self, times: int = 1) -> None:
        await until(lambda: len(self.asked) == times)


@dataclass
class Clock:
    """Simulated time that is advanced manually."""

    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s


async def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for a condition; fail after a time limit.

    It returns a bool: a list that was empty when the condition was evaluated may be filled before it is looked at.
    """
    async with asyncio.timeout(seconds):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110  # what is waited for is in other processes too
            await asyncio.sleep(0.02)


@asynccontextmanager
async def serving(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    """Start an HTTP server that passes every path to the handler."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@dataclass
class World(Transactions):
    """The database, with helpers."""

    settings: Settings
    bot_ids: list[str] = field(default_factory=list)

    def enlist(self, url: str) -> Bot:
        """Create an owner with one bot at this address."""
        return self.write(self._enlist, url)

    def enlist_verified(self, urls: Sequence[str], version: str = RELEASE, *, most: int = 100) -> list[Bot]:
        """Create bots with a handshake, and with a check of this version that passed in all games."""
        with self.database.write() as session:
            made = [self._enlist(session, url) for url in urls]
            verify_all(session, [bot.id for bot in made], manifest_of(version, sorted(catalogue()), most))
        return made

    def _enlist(self, session: Session, url: str) -> Bot:
        number = len(self.bot_ids) + 1
        owner = accounts.create_account(session, f"Owner {number}")
        bot = bots.register(session, owner.id, f"Bot {number}", url, quotas=Quotas(per_host=1_000, per_group=1_000))
        self.bot_ids.append(bot.id)
        return bot

    def secret_of(self, bot: Bot) -> str:
        return bot_secret(MASTER_KEY, bot.id, bot.secret_generation)

    def arrange(self, game: str, bot_ids: Sequence[str], **plan: Any) -> str:
        with self.database.write() as session:
            wanted = MatchPlan(game, list(bot_ids), plan.pop("options", {}), plan.pop("limits", Limits()), **plan)
            return matches.create_match(session, wanted, master_key=MASTER_KEY).id

    def arrange_sharing(self, game: str, bot_ids: Sequence[str], options: Any) -> list[str]:
        """Create two matches of these bots that share their cards, with the seats exchanged."""
        with self.database.write() as session:
            deal = Deal("shared", DealSharing.DUPLICATE)
            seatings = (list(bot_ids), list(reversed(bot_ids)))
            plans = [MatchPlan(game, seating, options, Limits(), deal=deal) for seating in seatings]
            return create_matches(session, plans, master_key=MASTER_KEY)

    def give_to_one_owner(self, bot_ids: Sequence[str]) -> None:
        """Give these bots to the owner of the first."""
        with self.database.write() as session:
            owner_id = bots.get_bot(session, bot_ids[0]).owner_id
            for bot_id in bot_ids:
                bots.get_bot(session, bot_id).owner_id = owner_id

    def limit_calls(self, *limits: int) -> None:
        """Let the first bots accept this number of concurrent calls."""
        with self.database.write() as session:
            for bot_id, limit in zip(self.bot_ids, limits, strict=False):
                bots.get_bot(session, bot_id).max_concurrent_requests = limit

    def request_check(self, bot_id: str) -> None:
        self.write(bots.request_handshake, bot_id, with_check=True)

    def match(self, match_id: str) -> StoredMatch:
        return self.read(matches.get_match, match_id)

    def status(self, match_id: str) -> str:
        return self.match(match_id).status

    async def until_finished(self, *match_ids: str, seconds: float = 30) -> None:
        await until(lambda: {self.status(match_id) for match_id in match_ids} == {"finished"}, seconds)

    def seats(self, match_id: str) -> list[MatchSeat]:
        return self.read(matches.seats_of, [match_id])[match_id]

    def faults(self, match_id: str) -> list[int]:
        return [seat.faults for seat in self.seats(match_id)]

    def bot(self, bot_id: str) -> Bot:
        return self.read(bots.get_bot, bot_id)

    def lines(self, match_id: str) -> list[bytes]:
        return self.read(logs.log_lines, match_id)

    def rows(self, match_id: str) -> list[Json]:
        return [parse_row(line) for line in self.lines(match_id)]

    def verified(self, match_id: str) -> VerificationReport:
        return verify(self.lines(match_id))

    def differences(self) -> list[str]:
        """Return the findings of ``referee admin audit``."""
        return [str(difference) for difference in self.listed(audit)]

    async def run(self, **changes: Any) -> RunnerCounters:
        """Run a runner until nothing is due."""
        return await Runner(replace(self.settings, **changes), self.database).run()

    @asynccontextmanager
    async def running(
        self, *, runner_slots: int = 100, to_the_end: bool = False, **options: Any
    ) -> AsyncIterator[Runner]:
        """Run a runner while the block runs. Stop it afterwards, or wait until nothing is due any more."""
        runner = Runner(replace(self.settings, runner_slots=runner_slots), self.database, **options)
        task = asyncio.create_task(runner.run())
        try:
            yield runner
            if to_the_end:
                await task
        finally:
            runner.stop()
            await task

    @asynccontextmanager
    async def houses(
        self, *wanted: str | House, latency_ms: int = 0, version: str = RELEASE
    ) -> AsyncIterator[list[House]]:
        """Serve, register and verify house bots; their certificates of this ``version`` are old."""
        async with AsyncExitStack() as stack:
            served: list[House] = []
            for one in wanted:
                if isinstance(one, House):
                    house = await one.start("127.0.0.1", 0)
                else:
                    house = await serve(one, latency_ms=latency_ms, seed=len(self.bot_ids) + len(served))
                stack.push_async_callback(house.close)
                served.append(house)
            for house, bot in zip(served, self.enlist_verified([house.url for house in served], version), strict=True):
                house.secret = self.secret_of(bot)
            yield served

    async def play(
        self, *wanted: str | House, game: str = "saint-poker", options: Json | None = None, **plan: Any
    ) -> str:
        """Play a match of new bots, by default a short one. Return its id."""
        async with self.houses(*wanted):
            match_id = self.arrange(game, self.bot_ids, options=SHORT if options is None else options, **plan)
            await self.run()
        return match_id


@pytest.fixture
def world(tmp_path: Path, sqlite_template: Path) -> Iterator[World]:
    url = sqlite_url(sqlite_template.parent, sqlite_template)
    settings, database = replace(settings_for(tmp_path), database_url=url), kept(url)
    yield World(database, settings)
    database.dispose()


@pytest.fixture
def updates(monkeypatch: pytest.MonkeyPatch) -> list[MatchUpdate]:
    """Return the updates that runners record from now on."""
    updates: list[MatchUpdate] = []
    record = DatabaseThread.record

    async def noted(thread: DatabaseThread, update: MatchUpdate) -> None:
        await record(thread, update)
        updates.append(update)

    monkeypatch.setattr(DatabaseThread, "record", noted)
    return updates
