"""Our own line: told from bots that fail, by a clock that is a number; and matches that wait until it is back."""

import asyncio

from aiohttp import web

from referee.bots.client import Reply, Timing
from tests.workers.conftest import Scripted, World
from tests.workers.test_runner import seats_of, until
from workers.runner import Runner
from workers.uplink import LONGEST_S, WINDOW_S, Uplink, is_unconnected


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def failing(uplink: Uplink, *owners: str) -> float:
    for owner in owners:
        uplink.calling(owner)
        failed_at = uplink.failed(owner)
    return failed_at


def test_K22_the_line_is_down_when_bots_of_three_owners_fail_and_nobody_answers() -> None:
    clock = Clock()
    uplink = Uplink(clock)

    failed_at = failing(uplink, "a", "b")
    assert uplink.verdict(failed_at) == "fault"  # two owners: nobody could tell
    uplink.calling("c")
    assert uplink.verdict(failed_at) == "unclear"
    uplink.failed("c")
    assert uplink.verdict(failed_at) == "down"

    clock.now += LONGEST_S - 1
    failed_at = failing(uplink, "a", "b", "c")
    assert uplink.verdict(failed_at) == "down"
    clock.now += 1
    assert uplink.verdict(failing(uplink, "a", "b", "c")) == "fault"  # long enough

    in_the_outage = failing(uplink, "a")
    clock.now += 1
    uplink.answered()
    assert not uplink.is_down
    assert uplink.verdict(in_the_outage) == "down"  # to be asked again, now that the line is back
    clock.now += 1
    failed_at = failing(uplink, "a")
    clock.now += 1
    uplink.answered()
    assert uplink.verdict(failed_at) == "fault"
    clock.now += 1
    assert uplink.verdict(failing(uplink, "a", "b", "c")) == "down"


def test_one_dead_bot_among_others_that_say_nothing_is_at_fault_after_a_while() -> None:
    clock = Clock()
    uplink = Uplink(clock)
    uplink.calling("b")
    uplink.calling("c")
    failed_at = failing(uplink, "a")
    assert uplink.verdict(failed_at) == "unclear"

    clock.now += WINDOW_S
    uplink.calling("b")
    uplink.calling("c")

    assert uplink.verdict(failed_at) == "fault"


def test_only_what_never_had_a_connection_tells_of_the_line() -> None:
    assert is_unconnected(Reply("unreachable"))
    assert is_unconnected(Reply("dns_failed"))
    assert is_unconnected(Reply("deadline", timing=Timing(connect_ms=900.0)))
    assert not is_unconnected(Reply("deadline", timing=Timing(wait_ms=900.0)))
    assert not is_unconnected(Reply("bad_status", status=500))


class Line:
    """The way to all bots: cut once three questions are under way, and whole again later."""

    def __init__(self) -> None:
        self.is_up = True
        self.under_way = 0
        self.cut = asyncio.Event()

    async def __call__(self, request: web.Request) -> web.Response | None:
        if self.is_up:
            return None
        self.under_way += 1
        await self.cut.wait()
        assert request.transport is not None
        request.transport.abort()
        return web.Response()


def test_K22_matches_wait_without_a_fault_until_the_bots_can_be_reached_again(world: World) -> None:
    async def story() -> list[str]:
        line = Line()
        async with world.houses(*(Scripted(line) for _ in range(6))) as houses:
            ids = [world.arrange("pool-nap", world.bot_ids[at : at + 2]) for at in (0, 2, 4)]
            uplink = Uplink(probe_s=0.05)
            running = asyncio.create_task(Runner(world.settings, world.database, uplink=uplink).run())
            await until(lambda: all(house.decisions > 3 for house in houses))
            line.is_up = False
            await until(lambda: line.under_way == 3)
            line.cut.set()
            await until(lambda: uplink.is_down)
            line.is_up = True
            await running
            assert not uplink.is_down
        return ids

    ids = asyncio.run(story())

    assert [[seat.faults for seat in seats_of(world, match_id)] for match_id in ids] == [[0, 0]] * 3
    assert world.differences() == []
