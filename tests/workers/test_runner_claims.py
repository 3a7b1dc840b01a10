"""Test what a runner claims and when: shares of its slots for friendlies, and where it looks for due matches."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web
from sqlalchemy import select
from sqlalchemy import update as sql_update
from sqlalchemy.orm import Session

from referee.botclient.client import BotCaller
from referee.db.clock import SystemClock
from referee.matches import matches
from referee.matches.logs.recording import MatchUpdate
from referee.matches.queue import claims
from referee.matches.queue.capacity import ClaimUnit
from referee.matches.tables import Fault, StoredMatch
from referee.workflows.bots import pausing
from tests.surroundings import MASTER_KEY
from tests.workers.conftest import PATIENT, SHORT, Clock, Holding, Scripted, World, until
from workers import match_runner
from workers.database_thread import DatabaseThread
from workers.look_planner import LOOK_EVERYWHERE_S
from workers.match_claiming import BATCH_SIZE


async def test_E21_tarpits_in_the_friendlies_of_one_account_hold_a_quarter_of_the_slots(world: World) -> None:
    holding = Holding()

    async with world.houses("first", "first", Scripted(holding)):
        tarpit, account_id = world.bot_ids[2], world.bot(world.bot_ids[2]).owner_id
        friendly = {"limits": PATIENT, "rated": False, "created_by": account_id}
        for _ in range(10):
            world.arrange("saint-poker", [world.bot_ids[0], tarpit], **friendly)
        async with world.running(runner_slots=8):
            await holding.until_asked(2)
            of_others = world.arrange("saint-poker", world.bot_ids[:2], options=SHORT)
            await world.until_finished(of_others)
            assert len(holding.asked) == 2
        holding.released.set()


async def test_E21_the_slot_of_a_friendly_comes_back_when_a_bot_is_paused_and_nobody_is_charged(world: World) -> None:
    holding = Holding()

    async with world.houses("first", "first", Scripted(holding)):
        held_id = world.arrange("saint-poker", [world.bot_ids[0], world.bot_ids[2]], limits=PATIENT, rated=False)
        async with world.running(runner_slots=1, to_the_end=True):
            await holding.until_asked()
            world.write(pausing.pause_bot, world.bot_ids[0], "enough", master_key=MASTER_KEY)
            next_one = world.arrange("saint-poker", world.bot_ids[1:3], options=SHORT)
            await holding.until_asked(2)
            assert world.status(next_one) == "running"
            holding.released.set()

    held = world.match(held_id)
    assert (held.status, held.reason) == ("cancelled", "bot_paused")
    assert world.faults(held_id) == [0, 0]
    assert world.scalars(select(Fault)) == []
    assert [world.bot(one).unreachable_streak for one in world.bot_ids] == [0, 0, 0]


async def test_a_runner_looks_at_the_matches_of_bots_that_it_freed_and_claims_what_it_found(world: World) -> None:
    pairs = [Holding() for _ in range(4)]

    async with world.houses(*["first"] * 4, *map(Scripted, pairs)):
        world.limit_calls(*[1] * 8)
        for at in (0, 1, 2, 3, 0, 1, 2):
            world.arrange("saint-poker", [world.bot_ids[at], world.bot_ids[at + 4]], options=SHORT, limits=PATIENT)
        async with world.running(seconds=Clock(), to_the_end=True) as runner:
            tally = runner.counters
            await until(lambda: all(holding.asked for holding in pairs))
            for ended, holding in enumerate(pairs):
                holding.released.set()
                await until(lambda: tally.finished >= min(2 * (ended + 1), 7))  # noqa: B023  # awaited here

    # One look everywhere that finds four matches and one after it, then one for each match that ended, while the clock
    # stands still: there is no other look everywhere. Claims are made only for what was found.
    assert tally.finished == 7
    assert tally.claims == 4
    assert tally.looks <= 1 + 7


async def test_a_due_match_of_free_bots_is_claimed_at_once_though_others_wait_for_full_ones(world: World) -> None:
    holding = Holding()

    async with world.houses("first", "first", "first", Scripted(holding)):
        world.limit_calls(1, 1, 1, 1)
        full, free = world.bot_ids[::3], world.bot_ids[1:3]
        for _ in range(3):
            world.arrange("saint-poker", full, options=SHORT, limits=PATIENT)
        async with world.running(seconds=Clock()):
            await holding.until_asked()
            wanted = world.arrange("saint-poker", free, options=SHORT)
            await until(lambda: world.status(wanted) != "due")
        holding.released.set()


async def test_bots_that_nobody_freed_are_found_by_a_look_everywhere(world: World) -> None:
    clock, holding = Clock(), Holding()

    async with world.houses("first", "first", Scripted(holding)):
        world.limit_calls(1, 1, 1)
        for _ in range(2):
            world.arrange("saint-poker", world.bot_ids[::2], options=SHORT, limits=PATIENT)
        wanted = world.arrange("saint-poker", world.bot_ids[:2], options=SHORT)
        async with world.running(seconds=clock) as runner:
            await until(lambda: bool(holding.asked) and runner.counters.looks == 1)
            world.limit_calls(3)  # as if a match or a check of another runner had ended
            clock.now_s += LOOK_EVERYWHERE_S
            await until(lambda: world.status(wanted) != "due")
        holding.released.set()


async def test_a_runner_told_to_stop_claims_nothing_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    claimed: list[list[claims.ClaimedMatch]] = []
    loop, claim = asyncio.get_running_loop(), claims.claim_found

    async with world.houses("first", "first"):
        for _ in range(BATCH_SIZE + 1):
            world.arrange("saint-poker", world.bot_ids, options=SHORT)
        async with world.running(seconds=Clock(), to_the_end=True) as runner:

            def stop_after_the_first(session: Session, units: Sequence[ClaimUnit], **known: Any) -> object:
                assert len(claimed) < 3, "it goes on claiming what it hands over"
                loop.call_soon_threadsafe(runner.stop)
                claimed.append(claim(session, units, **known))
                return claimed[-1]

            monkeypatch.setattr(claims, "claim_found", stop_after_the_first)

    assert len(claimed) == 1
    assert set(world.scalars(select(StoredMatch.status))) == {"due"}


async def test_a_runner_that_slept_while_its_match_was_claimed_asks_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a runner sleep for a minute between the commit of an answer and its next question."""
    record, boot = DatabaseThread.record, SystemClock.boot
    asleep_s, asked, asked_before = 0.0, 0, 0

    async def suspended_after(thread: DatabaseThread, update: MatchUpdate) -> None:
        nonlocal asleep_s, asked_before
        await record(thread, update)
        if asked >= 3 and not asleep_s:
            asleep_s, asked_before = 60.0, asked
            world.execute(sql_update(StoredMatch).values(epoch=StoredMatch.epoch + 1, lease_until=1e12))

    def later(clock: SystemClock) -> tuple[str, float]:
        boot_id, seconds = boot(clock)
        return boot_id, seconds + asleep_s

    async def count(_: web.Request) -> None:
        nonlocal asked
        asked += 1

    async with world.houses(Scripted(count), Scripted(count), Scripted(count)):
        world.arrange("pool-nap", world.bot_ids, limits=PATIENT)
        monkeypatch.setattr(DatabaseThread, "record", suspended_after)
        monkeypatch.setattr(SystemClock, "boot", later)
        async with world.running() as runner:
            await until(lambda: asleep_s > 0 and not runner._tasks)

    assert (runner.counters.finished, asked) == (0, asked_before)


async def test_K1_no_question_is_sent_when_another_runner_claimed_the_match_while_this_one_connected(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a host that is cut off from everything, and connects when the network is back."""
    asked: list[str] = []
    lost: list[str] = []
    get_connection = BotCaller._get_connection

    async def note(request: web.Request) -> None:
        asked.append(request.headers["webhook-id"])

    async def lose_claim_once(caller: BotCaller, call: Any) -> Any:
        connection = await get_connection(caller, call)
        if asked and not lost:
            with world.database.write() as session:
                matches.get_match(session, asked[0].rsplit("_s", 1)[0]).revoke_claim()
            lost.append(asked[-1])
        return connection

    monkeypatch.setattr(match_runner, "CONFIRM_CLAIM_S", 0.0)
    monkeypatch.setattr(BotCaller, "_get_connection", lose_claim_once)
    match_id = await world.play("first", Scripted(note), limits=PATIENT)  # it is claimed again

    assert world.match(match_id).epoch == 3  # two claims and the loss between them
    assert world.verified(match_id).ok
    assert len(lost) == 1
    assert sorted(set(asked)) == sorted(asked)
