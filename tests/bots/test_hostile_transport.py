"""What a bot's server may try below HTTP and in it. The ids are those of the threat list."""

import asyncio
import gzip
import resource
import tracemalloc

import pytest

from referee.bots.client import CallLimits
from tests.bots.hostile import (
    GOOD_BODY,
    Hostile,
    Line,
    after_request,
    answer,
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
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def test_a_good_bot_is_understood() -> None:
    got = asyncio.run(answer(says(response())))

    assert (got.choice, got.trouble) == (0, "")


def test_B1_a_reset_before_any_byte_is_tried_once_more_and_then_unreachable() -> None:
    async def resets(line: Line) -> None:
        await line.request()
        line.reset()

    reply, bot = asyncio.run(call(resets))

    assert reply.fault == "unreachable"
    assert reply.attempts == bot.connections == 2


def test_B1_a_closed_connection_is_tried_once_more_with_the_same_question() -> None:
    async def closes_the_first(line: Line) -> None:
        await line.request()
        if line.number > 1:
            await line.send(response())

    reply, bot = asyncio.run(call(closes_the_first))

    first, second = bot.requests
    assert reply.ok
    assert b"Referee-Attempt: 1\r\n" in first
    assert second == first.replace(b"Referee-Attempt: 1", b"Referee-Attempt: 2")


def test_B1_nobody_listens() -> None:
    async def nobody() -> str:
        async with Hostile(says()) as bot:
            url = bot.url
        return (await called(caller(url))).fault

    assert asyncio.run(nobody()) == "unreachable"


def test_B1_an_answer_that_broke_off_is_not_asked_for_again() -> None:
    async def breaks_off(line: Line) -> None:
        await line.request()
        await line.send(response()[:-5])

    reply, bot = asyncio.run(call(breaks_off))

    assert reply.fault == "bad_http"
    assert bot.connections == 1


def test_B1_a_connection_closed_between_two_questions_costs_no_attempt() -> None:
    async def one_answer_each(line: Line) -> None:
        await line.request()
        await line.send(response())

    async def two_questions() -> None:
        async with Hostile(one_answer_each) as bot:
            one = caller(bot.url)
            first = await called(one)
            await bot.settled()
            second = await called(one)
            assert (first.ok, second.ok, second.attempts) == (True, True, 1)
            assert bot.connections == 2

    asyncio.run(two_questions())


def test_B2_a_black_hole_ends_at_the_deadline() -> None:
    async def full_backlog() -> str:
        # A listener that never accepts, its queue filled: further connections get no answer at all.
        import socket

        with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
            address = listener.getsockname()
            fillers = []
            for _ in range(4):
                filler = socket.socket()
                filler.setblocking(False)
                filler.connect_ex(address)
                fillers.append(filler)
            reply = await called(caller(f"http://127.0.0.1:{address[1]}"))
            for filler in fillers:
                filler.close()
            return reply.fault

    assert asyncio.run(full_backlog()) == "deadline"


def test_B3_silence_after_the_accept_ends_at_the_deadline() -> None:
    reply, bot = asyncio.run(call(after_request(Line.silence)))

    assert (reply.fault, reply.ms) == ("deadline", 300)
    assert bot.connections == 1


@pytest.mark.parametrize(
    ("beginning", "piece"),
    [
        pytest.param(b"HTTP/1.1 200 O", b"K", id="status line"),
        pytest.param(HEAD + b"X: ", b"x", id="one header"),
        pytest.param(HEAD, b"X-Y: z\r\n", id="headers"),
        pytest.param(HEAD + b"Content-Length: 60000\r\n\r\n", b" ", id="body"),
        pytest.param(CHUNKED, b"1\r\n \r\n", id="chunks"),
        pytest.param(CHUNKED + b"1;", b"x", id="chunk extension"),
        pytest.param(CHUNKED + b"1\r\n \r\n0\r\n", b"A: b\r\n", id="trailers"),
        pytest.param(HEAD + b"\r\n", b" ", id="body without end"),
    ],
)
def test_B4_a_trickle_ends_at_the_deadline(beginning: bytes, piece: bytes) -> None:
    async def trickles(line: Line) -> None:
        await line.request()
        await line.send(beginning)
        await line.trickle(piece)

    reply, bot = asyncio.run(call(trickles))

    assert (reply.fault, reply.ms) == ("deadline", 300)
    assert (bot.cut_off, bot.finished) == (1, 0)


def test_B4_a_trickle_overruns_the_deadline_by_little() -> None:
    async def trickles(line: Line) -> None:
        await line.request()
        await line.send(HEAD + b"X: ")
        await line.trickle(b"x", 0.005)

    async def overrun_s() -> float:
        async with Hostile(trickles) as bot:
            start = asyncio.get_running_loop().time()
            await called(caller(bot.url), 200)
            return asyncio.get_running_loop().time() - start - 0.2

    overruns = sorted(asyncio.run(overrun_s()) for _ in range(5))

    assert overruns[0] < 0.05  # the best of five: a busy machine may hold up the others


def test_B5_a_flood_of_interim_answers() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\n\r\n"

    assert fault(says(interim * 11 + response())) == "headers_too_large"
    assert fault(says(interim * 10 + response())) == ""
    assert fault(says((b"HTTP/1.1 100 Continue\r\nX: " + b"x" * 8000 + b"\r\n\r\n") * 5)) == "headers_too_large"


@pytest.mark.parametrize(
    ("beginning", "piece"),
    [
        pytest.param(HEAD, b"a: b\r\n" * 1_000, id="100,000 headers"),
        pytest.param(HEAD + b"a: ", b"b" * 10_000, id="one header of 50 MB"),
    ],
)
def test_B6_a_huge_head_is_cut_short_without_being_kept(beginning: bytes, piece: bytes) -> None:
    async def sends(line: Line) -> None:
        await line.request()
        await line.send(beginning)
        for _ in range(5_000):
            await line.send(piece)

    tracemalloc.start()
    reply, bot = asyncio.run(call(sends, 5000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert reply.fault == "headers_too_large"
    assert bot.cut_off == 1
    assert peak < 1_000_000


@pytest.mark.parametrize(
    "beginning",
    [
        pytest.param(HEAD + b"\r\n", id="no length"),
        pytest.param(HEAD + b"Content-Length: 1000000000000\r\n\r\n", id="10^12 announced"),
        pytest.param(CHUNKED + b"fffffffff\r\n", id="a chunk of 64 GiB announced"),
    ],
)
def test_B7_an_endless_body_is_dropped_at_the_cap(beginning: bytes) -> None:
    async def sends(line: Line) -> None:
        await line.request()
        await line.send(beginning)
        for _ in range(30_000):
            await line.send(b" " * 10_000)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reply, bot = asyncio.run(call(sends, 5000))
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert reply.fault == "response_too_large"
    assert bot.cut_off == 1
    assert len(reply.body) <= 64 * 1024
    assert grown_kib < 20 * 1024


def test_B7_the_largest_body_is_taken() -> None:
    body = GOOD_BODY + b" " * (64 * 1024 - len(GOOD_BODY))

    assert fault(says(response(body))) == ""
    assert fault(says(response(body + b" "))) == "response_too_large"


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "deflate", "gzip, gzip", "x"])
def test_B8_an_encoded_body_is_refused_and_never_unpacked(encoding: str) -> None:
    bomb = gzip.compress(bytes(50_000_000))

    tracemalloc.start()
    found = fault(says(response(bomb, "200 OK", f"Content-Encoding: {encoding}")))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert found == "encoding_refused"
    assert peak < 5_000_000


def test_B8_identity_is_no_encoding() -> None:
    assert fault(says(response(GOOD_BODY, "200 OK", "Content-Encoding: identity"))) == ""


def test_B9_an_answer_that_ends_too_soon() -> None:
    async def short(line: Line) -> None:
        await line.request()
        await line.send(HEAD + b"Content-Length: 100\r\n\r\n" + GOOD_BODY)

    assert fault(short) == "bad_http"


@pytest.mark.parametrize("status", [
    "201 Created", "202 Accepted", "204 No Content", "205 Reset", "206 Part", "400 Bad", "404 Not", "429 Slow",
    "500 Oops", "503 Later", "999 What", "101 Switching", "304 Same",
])  # fmt: skip
def test_B10_only_200_will_do(status: str) -> None:
    length = not status.startswith(("204", "304"))
    body = GOOD_BODY if length else b""

    assert fault(says(response(body, status, "Retry-After: 1", length=length))) == "bad_status"


def test_B10_an_empty_200() -> None:
    assert fault(says(response(b""))) == "bad_status"


def test_B10_the_owner_sees_what_the_bot_said_instead() -> None:
    reply, _ = asyncio.run(call(says(response(b"Traceback ...", "500 Oops", "Content-Type: text/plain"))))

    assert (reply.status, reply.body) == (500, b"Traceback ...")
    assert "500" in reply.detail


def test_B11_surplus_bytes_are_a_fault_and_the_connection_ends() -> None:
    reply, bot = asyncio.run(call(says(response() + response())))

    assert reply.fault == "bad_http"
    assert bot.cut_off == 1


def test_B11_an_answer_planted_between_two_questions_is_never_read() -> None:
    planted = asyncio.Event()

    async def plants(line: Line) -> None:
        await line.request()
        await line.send(response())
        await asyncio.sleep(0)
        await line.send(response(b'{"decision":"planted","choice":1}'))
        planted.set()
        await line.request()

    async def two_questions() -> None:
        async with Hostile(plants) as bot:
            one = caller(bot.url)
            first = await called(one)
            await planted.wait()
            await until(lambda: not one.is_connected)
            second = await called(one)
            assert GOOD_BODY in (first.body, second.body)
            assert b"planted" not in second.body
            assert bot.connections == 2

    asyncio.run(two_questions())


def test_B12_cookies_and_promises_about_later_are_forgotten() -> None:
    fields = ("Set-Cookie: a=b", 'Alt-Svc: h2=":1"', "Strict-Transport-Security: max-age=9", "Connection: upgrade")

    async def two_questions() -> None:
        async with Hostile(says(response(GOOD_BODY, "200 OK", *fields))) as bot:
            one = caller(bot.url)
            assert [(await called(one)).ok, (await called(one)).ok] == [True, True]
            assert bot.requests[0] == bot.requests[1]
            assert b"ookie" not in bot.requests[1]

    asyncio.run(two_questions())


def test_B13_an_answer_just_in_time_counts() -> None:
    async def late(line: Line) -> None:
        await line.request()
        await asyncio.sleep(0.15)
        await line.send(response())

    reply, _ = asyncio.run(call(late, 2000))

    assert reply.ok
    assert 150 <= reply.ms < 2000
    assert reply.timing.wait_ms >= 150


def test_B14_a_late_answer_is_never_taken_for_the_next_question() -> None:
    asked_twice = asyncio.Event()

    async def late(line: Line) -> None:
        await line.request()
        if line.number == 1:
            await asked_twice.wait()
            await line.send(response(b'{"decision":"late","choice":1}'))
        await line.send(response())

    async def two_questions() -> None:
        async with Hostile(late) as bot:
            one = caller(bot.url)
            first = await called(one, 100)
            asked_twice.set()
            second = await called(one, 2000)
            assert (first.fault, second.body) == ("deadline", GOOD_BODY)
            assert bot.connections == 2

    asyncio.run(two_questions())


def test_B16_a_bot_gets_no_more_calls_at_once_than_it_declared() -> None:
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

    async def many_matches() -> None:
        limits = CallLimits()
        async with Hostile(counts) as bot:
            callers = [caller(bot.url, limits=limits, max_calls=3) for _ in range(12)]
            replies = await asyncio.gather(*(called(one, 5000) for one in callers))
            assert all(reply.ok for reply in replies)
            assert max(reply.ms for reply in replies) < 1000  # waiting for a turn is not on the clock

    asyncio.run(many_matches())

    assert most == 3


def test_B16_tarpits_do_not_delay_the_others() -> None:
    async def crowd() -> None:
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

    asyncio.run(crowd())


@pytest.mark.parametrize(
    ("content_type", "found"),
    [
        ("application/json", ""),
        ("Application/JSON; Charset=UTF-8", ""),
        ('application/json;charset="utf-8"', ""),
        ("text/html", "bad_content_type"),
        ("application/json; charset=utf-16", "bad_content_type"),
        ("application/json; charset=utf-7", "bad_content_type"),
        ("application/jsonp", "bad_content_type"),
        ("", "bad_content_type"),
    ],
)
def test_B17_only_json_in_utf_8(content_type: str, found: str) -> None:
    assert fault(says(response(GOOD_BODY, "200 OK", f"Content-Type: {content_type}"))) == found


def test_B18_a_reset_in_mid_body_is_a_fault_each_time() -> None:
    async def resets(line: Line) -> None:
        await line.request()
        await line.send(HEAD + b"Content-Length: 100\r\n\r\n{")
        line.reset()

    async def thirty() -> None:
        async with Hostile(resets) as bot:
            one = seat(caller(bot.url))
            answers = [await one.ask(question(n)) for n in range(30)]
            assert {got.trouble for got in answers} == {"bad_http"}
            assert bot.connections == 30

    asyncio.run(thirty())


def test_a_cancelled_call_leaves_no_connection_behind() -> None:
    async def cancelled() -> None:
        async with Hostile(after_request(Line.silence)) as bot:
            calling = asyncio.ensure_future(called(caller(bot.url), 60_000))
            await until(lambda: bool(bot.requests))
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            await bot.settled()
            assert bot.finished + bot.cut_off == 1

    asyncio.run(cancelled())
