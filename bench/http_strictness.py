"""Compare which clients refuse hostile answers of bots: aiohttp, our client with h11 as its parser, and our client.

aiohttp gets the checks that any careful caller adds: status 200, application/json, no Content-Encoding, at most 64 KiB,
a total deadline, no redirects, no cookies, and JSON with the id of the question. h11 replaces only the parser of our
client (``bench.h11_framing``). The verdict on an answer is ``accepted`` or ``refused: REASON``. Only the first
answer is valid; the others should be refused. The CPU time to parse a valid answer is measured as well.
"""

import asyncio
import json
import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import aiohttp

from bench.h11_framing import H11Response, replace_framing
from bench.http import careful_session
from bench.measure import Benchmark, Json, run, significant, time_of
from bench.world import EGRESS
from referee.botclient.address_guard import Policy
from referee.botclient.client import BotCaller, CallTarget
from referee.botclient.framing import Response

DEADLINE_S: Final = 1.0
MAX_BYTES: Final = 64 * 1024
ACCEPTED: Final = "accepted"
FIRST, SECOND = b'{"decision":"d_1","choice":0}', b'{"decision":"d_2","choice":0}'
PLANTED: Final = b'{"decision":"d_2","choice":1}'

Respond = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Ask = Callable[
    [str], Awaitable[bytes]
]  # takes the id of a question, returns the body of the answer, raises to refuse it


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Describe how a bot responds, with the id of the threat in ``docs/threats.md``."""

    name: str
    threat: str
    respond: Respond
    questions: int = 1


def measure(benchmark: Benchmark) -> Json:
    behaviours = BEHAVIOURS[: benchmark.size(len(BEHAVIOURS), 4)]
    verdicts: Json = {}
    for behaviour in behaviours:
        clients = {name: asyncio.run(judge(behaviour, client)) for name, client in CLIENTS.items()}
        verdicts[behaviour.name] = {"threat": behaviour.threat, **clients}
    hostile = list(verdicts.values())[1:]
    refused = {f"refused by {name}": sum(each[name] != ACCEPTED for each in hostile) for name in CLIENTS}
    return {"hostile behaviours": len(hostile), **refused, **measure_reading(benchmark), "behaviours": verdicts}


def measure_reading(benchmark: Benchmark) -> Json:
    """Measure the parsers alternately. Do not count the creation of h11's state and its events for the request."""
    answers = benchmark.size(5000, 10)
    ours, theirs = [], []
    for _ in range(benchmark.runs):
        ours.append(us_per_answer([Response() for _ in range(answers)]))
        theirs.append(us_per_answer([H11Response() for _ in range(answers)]))
    ratios = [other / own for own, other in zip(ours, theirs, strict=True)]
    values = {"ours, us per answer": ours, "h11, us per answer": theirs, "h11 / ours": ratios}
    return {name: significant(statistics.median(each)) for name, each in values.items()}


def us_per_answer(waiting: Sequence[Response | H11Response]) -> float:
    answer = ok(FIRST, "Date: Sun, 22 Nov 2026 12:00:00 GMT", "Server: a")

    def read() -> None:
        for response in waiting:
            response.feed(answer)

    return 1e6 * time_of(read).cpu / len(waiting)


# -- clients --


async def judge(behaviour: Behaviour, client: Callable[[str, int], Awaitable[str]]) -> str:
    """Return the verdict of a client on a new server with this behaviour."""
    connections: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(writer)
        try:
            await behaviour.respond(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        return await client(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", behaviour.questions)
    finally:
        server.close()
        for connection in connections:
            connection.close()
        await asyncio.sleep(0.02)


async def ask_all(questions: int, ask: Ask) -> str:
    """Ask the questions one after the other; return the verdict on the last answer."""
    verdict = ""
    for number in range(1, questions + 1):
        try:
            answer = json.loads(await ask(f"d_{number}"))
            refuse_if(answer["decision"] != f"d_{number}", f"the id is {answer['decision']}")
        except Exception as error:  # noqa: BLE001  # each client raises different errors
            return f"refused: {type(error).__name__}: {error}"[:90]
        planted = number > 1 and answer["choice"] == 1
        verdict = ACCEPTED if planted or questions == 1 else "refused: the next answer was the right one"
        await asyncio.sleep(0.1)
    return verdict


async def call_with_aiohttp(url: str, questions: int) -> str:
    async with careful_session(aiohttp.TCPConnector(use_dns_cache=False), DEADLINE_S) as session:

        async def ask(question_id: str) -> bytes:
            body = json.dumps({"id": question_id})
            async with session.post(url, data=body, allow_redirects=False) as response:
                refuse_if(response.status != 200, f"status {response.status}")
                refuse_if(response.content_type != "application/json", f"content type {response.content_type}")
                refuse_if("Content-Encoding" in response.headers, "encoded")
                received = bytearray()
                async for piece in response.content.iter_any():
                    received += piece
                    refuse_if(len(received) > MAX_BYTES, "larger than 64 KiB")
                return bytes(received)

        return await ask_all(questions, ask)


async def call_with_ours(url: str, questions: int) -> str:
    caller = BotCaller(CallTarget("bot_bench", url), Policy.parse(EGRESS))

    async def ask(question_id: str) -> bytes:
        body = json.dumps({"id": question_id}).encode()
        reply = await caller.post("/decide", body, question_id, int(DEADLINE_S * 1000))
        refuse_if(not reply.ok, f"{reply.fault}: {reply.detail}")
        return reply.body

    try:
        return await ask_all(questions, ask)
    finally:
        caller.close()


async def call_with_h11(url: str, questions: int) -> str:
    with replace_framing():
        return await call_with_ours(url, questions)


CLIENTS: Final = {"aiohttp": call_with_aiohttp, "h11": call_with_h11, "ours": call_with_ours}


class AnswerRefused(Exception):
    """Report that an answer was refused by a check that a caller adds to its client."""


def refuse_if(condition: bool, why: str) -> None:
    if condition:
        raise AnswerRefused(why)


# -- behaviours of bots --


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """Read a request and return its body."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].split(b"\r\n")[0]
    return await reader.readexactly(int(length or 0))


def says(answer: bytes, *, then_close: bool = False) -> Respond:
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(answer)
        await writer.drain()
        if not then_close:
            await reader.read()

    return respond


def plants(pause_s: float) -> Respond:
    """Send the answer to the second question ``pause_s`` seconds after the first answer, before that question is asked.
    A client that asks it over another connection gets a valid answer."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if b"d_1" in await read_request(reader):
            writer.write(ok(FIRST))
            await writer.drain()
            await asyncio.sleep(pause_s)
            writer.write(ok(PLANTED))
            await writer.drain()
            await read_request(reader)
        writer.write(ok(SECOND))
        await reader.read()

    return respond


def trickles(beginning: bytes, piece: bytes) -> Respond:
    """Send ``beginning``, then a ``piece`` every 20 ms until long after the deadline."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(beginning)
        for _ in range(int(2 * DEADLINE_S / 0.02)):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.02)

    return respond


def ok(body: bytes, *fields: str) -> bytes:
    """Return a valid answer with these additional header fields."""
    return answer_of(f"Content-Length: {len(body)}", *fields, body=body)


def answer_of(*fields: str, body: bytes = FIRST, start: str = "HTTP/1.1 200 OK", end: str = "\r\n") -> bytes:
    """Return an answer with exactly these header fields after the content type."""
    return end.join([start, "Content-Type: application/json", *fields, "", ""]).encode("latin-1") + body


LENGTH: Final = f"Content-Length: {len(FIRST)}"
CHUNKED: Final = "Transfer-Encoding: chunked"
CHUNKS: Final = b"%x\r\n%b\r\n0\r\n\r\n" % (len(FIRST), FIRST)
INTERIM: Final = b"HTTP/1.1 103 Early Hints\r\n\r\n"

BEHAVIOURS: Final = [
    Behaviour("a good answer", "", says(ok(FIRST))),
    Behaviour("surplus answer in the same packet", "B11", plants(0), 2),
    Behaviour("surplus answer 1 ms later", "B11", plants(0.001), 2),
    Behaviour("surplus answer 50 ms later", "B11", plants(0.05), 2),
    Behaviour("surplus bytes after the answer", "B11", says(ok(FIRST) + b"HTTP/1.1 2")),
    Behaviour("Content-Length and chunked", "B9", says(answer_of(LENGTH, CHUNKED, body=CHUNKS))),
    Behaviour("two different Content-Lengths", "B9", says(answer_of(LENGTH, "Content-Length: 5"))),
    Behaviour("two equal Content-Lengths", "B9", says(answer_of(LENGTH, LENGTH))),
    Behaviour("Content-Length with a sign", "B9", says(answer_of(f"Content-Length: +{len(FIRST)}"))),
    Behaviour("negative Content-Length", "B9", says(answer_of("Content-Length: -1"), then_close=True)),
    Behaviour("body shorter than announced", "B9", says(answer_of("Content-Length: 60"), then_close=True)),
    Behaviour("bare line feeds", "B9", says(answer_of(LENGTH, end="\n"))),
    Behaviour("one bare line feed", "B9", says(answer_of(LENGTH).replace(b"\r\nContent-Type", b"\nContent-Type"))),
    Behaviour("bare carriage return in a field", "B9", says(answer_of(LENGTH, "X: a\rb"))),
    Behaviour("NUL in a field", "B9", says(answer_of(LENGTH, "X: a\0b"))),
    Behaviour("blank before the colon", "B9", says(answer_of(LENGTH, "X : a"))),
    Behaviour("folded field", "B9", says(answer_of(LENGTH, "X: a\r\n b"))),
    Behaviour("HTTP/0.9", "B9", says(FIRST, then_close=True)),
    Behaviour("HTTP/2 preface", "B9", says(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + bytes(18), then_close=True)),
    Behaviour("HTTP/1.2", "B9", says(answer_of(LENGTH, start="HTTP/1.2 200 OK"))),
    Behaviour("HTTP/3.7", "B9", says(answer_of(LENGTH, start="HTTP/3.7 200 OK"))),
    Behaviour("chunked in HTTP/1.0", "B9", says(answer_of(CHUNKED, body=CHUNKS, start="HTTP/1.0 200 OK"))),
    Behaviour("gzip, chunked", "B9", says(answer_of("Transfer-Encoding: gzip, chunked", body=CHUNKS))),
    Behaviour("chunked twice", "B9", says(answer_of(CHUNKED, CHUNKED, body=CHUNKS))),
    Behaviour("chunk size 0x…", "B9", says(answer_of(CHUNKED, body=b"0x" + CHUNKS))),
    Behaviour("chunk longer than its size", "B9", says(answer_of(CHUNKED, body=b"5\r\n" + FIRST + b"\r\n0\r\n\r\n"))),
    Behaviour("bare line feeds between chunks", "B9", says(answer_of(CHUNKED, body=CHUNKS.replace(b"\r\n", b"\n")))),
    Behaviour("100 interim answers", "B5", says(INTERIM * 100 + ok(FIRST))),
    Behaviour("10,000 interim answers", "B5", says(INTERIM * 10_000 + ok(FIRST))),
    Behaviour("head of 200 KiB in small fields", "B6", says(answer_of(LENGTH, *["X-A: " + "b" * 100] * 2000))),
    Behaviour("one field of 100 KiB", "B6", says(answer_of(LENGTH, "X: " + "b" * 100_000))),
    Behaviour("body of 1 MiB", "B7", says(ok(b" " * 2**20 + FIRST))),
    Behaviour("body without an end", "B7", trickles(answer_of(body=b""), b" " * 10_000)),
    Behaviour("gzip body", "B8", says(ok(FIRST, "Content-Encoding: gzip"))),
    Behaviour("trickled head", "B4", trickles(b"HTTP/1.1 200 OK\r\nX: ", b"x")),
    Behaviour("trickled body", "B4", trickles(answer_of("Content-Length: 60000", body=b""), b" ")),
    Behaviour("trickled chunk extension", "B4", trickles(answer_of(CHUNKED, body=b"1;"), b"x")),
    Behaviour("101 Switching Protocols", "B10", says(answer_of("Upgrade: x", start="HTTP/1.1 101 Switching"))),
    Behaviour("redirect", "A8", says(answer_of(LENGTH, "Location: /x", start="HTTP/1.1 307 Elsewhere"))),
    Behaviour("204 with a body", "B10", says(answer_of(LENGTH, start="HTTP/1.1 204 No Content"))),
]


if __name__ == "__main__":
    about = "hostile answers refused by aiohttp, h11 and our own client, and CPU time to read a good one"
    run("http_strictness", about, measure)
