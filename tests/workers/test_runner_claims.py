"""Test what a runner claims and when: shares of its slots for friendlies, and where it looks for due matches."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest
from aiohttp import web
from sqlalchemy import select
from sqlalchemy import update as sql_update
from sqlalchemy.orm import Session

from referee.bots import bots
from referee.db.clock import SystemClock
from referee.matches.logs.recording import MatchUpdate
from referee.matches.queue import claims
from referee.matches.queue.capacity import ClaimUnit
from referee.matches.tables import Fault, StoredMatch
from referee.workflows.bots import pausing
from tests.surroundings import MASTER_KEY
from tests.workers.conftest import Scripted, World
from tests.workers.test_runner import PATIENT, SHORT, Holding, seats_of, until
from workers.database_thread import DatabaseThread
from workers.look_planner import LOOK_EVERYWHERE_S
from workers.match_claiming import BATCH_SIZE
from workers.runner import Runner
from workers.runner_counters import RunnerCounters


def test_E21_tarpits_in_the_friendlies_of_one_account_hold_a_quarter_of_the_slots(world: World) -> None:
    holding = Holding()

    async def story() -> None:
        async with world.houses("first", "first", Scripted(holding)):
            tarpit, account_id = world.bot_ids[2], world.bot(world.bot_ids[2]).owner_id
            friendly = {"limits": PATIENT, "rated": False, "created_by": account_id}
            for _ in range(10):
                world.arrange("saint-poker", [world.bot_ids[0], tarpit], **friendly)
            runner = Runner(replace(world.settings, runner_slots=8), world.database)
            running = asyncio.create_task(runner.run())
            await until(lambda: len(holding.asked) == 2)
            of_others = world.arrange("saint-poker", world.bot_ids[:2], options=SHORT)
            await until(lambda: world.match(of_others).status == "finished")
            assert len(holding.asked) == 2
            runner.stop()
            await running
            holding.released.set()

    asyncio.run(story())


def test_E21_the_slot_of_a_friendly_comes_back_when_a_bot_in_it_is_paused_and_nobody_is_charged(world: World) -> None:
    holding = Holding()

    async def story() -> str:
        async with world.houses("first", "first", Scripted(holding)):
            held = world.arrange("saint-poker", [world.bot_ids[0], world.bot_ids[2]], limits=PATIENT, rated=False)
            runner = Runner(replace(world.settings, runner_slots=1), world.database)
            running = asyncio.create_task(runner.run())
            await until(lambda: bool(holding.asked))
            with world.database.write() as session:
                pausing.pause_bot(session, world.bot_ids[0], "enough", master_key=MASTER_KEY)
            next_one = world.arrange("saint-poker", world.bot_ids[1:3], options=SHORT)
            await until(lambda: len(holding.asked) == 2)
            assert world.match(next_one).status == "running"
            holding.released.set()
            await running
        return held

    held = world.match(asyncio.run(story()))

    assert (held.status, held.reason) == ("cancelled", "bot_paused")
    assert [seat.faults for seat in seats_of(world, held.id)] == [0, 0]
    with world.database.read() as session:
        assert session.scalars(select(Fault)).all() == []
    assert [world.bot(one).unreachable_streak for one in world.bot_ids] == [0, 0, 0]


def test_a_runner_looks_at_the_matches_of_the_bots_that_it_freed_and_claims_without_a_vain_attempt(
    world: World,
) -> None:
    clock = Clock()
    pairs = [Holding() for _ in range(4)]
    last = pairs[-1]

    async def story() -> RunnerCounters:
        async with world.houses(*["first"] * 4, *[Scripted(holding) for holding in pairs]):
            one_call_each(world)
            for at in (0, 1, 2, 3, 0, 1, 2):
                world.arrange("saint-poker", [world.bot_ids[at], world.bot_ids[at + 4]], options=SHORT, limits=PATIENT)
            runner = Runner(world.settings, world.database, seconds=clock)
            running = asyncio.create_task(runner.run())
            await until(lambda: all(holding.asked for holding in pairs))
            for ended, holding in enumerate(pairs[:-1], 1):
                holding.released.set()
                await until(partial(lambda ended: runner.counters.finished >= 2 * ended, ended))
            last.released.set()
            return await running

    tally = asyncio.run(story())

    # One look everywhere that finds four matches and one after it, then one for each match that ended, while the clock
    # stands still: there is no other look everywhere. Claims are made only for what was found.
    assert tally.finished == 7
    assert tally.claims == 4
    assert tally.looks <= 1 + 7


def test_a_due_match_of_free_bots_is_claimed_at_once_though_others_wait_for_full_ones(world: World) -> None:
    holding = Holding()

    async def story() -> None:
        async with world.houses("first", "first", "first", Scripted(holding)):
            one_call_each(world)
            full, free = world.bot_ids[::3], world.bot_ids[1:3]
            for _ in range(3):
                world.arrange("saint-poker", full, options=SHORT, limits=PATIENT)
            runner = Runner(world.settings, world.database, seconds=Clock())
            running = asyncio.create_task(runner.run())
            await until(lambda: bool(holding.asked))
            wanted = world.arrange("saint-poker", free, options=SHORT)
            await until(lambda: world.match(wanted).status != "due")
            runner.stop()
            await running
            holding.released.set()

    asyncio.run(story())


def test_bots_that_nobody_freed_are_found_by_a_look_everywhere(world: World) -> None:
    clock, holding = Clock(), Holding()

    async def story() -> None:
        async with world.houses("first", "first", Scripted(holding)):
            one_call_each(world)
            full = world.bot_ids[::2]
            for _ in range(2):
                world.arrange("saint-poker", full, options=SHORT, limits=PATIENT)
            wanted = world.arrange("saint-poker", world.bot_ids[:2], options=SHORT)
            runner = Runner(world.settings, world.database, seconds=clock)
            running = asyncio.create_task(runner.run())
            await until(lambda: bool(holding.asked) and runner.counters.looks == 1)
            with world.database.write() as session:  # as if a match or a check of another runner had ended
                bots.get_bot(session, world.bot_ids[0]).max_concurrent_requests = 3
            clock.now_s += LOOK_EVERYWHERE_S
            await until(lambda: world.match(wanted).status != "due")
            runner.stop()
            await running
            holding.released.set()

    asyncio.run(story())


def test_a_runner_told_to_stop_while_it_claims_claims_nothing_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed: list[list[claims.ClaimedMatch]] = []

    async def story() -> None:
        async with world.houses("first", "first"):
            for _ in range(BATCH_SIZE + 1):
                world.arrange("saint-poker", world.bot_ids, options=SHORT)
            runner = Runner(world.settings, world.database, seconds=Clock())
            loop, claim = asyncio.get_running_loop(), claims.claim_found

            def stop_after_the_first(session: Session, units: Sequence[ClaimUnit], **known: Any) -> object:
                assert len(claimed) < 3, "it goes on claiming what it hands over"
                loop.call_soon_threadsafe(runner.stop)
                claimed.append(claim(session, units, **known))
                return claimed[-1]

            monkeypatch.setattr(claims, "claim_found", stop_after_the_first)
            await runner.run()

    asyncio.run(story())

    assert len(claimed) == 1
    with world.database.read() as session:
        assert {match.status for match in session.scalars(select(StoredMatch))} == {"due"}


# -- helpers --


def one_call_each(world: World) -> None:
    """Let every bot accept one call at a time."""
    with world.database.write() as session:
        for bot_id in world.bot_ids:
            bots.get_bot(session, bot_id).max_concurrent_requests = 1


def test_a_runner_that_was_suspended_while_another_claimed_the_match_asks_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a runner sleep for a minute between the commit of an answer and its next question."""
    record, boot = DatabaseThread.record, SystemClock.boot
    asleep_s, asked, asked_before = [0.0], [0], [0]

    async def suspended_after(thread: DatabaseThread, update: MatchUpdate) -> None:
        await record(thread, update)
        if asked[0] >= 3 and not asleep_s[0]:
            asleep_s[0], asked_before[0] = 60.0, asked[0]
            with world.database.write() as session:
                session.execute(sql_update(StoredMatch).values(epoch=StoredMatch.epoch + 1, lease_until=1e12))

    def later(clock: SystemClock) -> tuple[str, float]:
        boot_id, seconds = boot(clock)
        return boot_id, seconds + asleep_s[0]

    async def count(_: web.Request) -> None:
        asked[0] += 1

    async def story() -> RunnerCounters:
        async with world.houses(Scripted(count), Scripted(count), Scripted(count)):
            world.arrange("pool-nap", world.bot_ids, limits=PATIENT)
            runner = Runner(world.settings, world.database)
            running = asyncio.create_task(runner.run())
            await until(lambda: asleep_s[0] > 0 and not runner._tasks)
            runner.stop()
            return await running

    monkeypatch.setattr(DatabaseThread, "record", suspended_after)
    monkeypatch.setattr(SystemClock, "boot", later)
    counters = asyncio.run(story())

    assert (counters.finished, asked) == (0, asked_before)


@dataclass
class Clock:
    """Simulated time that is advanced manually."""

    now_s: float = 0.0

    def __call__(self) -> float:
        return self.now_s
