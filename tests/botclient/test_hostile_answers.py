"""Hostile responses: statuses, encodings, planted answers, late and surplus bytes (threats B8 to B18)."""

import asyncio
import gzip
import tracemalloc

import pytest

from referee.botclient.client import CallLimits
from tests.botclient.hostile import (
    GOOD_BODY,
    Hostile,
    Line,
    after_request,
    call,
    called,
    caller,
    fault,
    question,
    response,
    says,
    seat,
    until,
)

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def test_B8_an_encoded_body_is_refused_and_never_unpacked() -> None:
    bomb = gzip.compress(bytes(20_000_000))

    tracemalloc.start()
    for encoding in ("gzip", "br", "zstd", "deflate", "gzip, gzip", "x"):
        assert fault(says(response(bomb, "200 OK", f"Content-Encoding: {encoding}"))) == "encoding_refused"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 5_000_000


BAD_STATUSES = [
    *("201 Created", "202 Accepted", "205 Reset", "206 Part", "400 Bad", "404 Not", "429 Slow", "500 Oops"),
    *("503 Later", "999 What", "101 Switching"),
]
GOOD_TYPES = ["application/json", "Application/JSON; Charset=UTF-8", 'application/json;charset="utf-8"']
BAD_TYPES = [
    "text/html",
    "application/json; charset=utf-16",
    "application/json; charset=utf-7",
    "application/jsonp",
    "",
]


def test_B8_B10_B17_only_200_with_plain_JSON_in_utf_8_will_do() -> None:
    for status in BAD_STATUSES:
        assert fault(says(response(GOOD_BODY, status, "Retry-After: 1"))) == "bad_status", status
    for empty in (
        response(b"", "204 No Content", length=False),
        response(b"", "304 Same", length=False),
        response(b""),
    ):
        assert fault(says(empty)) == "bad_status", empty
    for kinds, found in ((GOOD_TYPES, ""), (BAD_TYPES, "bad_content_type")):
        for kind in kinds:
            assert fault(says(response(GOOD_BODY, "200 OK", f"Content-Type: {kind}"))) == found, kind
    assert fault(says(response(GOOD_BODY, "200 OK", "Content-Encoding: identity"))) == ""


async def test_B10_the_owner_sees_what_the_bot_said_instead() -> None:
    reply, _ = await call(says(response(b"Traceback ...", "500 Oops", "Content-Type: text/plain")))

    assert (reply.status, reply.body) == (500, b"Traceback ...")
    assert "500" in reply.detail


async def test_B11_surplus_bytes_are_a_fault_and_the_connection_ends() -> None:
    reply, bot = await call(says(response() + response()))

    assert reply.fault == "bad_http"
    assert bot.cut_off == 1


async def test_B11_an_answer_planted_between_two_questions_is_never_read() -> None:
    first_is_read = asyncio.Event()

    async def plants(line: Line) -> None:
        await line.request()
        await line.send(response())
        await first_is_read.wait()
        await line.send(response(b'{"decision":"planted","choice":1}'))
        await line.request()

    async with Hostile(plants) as bot:
        one = caller(bot.url)
        first = await called(one)
        assert one.is_connected
        first_is_read.set()
        await until(lambda: not one.is_connected)
        second = await called(one)
        assert (first.body, second.body, bot.connections) == (GOOD_BODY, GOOD_BODY, 2)


async def test_a_connection_that_the_bot_called_closed_is_not_used_again() -> None:
    async with Hostile(says(response(GOOD_BODY, "200 OK", "Connection: close"))) as bot:
        one = caller(bot.url)
        assert [(await called(one)).attempts, (await called(one)).attempts] == [1, 1]
        assert bot.connections == 2


async def test_B12_cookies_and_promises_about_later_are_forgotten() -> None:
    fields = ("Set-Cookie: a=b", 'Alt-Svc: h2=":1"', "Strict-Transport-Security: max-age=9", "Connection: upgrade")

    async with Hostile(says(response(GOOD_BODY, "200 OK", *fields))) as bot:
        one = caller(bot.url)
        assert [(await called(one)).ok, (await called(one)).ok] == [True, True]
        assert bot.requests[0] == bot.requests[1]
        assert b"ookie" not in bot.requests[1]


async def test_B13_answers_at_nine_tenths_of_the_limit_all_count() -> None:
    async def late(line: Line) -> None:
        await line.request()
        await asyncio.sleep(5.4)
        await line.send(response())

    for reply, _ in await asyncio.gather(*(call(late, 6000) for _ in range(3))):
        assert reply.ok
        assert reply.timing.wait_ms >= 5400
        assert reply.ms < 6000  # without the time in which our own loop was late


async def test_B14_a_late_answer_is_never_taken_for_the_next_question() -> None:
    asked_twice = asyncio.Event()

    async def late(line: Line) -> None:
        await line.request()
        if line.number == 1:
            await asked_twice.wait()
            await line.send(response(b'{"decision":"late","choice":1}'))
        await line.send(response())

    async with Hostile(late) as bot:
        one = caller(bot.url)
        first = await called(one, 100)
        asked_twice.set()
        second = await called(one, 2000)
        assert (first.fault, second.body) == ("deadline", GOOD_BODY)
        assert bot.connections == 2


async def test_B16_a_bot_gets_no_more_calls_at_once_than_it_declared() -> None:
    most = at_once = 0

    async def counts(line: Line) -> None:
        nonlocal most, at_once
        while True:
            await line.request()
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0.01)
            at_once -= 1
            await line.send(response())

    limits = CallLimits()
    async with Hostile(counts) as bot:
        callers = [caller(bot.url, limits=limits, max_concurrent_requests=3) for _ in range(12)]
        replies = await asyncio.gather(*(called(one, 5000) for one in callers))
        assert all(reply.ok for reply in replies)
        assert max(reply.ms for reply in replies) < 1000  # waiting for a free slot is not charged

    assert most == 3


async def test_B16_tarpits_do_not_delay_the_others() -> None:
    limits = CallLimits()
    async with Hostile(after_request(Line.silence)) as tarpit, Hostile(says(response())) as good:
        stuck = [asyncio.ensure_future(called(caller(tarpit.url), 3000)) for _ in range(60)]
        await asyncio.sleep(0)
        replies = [await called(caller(good.url, limits=limits), 2000) for _ in range(20)]
        assert all(reply.ok for reply in replies)
        assert not any(task.done() for task in stuck)
        for task in stuck:
            task.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)


async def test_B18_a_reset_in_mid_body_is_a_fault_each_time() -> None:
    async def resets(line: Line) -> None:
        await line.request()
        await line.send(HEAD + b"Content-Length: 100\r\n\r\n{")
        line.reset()

    async with Hostile(resets) as bot:
        one = seat(caller(bot.url))
        answers = [await one.ask(question(n)) for n in range(5)]
        assert {got.trouble for got in answers} == {"bad_http"}
        assert bot.connections == 5


async def test_a_cancelled_call_leaves_no_connection_behind() -> None:
    async with Hostile(after_request(Line.silence)) as bot:
        calling = asyncio.ensure_future(called(caller(bot.url), 60_000))
        await until(lambda: bool(bot.requests))
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await bot.settled()
        assert bot.finished + bot.cut_off == 1
