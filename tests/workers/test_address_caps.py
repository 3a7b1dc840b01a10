"""Caps per address in a runner: handshakes of many accounts with one address, and its deliveries."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from aiohttp import web
from sqlalchemy import select

from referee.accounts import accounts
from referee.botclient.address_caps import DELIVERIES, HANDSHAKES, AddressCaps
from referee.botclient.client import CallLimits
from referee.bots.handshakes import HANDSHAKES_PER_OWNER
from referee.bots.tables import Bot
from referee_extras.notifications import webhooks
from referee_extras.notifications.tables import Delivery
from tests.workers.conftest import World
from tests.workers.test_runner import SHORT, until
from workers.runner import Runner

ACCOUNTS = 10


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


@asynccontextmanager
async def running(world: World) -> AsyncIterator[Runner]:
    runner = Runner(world.settings, world.database)
    task = asyncio.create_task(runner.run())
    try:
        yield runner
    finally:
        runner.stop()
        await task


def rows(world: World) -> list[Bot]:
    with world.database.read() as session:
        return list(session.scalars(select(Bot)))


def test_A13_handshakes_of_many_accounts_with_one_address_are_few_at_a_time_and_none_is_lost(world: World) -> None:
    async def story() -> None:
        async with Victim().serving(ACCOUNTS) as victim:
            for url in victim.urls:
                await asyncio.to_thread(world.enlist, url)
            async with running(world) as runner:
                await until(lambda: victim.held == HANDSHAKES)
                await until(lambda: sum(bot.epoch for bot in rows(world)) > HANDSHAKES)  # one more was claimed
                assert victim.most_held == victim.requests == HANDSHAKES
                victim.may_answer.set()
                await until(lambda: all(bot.handshake_report for bot in rows(world)))
                await until(lambda: runner.counters.handshakes == ACCOUNTS)  # counted after the report is committed

            assert victim.most_held == HANDSHAKES
            assert victim.requests == ACCOUNTS  # one challenge each
            reports = [bot.handshake_report["challenge"] for bot in rows(world) if bot.handshake_report]
            assert [report["code"] for report in reports] == ["bad_status"] * ACCOUNTS

    asyncio.run(story())


def test_A13_B16_silent_bots_of_one_owner_take_neither_all_handshakes_nor_slots(world: World) -> None:
    holding = Victim()

    async def story() -> None:
        async with world.houses("first", "first"), holding.serving(2 * HANDSHAKES_PER_OWNER):
            silent = [(await asyncio.to_thread(world.enlist, url)).id for url in holding.urls]
            world.give_to_one_owner(silent)
            caps = AddressCaps(len(silent))  # as if each had an address of its own
            runner = Runner(replace(world.settings, runner_slots=2), world.database)
            runner._handshake_limits = CallLimits(caps)
            task = asyncio.create_task(runner.run())
            await until(lambda: holding.held == HANDSHAKES_PER_OWNER)

            match_id = world.arrange("saint-poker", world.bot_ids[:2], options=SHORT)
            fair = await asyncio.to_thread(world.enlist, "http://127.0.0.1:1024")
            await until(lambda: world.bot(fair.id).handshake_report is not None)
            await until(lambda: world.match(match_id).status == "finished")

            assert holding.most_held == HANDSHAKES_PER_OWNER
            assert holding.held > 0
            runner.stop()
            await task

    asyncio.run(story())


def test_A13_deliveries_of_many_accounts_to_one_address_are_few_at_a_time_and_none_is_lost(world: World) -> None:
    def subscribe(number: int, url: str) -> None:
        with world.database.write() as session:
            owner = accounts.create_account(session, f"Subscriber {number}")
            webhooks.create(session, owner.id, url, ["match.finished"])

    def waiting() -> list[Delivery]:
        with world.database.read() as session:
            return list(session.scalars(select(Delivery).where(Delivery.response_status.is_(None))))

    def put_off() -> list[Delivery]:
        """Return the deliveries that found no place."""
        return [delivery for delivery in waiting() if delivery.last_error]

    async def story() -> None:
        async with Victim().serving(ACCOUNTS) as victim:
            for number, url in enumerate(victim.urls):
                await asyncio.to_thread(subscribe, number, url)
            async with running(world):
                await until(lambda: victim.held == DELIVERIES)
                await until(lambda: len(put_off()) == ACCOUNTS - DELIVERIES)
                assert victim.most_held == victim.requests == DELIVERIES
                assert {delivery.attempts for delivery in put_off()} == {0}
                assert {delivery.status for delivery in put_off()} == {"due"}
                victim.may_answer.set()
                await until(lambda: len(waiting()) == ACCOUNTS - DELIVERIES)

            assert victim.most_held == DELIVERIES

    asyncio.run(story())
