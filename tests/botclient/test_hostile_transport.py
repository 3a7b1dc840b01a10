"""Hostile transport and HTTP framing (threats B1 to B7)."""

import resource
import tracemalloc

import pytest

from tests.botclient.hostile import GOOD_BODY, Hostile, Line, after_request, call, called, caller, fault, response, says

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


async def test_B1_a_reset_before_any_byte_is_tried_once_more_and_then_unreachable() -> None:
    async def resets(line: Line) -> None:
        await line.request()
        line.reset()

    reply, bot = await call(resets)

    assert reply.fault == "unreachable"
    assert reply.attempts == len(bot.requests) == 2


async def test_B1_a_closed_connection_is_tried_once_more_with_the_same_question() -> None:
    async def closes_the_first(line: Line) -> None:
        await line.request()
        if line.number > 1:
            await line.send(response())

    reply, bot = await call(closes_the_first)

    first, second = bot.requests
    assert reply.ok
    assert b"Referee-Attempt: 1\r\n" in first
    assert second == first.replace(b"Referee-Attempt: 1", b"Referee-Attempt: 2")


async def test_B1_nobody_listens() -> None:
    async with Hostile(says()) as bot:
        url = bot.url
    assert (await called(caller(url))).fault == "unreachable"


async def test_B1_an_answer_that_broke_off_is_not_asked_for_again() -> None:
    async def breaks_off(line: Line) -> None:
        await line.request()
        await line.send(response()[:-5])

    reply, bot = await call(breaks_off)

    assert reply.fault == "bad_http"
    assert bot.connections == 1


async def test_B1_a_connection_closed_between_two_questions_costs_no_attempt() -> None:
    async def one_answer_each(line: Line) -> None:
        await line.request()
        await line.send(response())

    async with Hostile(one_answer_each) as bot:
        one = caller(bot.url)
        first = await called(one)
        await bot.settled()
        second = await called(one)
        assert (first.ok, second.ok, second.attempts) == (True, True, 1)
        assert bot.connections == 2


async def test_B2_a_black_hole_ends_at_the_deadline() -> None:
    # A listener that never accepts and whose queue is full: further connections get no response.
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
        assert reply.fault == "deadline"


async def test_B3_silence_after_the_accept_ends_at_the_deadline() -> None:
    reply, bot = await call(after_request(Line.silence))

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
async def test_B4_a_trickle_ends_at_the_deadline(beginning: bytes, piece: bytes) -> None:
    async def trickles(line: Line) -> None:
        await line.request()
        await line.send(beginning)
        await line.trickle(piece)

    reply, bot = await call(trickles)

    assert (reply.fault, reply.ms) == ("deadline", 300)
    assert (bot.cut_off, bot.finished) == (1, 0)


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
async def test_B6_a_huge_head_is_cut_short_without_being_kept(beginning: bytes, piece: bytes) -> None:
    async def sends(line: Line) -> None:
        await line.request()
        await line.send(beginning)
        for _ in range(5_000):
            await line.send(piece)

    tracemalloc.start()
    reply, bot = await call(sends, 5000)
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
async def test_B7_an_endless_body_is_dropped_at_the_cap(beginning: bytes) -> None:
    async def sends(line: Line) -> None:
        await line.request()
        await line.send(beginning)
        for _ in range(30_000):
            await line.send(b" " * 10_000)

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reply, bot = await call(sends, 5000)
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert reply.fault == "response_too_large"
    assert bot.cut_off == 1
    assert len(reply.body) <= 64 * 1024
    assert grown_kib < 20 * 1024


def test_B7_the_largest_body_is_taken() -> None:
    body = GOOD_BODY + b" " * (64 * 1024 - len(GOOD_BODY))

    assert fault(says(response(body))) == ""
    assert fault(says(response(body + b" "))) == "response_too_large"
