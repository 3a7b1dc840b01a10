"""The client as a whole: it always replies, charges time correctly, and reports a consistent latency."""

import asyncio
import os
import random
import resource
import time
from typing import Any

import pytest

from referee.botclient.connection import Connection
from referee.botclient.lag import LagMeter
from referee.errors import Unavailable
from referee.match.match import FAULTS
from tests.botclient.hostile import Hostile, Line, after_request, called, caller, question, response, says, seat


async def test_a_standstill_of_ours_is_not_charged_and_is_no_deadline() -> None:
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


async def test_a_bot_that_is_silent_all_the_same_still_meets_its_deadline() -> None:
    async with Hostile(after_request(Line.silence)) as bot:
        calling = asyncio.ensure_future(called(caller(bot.url), 200))
        await asyncio.sleep(0.05)
        time.sleep(0.4)  # noqa: ASYNC251  # this is the standstill
        reply = await calling
        assert (reply.fault, reply.ms) == ("deadline", 200)


async def test_lag_is_read_before_the_late_tick_has_come() -> None:
    meter = LagMeter()
    before = meter.begin(asyncio.get_running_loop())
    time.sleep(0.3)  # noqa: ASYNC251  # this is the standstill
    at_once = meter.reading_s() - before
    await asyncio.sleep(0)
    later = meter.reading_s() - before
    meter.end()

    assert 0.2 < at_once <= later


async def test_whatever_a_server_does_a_reply_comes_back() -> None:
    rng = random.Random(17)
    pieces = [
        response(),
        response()[:40],
        b"HTTP/1.1 ",
        b"200 OK\r\n",
        b"\r\n\r\n",
        b"Content-Length: 3\r\n",
        b"\x00" * 9,
    ]
    pieces += [b"Transfer-Encoding: chunked\r\n", b"5\r\n", b"{}", b"x" * 70_000, b"HTTP/1.1 100 C\r\n\r\n"]

    async def does_anything(line: Line) -> None:
        if rng.random() < 0.9:
            await line.request()
        for _ in range(rng.randrange(6)):
            await line.send(rng.choice(pieces))
            if rng.random() < 0.3:
                await asyncio.sleep(0.005)
        if rng.random() < 0.3:
            line.reset()
        elif rng.random() < 0.3:
            await line.silence()

    async with Hostile(does_anything) as bot:
        bots = [caller(bot.url, max_concurrent_requests=100) for _ in range(10)]
        rounds = [await asyncio.gather(*(called(one, 60) for one in bots)) for _ in range(15)]
        for one in bots:
            one.close()

    found = {reply.fault for replies in rounds for reply in replies}
    assert found - {""} <= FAULTS.keys()
    assert len(found) >= 5


async def test_the_evidence_shows_where_the_time_went() -> None:
    async def slow(line: Line) -> None:
        await line.request()
        await asyncio.sleep(0.06)
        await line.send(response()[:-10])
        await asyncio.sleep(0.06)
        await line.send(response()[-10:])

    def in_a_while(host: str) -> list[str]:
        time.sleep(0.06)
        return ["127.0.0.1"]

    async with Hostile(slow) as bot:
        reply = await called(caller(f"http://bot.test:{bot.port}", look_up=in_a_while), 5000)
    timing = reply.timing

    assert reply.ok
    assert min(timing.dns_ms, timing.wait_ms, timing.read_ms) >= 50
    assert timing.dns_ms + timing.connect_ms + timing.wait_ms + timing.read_ms > reply.ms - 25


async def test_K24_what_we_cannot_do_is_not_the_bot_s_fault() -> None:
    async with Hostile(says(response())) as bot:
        one = seat(caller(bot.url))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        lowest = os.dup(0)
        os.close(lowest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
        try:
            with pytest.raises(Unavailable):
                await one.ask(question())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert (await one.ask(question())).trouble == ""
        one.close()


async def test_one_connection_has_one_timer_however_many_questions_it_carries() -> None:
    loop = asyncio.get_running_loop()
    timers: list[float] = []
    call_at = loop.call_at

    def counted(when: float, callback: Any, *args: Any, **kwargs: Any) -> asyncio.TimerHandle:
        if isinstance(getattr(callback, "__self__", None), Connection):
            timers.append(when)
        return call_at(when, callback, *args, **kwargs)

    async with Hostile(says(response())) as bot:
        one = caller(bot.url)
        first = await called(one, 5000)
        loop.call_at = counted  # type: ignore[method-assign, assignment]
        replies = [first, *[await called(one, deadline_ms) for deadline_ms in (*[60_000] * 20, 1000)]]

    assert {reply.fault for reply in replies} == {""}
    assert len(timers) == 1, (
        "a question that is due after the timer fires needs none, one that is due before it needs one"
    )


async def test_a_deadline_holds_although_the_timer_was_set_for_an_earlier_question() -> None:
    async def answers_once(line: Line) -> None:
        await line.request()
        await line.send(response())
        await line.request()
        await line.silence()

    async with Hostile(answers_once) as bot:
        one = caller(bot.url)
        replies = [await called(one, 300), await called(one, 600)]
        assert [(reply.fault, reply.ms) for reply in replies if reply.fault] == [("deadline", 600)]
