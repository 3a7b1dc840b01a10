"""Test that the age of a runner keeps nothing waiting: what it hands over, what it finishes first, what follows."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from sqlalchemy import select
from sqlalchemy import update as sql_update

from referee.bots.tables import Bot, Check
from referee.errors import Unavailable
from referee.matches.tables import Fault, StoredMatch
from tests.workers.conftest import PATIENT, SHORT, Clock, First, Holding, Scripted, World, serving, until
from tests.workers.test_bot_checks import QUICK
from workers import queues, runner
from workers.capacity import FIRST_REST_S
from workers.connectivity import Connectivity
from workers.database_thread import DatabaseThread
from workers.match_context import MatchContext
from workers.runner import LIFETIME_S, LONGEST_LIFE_S, Runner


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "GRACE_S", 0.1)


@dataclass
class Runners:
    """Run one runner after the other, as a worker does. ``ended`` counts those that have ended."""

    world: World
    clock: Clock = field(default_factory=Clock)
    ended: int = 0

    def grow_old(self) -> None:
        self.clock.now_s += LIFETIME_S + 1

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        self._stopping, self._runner = False, self._create()
        worker = asyncio.create_task(self._work())
        try:
            yield
        finally:
            self._stopping = True
            self._runner.stop()
            await worker

    async def _work(self) -> None:
        while not self._stopping:
            await self._runner.run()
            self.ended += 1
            self._runner = self._create()
            await asyncio.sleep(0.01)

    def _create(self) -> Runner:
        return Runner(self.world.settings, self.world.database, suite=QUICK, seconds=self.clock)


@asynccontextmanager
async def endless(world: World, holding: Holding, *more: str) -> AsyncIterator[tuple[Runners, str]]:
    """Let runners play a match of bot 1 that never ends. ``more`` are further bots."""
    async with world.houses("first", Scripted(holding), *more):
        match_id = world.arrange("saint-poker", world.bot_ids[:2], options=SHORT, limits=PATIENT)
        runners = Runners(world)
        async with runners.working():
            await holding.until_asked()
            yield runners, match_id
        holding.released.set()


async def until_another_is_played(world: World) -> str:
    """Arrange a match of bots 3 and 4, and wait for its end."""
    due = world.arrange("saint-poker", world.bot_ids[2:], options=SHORT)
    await world.until_finished(due)
    return due


def losses(world: World, match_id: str) -> tuple[int, int]:
    match = world.match(match_id)
    return match.lost_claims, match.claims_without_progress


async def test_E21_B16_K30_a_match_that_never_ends_keeps_nothing_waiting_however_old_the_runner(world: World) -> None:
    """Its question is cut off by one hand-over only: a bot that thinks for very long would otherwise do so for ever."""
    holding = Holding()

    async with endless(world, holding, "first", "first") as (runners, long):
        runners.grow_old()
        due = await until_another_is_played(world)
        await holding.until_asked(2)
        assert world.status(long) == "running"
        assert runners.ended == 1

        runners.grow_old()  # this one claims on
        await until_another_is_played(world)
        async with registering(world) as bot:
            await until(lambda: check_of(world, bot.id).report is not None)
        assert (runners.ended, len(holding.asked)) == (1, 2)
        assert losses(world, long) == (0, 0)

        runners.clock.now_s += LONGEST_LIFE_S
        await holding.until_asked(3)
        holding.released.set()
        await world.until_finished(long)

    assert holding.asked[0] == holding.asked[1] == holding.asked[2]
    assert world.faults(long) == [0, 0]
    assert all(world.verified(match_id).ok for match_id in (long, due))
    assert (check_of(world, bot.id).report or {})["verdict"] == "pass"
    assert LONGEST_LIFE_S + 60 < queues.JOB_LIMIT_S


@asynccontextmanager
async def registering(world: World) -> AsyncIterator[Bot]:
    """Serve and register a bot whose check is requested. Yield it when it is verified."""
    house = await First().start("127.0.0.1", 0)
    bot = await asyncio.to_thread(world.enlist, house.url)
    house.secret = world.secret_of(bot)
    world.request_check(bot.id)  # the first call may have come too early
    try:
        await until(lambda: world.bot(bot.id).status == "verified")
        yield bot
    finally:
        await house.close()


async def test_C9_of_the_times_before_and_after_a_hand_over_the_longer_one_is_charged(world: World) -> None:
    """Adding them would charge what our hand-over cost; the second alone would let bots think for free."""
    holding = Holding()

    async with world.houses("first", Scripted(holding)):
        match_id = world.arrange("saint-poker", world.bot_ids, options=SHORT, limits=PATIENT)
        async with world.running():
            await holding.until_asked()
        holding.released.set()
        interrupted = world.match(match_id).interrupted
        assert interrupted is not None
        assert interrupted["ms"].keys() == {"1"}
        with world.database.write() as session:  # as if the bot had thought for longer
            session.execute(sql_update(StoredMatch).values(interrupted={**interrupted, "ms": {"1": 70_000}}))
        await world.run()

    answers = [row for row in world.rows(match_id) if row["type"] == "decision" and row["seat"] == 1]
    assert answers[0]["ms"] == 70_000
    assert all(row["ms"] < 60_000 and row["source"] == "bot" for row in answers[1:])
    times = [json.loads(body)["time"] for _, body in holding.asked]
    assert times[0] == times[1]
    assert times[2]["bank_ms"] == PATIENT.bank_ms - 10_000
    assert world.verified(match_id).ok


async def test_a_check_that_began_before_a_runner_was_old_ends_before_it(world: World) -> None:
    """Otherwise a check that takes longer than what is left of the life of its runner might never end."""
    thinking = Holding()

    async with world.houses("first", "first", Scripted(thinking)):
        runners, checked = Runners(world), world.bot_ids[2]
        begun = check_of(world, checked).epoch + 1
        world.request_check(checked)
        async with runners.working():
            await thinking.until_asked()
            runners.grow_old()
            due = world.arrange("saint-poker", world.bot_ids[:2], options=SHORT)
            await world.until_finished(due)
            assert (check_of(world, checked).state, runners.ended) == ("running", 0)
            thinking.released.set()
            await until(lambda: check_of(world, checked).state == "idle")
            await until(lambda: runners.ended > 0)

    assert begun <= check_of(world, checked).epoch <= begun + 1  # scheduled, and claimed once


async def test_a_handshake_that_a_stop_cuts_off_is_due_at_once_and_does_not_count_as_lost(world: World) -> None:
    called, ended = asyncio.Event(), asyncio.Event()

    async def silent(_request: web.Request) -> web.StreamResponse:
        called.set()
        await ended.wait()
        return web.Response()

    async with serving(silent) as url:
        world.enlist(url)
        async with world.running():
            await called.wait()
        ended.set()

    bot = world.bot(world.bot_ids[0])
    assert (bot.handshake_state, bot.handshake_lost_claims, bot.handshake_report) == ("due", 0, None)


async def test_K9_a_runner_hands_nothing_over_while_no_wake_up_can_follow(world: World, tmp_path: Path) -> None:
    """Without Redis no other runner would start, so this one plays and claims on."""
    holding = Holding()
    world.settings = replace(world.settings, redis_url=f"unix://{tmp_path / 'nowhere'}")

    async with endless(world, holding, "first", "first") as (runners, _):
        runners.grow_old()
        await until_another_is_played(world)
        assert (runners.ended, len(holding.asked)) == (0, 1)


@dataclass
class Outage:
    """Let the database of runners be away at times. ``attempts`` counts transactions."""

    is_on: bool = False
    attempts: int = 0
    attempt: Callable[..., Exception | None] = DatabaseThread._attempt

    def __call__(self, thread: DatabaseThread, jobs: Any) -> Exception | None:
        self.attempts += 1
        return Unavailable("away") if self.is_on else self.attempt(thread, jobs)


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Outage:
    outage = Outage()
    monkeypatch.setattr(DatabaseThread, "_attempt", lambda thread, jobs: outage(thread, jobs))
    return outage


async def test_K16_a_runner_hands_nothing_over_while_the_database_is_away(world: World, outage: Outage) -> None:
    """Its claims could not be released, so all of its matches would count as lost."""
    holding = Holding()

    async with endless(world, holding) as (runners, long):
        outage.is_on = True
        runners.grow_old()
        before = outage.attempts
        await until(lambda: outage.attempts > before + 4 or runners.ended > 0)
        assert (runners.ended, len(holding.asked)) == (0, 1)
        outage.is_on = False
        runners.grow_old()
        await holding.until_asked(2)

    assert losses(world, long) == (0, 0)


async def test_K16_a_runner_stops_when_asked_also_while_the_database_is_away(world: World, outage: Outage) -> None:
    asked = 0

    async def lose_database(_: web.Request) -> None:
        nonlocal asked
        asked += 1
        outage.is_on = True

    async with world.houses("first", Scripted(lose_database)):
        world.arrange("saint-poker", world.bot_ids[:2], options=SHORT, limits=PATIENT)
        async with asyncio.timeout(60), world.running() as stopped:
            await until(lambda: outage.is_on and bool(stopped._thread._waiting))  # to claim, behind the answer

    assert asked == 1


async def test_K16_a_match_that_an_outage_interrupted_is_released_also_if_its_runner_stops_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()

    async def fail(_: MatchContext) -> bool:
        begun.set()
        raise Unavailable("away")

    monkeypatch.setattr(runner, "play_match", fail)

    async with world.houses("first", "first"):
        match_id = world.arrange("saint-poker", world.bot_ids, options=SHORT)
        async with world.running():
            await begun.wait()

    assert (world.status(match_id), losses(world, match_id)[0]) == ("due", 0)


async def test_K24_a_runner_that_rests_hands_nothing_over(world: World) -> None:
    """The next one would not know what this one lacks."""
    clock = Clock()
    old = Runner(world.settings, world.database, seconds=clock)
    clock.now_s += LIFETIME_S
    old._capacity.note_shortage(1, "too many open files")

    assert not await old._may_hand_over()
    clock.now_s += 2 * FIRST_REST_S
    assert await old._may_hand_over()


async def test_K22_a_runner_hands_nothing_over_during_an_outage_of_the_network(world: World) -> None:
    """The next one would not know how long matches have waited, so they might wait for ever."""
    clock, uplink = Clock(), Connectivity()
    old = Runner(world.settings, world.database, connectivity=uplink, seconds=clock)
    clock.now_s += LIFETIME_S
    for owner_id in ("ada", "bob", "cyd"):
        failed_at = uplink.record_failure(owner_id)
    assert uplink.verdict(failed_at) == "down"

    assert not await old._may_hand_over()
    uplink.record_success()
    assert await old._may_hand_over()


async def test_matches_are_handed_over_between_two_questions(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def note(request: web.Request) -> None:
        asked.append(request.headers["webhook-id"])
        await asyncio.sleep(0.01)

    monkeypatch.setattr(runner, "GRACE_S", 30.0)
    async with world.houses(Scripted(note), Scripted(note), Scripted(note)):
        ids = [world.arrange("pool-nap", world.bot_ids, options={"rounds": 15}) for _ in range(3)]
        runners = Runners(world)
        async with runners.working():
            while not all(world.status(match_id) == "finished" for match_id in ids):
                runners.grow_old()
                await asyncio.sleep(0.05)

    assert len(asked) == len(set(asked))
    assert all(world.match(match_id).epoch > 1 for match_id in ids)
    assert {losses(world, match_id) for match_id in ids} == {(0, 0)}
    assert all(world.verified(match_id).ok for match_id in ids)
    assert world.scalars(select(Fault)) == []


# -- helpers --


def check_of(world: World, bot_id: str) -> Check:
    return world.get_one(Check, bot_id)
