"""Check what is done right before a request is sent: it uses no time of the bot, and what it raises ends the call."""

import asyncio

import pytest

from referee.errors import StaleEpoch
from tests.botclient.hostile import Hostile, Line, caller, response, says, until


async def test_K1_the_request_waits_for_it_over_the_open_connection_and_the_wait_is_not_charged() -> None:
    async with Hostile(says(response())) as bot:
        seen: list[tuple[int, int]] = []  # connections and requests

        async def wait() -> None:
            loop = asyncio.get_running_loop()
            due = loop.time() + 0.3  # the whole deadline
            await until(lambda: loop.time() > due)
            seen.append((bot.connections, len(bot.requests)))

        reply = await caller(bot.url).post("/decide", b"{}", "mat_test_s1_q7", 300, before_sending=wait)

        assert (reply.fault, seen, len(bot.requests)) == ("", [(1, 0)], 1)
        assert reply.ms < 300


async def test_K1_nothing_is_sent_when_it_raises() -> None:
    async with Hostile(says(response())) as bot:

        async def refuse() -> None:
            raise StaleEpoch("superseded")

        with pytest.raises(StaleEpoch):
            await caller(bot.url).post("/decide", b"{}", "mat_test_s1_q7", 300, before_sending=refuse)

        assert bot.requests == []


async def test_K1_it_is_done_before_each_attempt_and_again_if_the_connection_closed_meanwhile() -> None:
    closed = asyncio.Event()

    async def script(line: Line) -> None:
        if line.number == 1:
            line.reset()
            closed.set()
            return
        await line.request()
        if line.number == 2:
            line.reset()
            return
        await line.send(response())

    async with Hostile(script) as bot:
        calls: list[int] = []

        async def wait() -> None:
            calls.append(bot.connections)
            await asyncio.wait_for(closed.wait(), 10)
            await asyncio.sleep(0.05 if len(calls) == 1 else 0)  # for the loop to notice the reset

        reply = await caller(bot.url).post("/decide", b"{}", "mat_test_s1_q7", 5_000, before_sending=wait)

        assert (reply.fault, reply.attempts, bot.connections) == ("", 2, 3)
        assert len(calls) == 3
