"""The client's clock: what is charged to a bot, and what is not."""

import asyncio
import time

from referee.bots.lag import LagMeter
from tests.bots.hostile import Hostile, Line, after_request, called, caller, response, says


def test_a_standstill_of_ours_is_not_charged_and_is_no_deadline() -> None:
    async def stands_still() -> None:
        async with Hostile(says(response())) as bot:
            one = caller(bot.url)
            await called(one, 5000)
            calling = asyncio.ensure_future(called(one, 200))
            await asyncio.sleep(0)  # the question is out
            await asyncio.sleep(0)
            time.sleep(0.6)  # noqa: ASYNC251  # this is the standstill
            reply = await calling
            assert reply.fault == ""
            assert reply.ms < 200

    asyncio.run(stands_still())


def test_a_bot_that_is_silent_all_the_same_still_meets_its_deadline() -> None:
    async def stands_still() -> None:
        async with Hostile(after_request(Line.silence)) as bot:
            calling = asyncio.ensure_future(called(caller(bot.url), 200))
            await asyncio.sleep(0.05)
            time.sleep(0.4)  # noqa: ASYNC251  # this is the standstill
            reply = await calling
            assert (reply.fault, reply.ms) == ("deadline", 200)

    asyncio.run(stands_still())


def test_lag_is_read_before_the_late_tick_has_come() -> None:
    async def measured() -> tuple[float, float]:
        meter = LagMeter()
        before = meter.begin(asyncio.get_running_loop())
        time.sleep(0.3)  # noqa: ASYNC251  # this is the standstill
        at_once = meter.reading_s() - before
        await asyncio.sleep(0)
        later = meter.reading_s() - before
        meter.end()
        return at_once, later

    at_once, later = asyncio.run(measured())

    assert 0.2 < at_once <= later
