"""Many silent bots: handshakes of many accounts with one address, and a match that goes on beside."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from sqlalchemy import func, select

from referee.botclient.address_caps import HANDSHAKES, AddressCaps
from referee.botclient.client import CallLimits
from referee.bots.handshakes import HANDSHAKES_PER_OWNER
from referee.bots.tables import Bot
from referee.matches.states import MatchState
from referee.matches.tables import StoredMatch
from tests.workers.conftest import PATIENT, SHORT, World, until

ACCOUNTS = 10
SILENT_BOTS = 40
ORGANISERS = 5


@dataclass
class Victim:
    """A server at several ports of one address that answers when it is allowed to."""

    urls: list[str] = field(default_factory=list)
    held: int = 0
    most_held: int = 0
    requests: int = 0
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.Response:
        await request.read()
        self.requests += 1
        self.held += 1
        self.most_held = max(self.most_held, self.held)
        try:
            await self.may_answer.wait()
        finally:
            self.held -= 1
        return web.Response(status=404)

    @asynccontextmanager
    async def serving(self, ports: int) -> AsyncIterator["Victim"]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        served = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
        await served.setup()
        for _ in range(ports):
            await web.TCPSite(served, "127.0.0.1", 0).start()
        self.urls = [f"http://127.0.0.1:{address[1]}" for address in served.addresses]
        try:
            yield self
        finally:
            await served.cleanup()


async def test_A13_handshakes_of_many_accounts_with_an_address_are_few_at_a_time_and_none_is_lost(world: World) -> None:
    async with Victim().serving(ACCOUNTS) as victim:
        for url in victim.urls:
            world.enlist(url)
        async with world.running() as runner:
            await until(lambda: victim.held == HANDSHAKES)
            await until(lambda: sum(world.scalars(select(Bot.epoch))) > HANDSHAKES)  # one more was claimed
            assert victim.most_held == victim.requests == HANDSHAKES
            victim.may_answer.set()
            await until(lambda: all(world.scalars(select(Bot.handshake_report))))
            await until(lambda: runner.counters.handshakes == ACCOUNTS)  # counted after the report is committed

        assert victim.most_held == HANDSHAKES
        assert victim.requests == ACCOUNTS  # one challenge each
        reports = world.scalars(select(Bot.handshake_report))
        assert [report["challenge"]["code"] for report in reports if report] == ["bad_status"] * ACCOUNTS


async def test_A13_B16_silent_bots_of_one_owner_take_neither_all_handshakes_nor_slots(world: World) -> None:
    async with world.houses("first", "first"), Victim().serving(2 * HANDSHAKES_PER_OWNER) as holding:
        world.give_to_one_owner([world.enlist(url).id for url in holding.urls])
        async with world.running(runner_slots=2) as runner:
            runner._handshake_limits = CallLimits(AddressCaps(ACCOUNTS))  # as if each had an address of its own
            await until(lambda: holding.held == HANDSHAKES_PER_OWNER)

            match_id = world.arrange("saint-poker", world.bot_ids[:2], options=SHORT)
            fair = await asyncio.to_thread(world.enlist, "http://127.0.0.1:1024")
            await until(lambda: world.bot(fair.id).handshake_report is not None)
            await world.until_finished(match_id)

            assert holding.most_held == HANDSHAKES_PER_OWNER
            assert holding.held > 0


async def test_K30_a_match_goes_on_beside_very_many_bots_that_never_answer(world: World) -> None:
    """They are in matches of several organisers."""

    def running() -> int:
        return world.one(select(func.count()).where(StoredMatch.status == MatchState.RUNNING))

    async with world.houses("first", "first"), Victim().serving(SILENT_BOTS // 2) as silent:
        fair = world.bot_ids[:2]
        world.enlist_verified(silent.urls * 2, most=8)
        bot_ids = world.bot_ids[2:]
        owners = [world.bot(bot_id).owner_id for bot_id in bot_ids[:ORGANISERS]]
        for number, pair in enumerate(zip(bot_ids[::2], bot_ids[1::2], strict=True)):
            world.arrange("saint-poker", pair, limits=PATIENT, created_by=owners[number % ORGANISERS])
        async with world.running():
            await until(lambda: running() == SILENT_BOTS // 2 and silent.held >= SILENT_BOTS // 2, 120)

            match_id = world.arrange("saint-poker", fair, options=SHORT)
            await world.until_finished(match_id, seconds=60)

            assert running() == SILENT_BOTS // 2
            assert silent.held >= SILENT_BOTS // 2

    assert world.faults(match_id) == [0, 0]
    assert world.bot(fair[0]).unreachable_streak == 0
