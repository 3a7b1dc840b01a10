"""Hostile transport and HTTP framing (threats B1 to B7)."""

import tracemalloc

import pytest

from tests.botclient.hostile import (
    GOOD_BODY,
    Hostile,
    Line,
    Script,
    after_request,
    call,
    called,
    caller,
    fault,
    response,
    says,
)

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


async def resets(line: Line) -> None:
    await line.request()
    line.reset()


async def breaks_off(line: Line) -> None:
    await line.request()
    await line.send(response()[:-5])


@pytest.mark.parametrize(
    ("script", "fault", "attempts"),
    [(resets, "unreachable", 2), (breaks_off, "bad_http", 1), (after_request(Line.silence), "deadline", 1)],
)
async def test_B1_B3_only_a_reset_before_any_byte_is_tried_once_more(script: Script, fault: str, attempts: int) -> None:
    reply, bot = await call(script)

    assert (reply.fault, reply.attempts) == (fault, attempts)
    assert bot.connections == len(bot.requests) == attempts
    assert fault != "deadline" or reply.ms == 300


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


@pytest.mark.parametrize(
    ("beginning", "piece"),
    [
        *((b"HTTP/1.1 200 O", b"K"), (HEAD + b"X: ", b"x"), (HEAD, b"X-Y: z\r\n")),
        *((HEAD + b"Content-Length: 60000\r\n\r\n", b" "), (HEAD + b"\r\n", b" ")),
        *((CHUNKED, b"1\r\n \r\n"), (CHUNKED + b"1;", b"x"), (CHUNKED + b"1\r\n \r\n0\r\n", b"A: b\r\n")),
    ],
    ids=["status", "a header", "headers", "body", "body without end", "chunks", "chunk extension", "trailers"],
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
    ("beginning", "piece", "found"),
    [
        (HEAD, b"a: b\r\n" * 1_000, "headers_too_large"),
        (HEAD + b"a: ", b"b" * 10_000, "headers_too_large"),
        (HEAD + b"\r\n", b" " * 10_000, "response_too_large"),
        (HEAD + b"Content-Length: 1000000000000\r\n\r\n", b" " * 10_000, "response_too_large"),
        (CHUNKED + b"fffffffff\r\n", b" " * 10_000, "response_too_large"),
    ],
    ids=["headers", "a long header", "no length", "10^12 announced", "a chunk of 64 GiB announced"],
)
async def test_B6_B7_what_is_endless_is_cut_short_and_not_kept(beginning: bytes, piece: bytes, found: str) -> None:
    async def sends(line: Line) -> None:
        await line.request()
        await line.send(beginning)
        for _ in range(30_000):
            await line.send(piece)

    tracemalloc.start()
    reply, bot = await call(sends, 5000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert reply.fault == found
    assert bot.cut_off == 1
    assert len(reply.body) <= 64 * 1024
    assert peak < 1_000_000


def test_B7_the_largest_body_is_taken() -> None:
    body = GOOD_BODY + b" " * (64 * 1024 - len(GOOD_BODY))

    assert fault(says(response(body))) == ""
    assert fault(says(response(body + b" "))) == "response_too_large"
