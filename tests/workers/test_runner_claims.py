"""Test what a runner claims and when: a share of its slots for friendlies, and rests after claims that find nothing."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import Engine, event, select

from referee.bots import bots
from referee.matches.tables import Fault
from referee.workflows import pausing
from tests.surroundings import MASTER_KEY
from tests.workers.conftest import Scripted, World
from tests.workers.test_runner import PATIENT, SHORT, Holding, seats_of, until
from workers.runner import MAX_REST_S, Runner, RunnerCounters


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
            await until(lambda: holding.asked)
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


def test_matches_that_end_while_a_runner_rests_are_made_up_for_together(world: World) -> None:
    clock = Clock(per_claim_s=0.1)
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
                await until(partial(lambda ended: runner.counters.finished >= ended, ended))
                await until(partial(lambda looks: clock.looks > looks + 10, clock.looks))
            clock.now_s += MAX_REST_S
            await until(lambda: runner.counters.finished == 6)
            last.released.set()
            return await running

    with clock.passing():
        tally = asyncio.run(story())

    # Twice a claim that finds matches and one that finds none. A claim after every match would make eight.
    assert (tally.finished, tally.claims) == (7, 4)


def test_a_due_match_of_free_bots_is_claimed_within_a_sweep_though_others_wait_for_full_ones(world: World) -> None:
    clock, holding = Clock(per_claim_s=50.0), Holding()

    async def story() -> None:
        async with world.houses("first", "first", "first", Scripted(holding)):
            one_call_each(world)
            full, free = world.bot_ids[::3], world.bot_ids[1:3]
            for _ in range(3):
                world.arrange("saint-poker", full, options=SHORT, limits=PATIENT)
            runner = Runner(world.settings, world.database, seconds=clock)
            running = asyncio.create_task(runner.run())
            await until(lambda: holding.asked and runner.counters.claims == 2)  # the second finds none
            wanted = world.arrange("saint-poker", free, options=SHORT)
            clock.now_s += MAX_REST_S
            await until(lambda: world.match(wanted).status != "due")
            runner.stop()
            await running
            holding.released.set()

    with clock.passing():
        asyncio.run(story())


# -- helpers --


def one_call_each(world: World) -> None:
    """Let every bot accept one call at a time."""
    with world.database.write() as session:
        for bot_id in world.bot_ids:
            bots.get_bot(session, bot_id).max_concurrent_requests = 1


@dataclass
class Clock:
    """Simulated time that is advanced manually, and by ``per_claim_s`` whenever a runner claims matches."""

    per_claim_s: float
    now_s: float = 0.0
    looks: int = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.now_s

    @contextmanager
    def passing(self) -> Iterator[None]:
        def executed(_: object, __: object, statement: str, *___: object) -> None:
            if statement.startswith("WITH RECURSIVE"):  # the accounts with due matches, queried once per claim
                self.now_s += self.per_claim_s

        event.listen(Engine, "before_cursor_execute", executed)
        try:
            yield
        finally:
            event.remove(Engine, "before_cursor_execute", executed)
