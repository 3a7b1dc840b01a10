"""Hostile answers of a bot, and who refuses them: aiohttp, our client with h11 as its parser, and our own client.

aiohttp gets the checks that any careful caller adds: status 200, application/json, no Content-Encoding, at most
64 KiB, a total deadline, no redirects, no cookies, JSON with the id that was asked for. h11 gets them too, and the
connections of our client (``bench.h11_framing``). What is left is how each reads HTTP. An answer is ``refused`` or
``taken``; all but the first are not worth taking. The CPU time to read a good answer is measured beside it.
"""

import asyncio
import json
import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

import aiohttp

from bench.h11_framing import H11Response, replacing_ours
from bench.http import session
from bench.measure import Benchmark, Json, cpu_seconds, rounded
from referee.botclient.address_guard import Policy
from referee.botclient.client import BotCaller, CallTarget
from referee.botclient.framing import Response

DEADLINE_S: Final = 1.0
MAX_BYTES: Final = 64 * 1024
FIRST, SECOND = b'{"decision":"d_1","choice":0}', b'{"decision":"d_2","choice":0}'
PLANTED: Final = b'{"decision":"d_2","choice":1}'

Respond = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Ask = Callable[[str], Awaitable[bytes]]  # the id of a question -> the body of its answer; raises what refuses it


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a bot does to its callers, and the threats it belongs to."""

    name: str
    threat: str
    respond: Respond
    questions: int = 1


def main() -> None:
    about = "hostile answers refused by aiohttp, h11 and our own client, and CPU to read a good one"
    benchmark = Benchmark.from_command_line("http_strictness", about)
    chosen = BEHAVIOURS[:4] if benchmark.quick else BEHAVIOURS
    results = {behaviour.name: asyncio.run(verdicts(behaviour)) for behaviour in chosen}
    hostile = list(results)[1:]
    refused = {f"refused by {client}": sum(results[name][client] != "taken" for name in hostile) for client in CLIENTS}
    benchmark.report(
        {"hostile behaviours": len(hostile), **refused, **cost_of_reading(benchmark), "behaviours": results}
    )


async def verdicts(behaviour: Behaviour) -> Json:
    return {
        "threat": behaviour.threat,
        **{name: await met(behaviour, client) for name, client in CLIENTS.items()},
    }


def cost_of_reading(benchmark: Benchmark) -> Json:
    """The parsers alone, in turn. Making the state of h11 and telling it of the request are not counted."""
    answers = benchmark.size(5000, 10)
    spent: dict[str, list[float]] = {"ours": [], "h11": []}
    for _ in range(benchmark.runs):
        spent["ours"].append(us_per_answer([Response() for _ in range(answers)]))
        spent["h11"].append(us_per_answer([H11Response() for _ in range(answers)]))
    ratio = statistics.median(theirs / ours for ours, theirs in zip(spent["ours"], spent["h11"], strict=True))
    microseconds = {f"{name}, us per answer": rounded(statistics.median(spent[name])) for name in spent}
    return {**microseconds, "h11 / ours": rounded(ratio)}


def us_per_answer(waiting: Sequence[Response | H11Response]) -> float:
    reply = plain(FIRST, "Date: Sun, 22 Nov 2026 12:00:00 GMT", "Server: a")

    def read() -> None:
        for response in waiting:
            response.feed(reply)

    return 1e6 * cpu_seconds(read) / len(waiting)


async def met(behaviour: Behaviour, client: Callable[[str, "Verdict"], Awaitable[None]]) -> str:
    """A fresh server for each client; ``refused: why`` or ``taken``."""
    open_lines: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_lines.add(writer)
        try:
            await behaviour.respond(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    verdict = Verdict(behaviour.questions)
    try:
        await client(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", verdict)
    finally:
        server.close()
        for line in open_lines:
            line.close()
        await asyncio.sleep(0.02)
    return verdict.text


class Verdict:
    """Asks the questions one after the other and notes what came of the last."""

    def __init__(self, questions: int) -> None:
        self.questions = questions
        self.text = ""

    async def reach(self, ask: Ask) -> None:
        for number in range(1, self.questions + 1):
            wanted = f"d_{number}"
            try:
                answer = json.loads(await ask(wanted))
            except Exception as error:  # noqa: BLE001  # whatever refuses it, refuses it
                self.text = f"refused: {type(error).__name__}: {error}"[:90]
                return
            if answer["decision"] != wanted:
                self.text = f"refused: the id is {answer['decision']}"
                return
            planted = number > 1 and answer["choice"] == 1
            self.text = "taken" if planted or self.questions == 1 else "refused: the next answer was the right one"
            await asyncio.sleep(0.1)


async def with_aiohttp(url: str, verdict: Verdict) -> None:
    async with session(aiohttp.TCPConnector(use_dns_cache=False), DEADLINE_S) as client:

        async def ask(wanted: str) -> bytes:
            body = json.dumps({"id": wanted})
            async with client.post(url, data=body, allow_redirects=False) as response:
                refuse(response.status != 200, f"status {response.status}")
                refuse(response.content_type != "application/json", f"content type {response.content_type}")
                refuse("Content-Encoding" in response.headers, "encoded")
                taken = bytearray()
                async for piece in response.content.iter_any():
                    taken += piece
                    refuse(len(taken) > MAX_BYTES, "larger than 64 KiB")
                return bytes(taken)

        await verdict.reach(ask)


async def with_ours(url: str, verdict: Verdict) -> None:
    caller = BotCaller(CallTarget("bot_bench", url), Policy.parse("127.0.0.1/32:1024-65535"))

    async def ask(wanted: str) -> bytes:
        reply = await caller.post("/decide", json.dumps({"id": wanted}).encode(), wanted, int(DEADLINE_S * 1000))
        refuse(not reply.ok, f"{reply.fault}: {reply.detail}")
        return reply.body

    try:
        await verdict.reach(ask)
    finally:
        caller.close()


async def with_h11(url: str, verdict: Verdict) -> None:
    with replacing_ours():
        await with_ours(url, verdict)


CLIENTS: Final = {"aiohttp": with_aiohttp, "h11": with_h11, "ours": with_ours}


class Refused(Exception):
    """By the caller's own checks."""


def refuse(condition: bool, why: str) -> None:
    if condition:
        raise Refused(why)


# -- what bots do --


async def request(reader: asyncio.StreamReader) -> bytes:
    """Reads a request and gives its body."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length:")[2].split(b"\r\n")[0]
    return await reader.readexactly(int(length or 0))


def says(*pieces: bytes, then_close: bool = False) -> Respond:
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        if not then_close:
            await reader.read()

    return respond


def plants(pause_s: float) -> Respond:
    """The answer to the next question comes before it is asked: with this answer, or so much later. A client that
    drops the connection and asks on a new one is answered properly."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if b"d_1" in await request(reader):
            writer.write(plain(FIRST))
            await writer.drain()
            await asyncio.sleep(pause_s)
            writer.write(plain(PLANTED))
            await writer.drain()
            await request(reader)
        writer.write(plain(SECOND))
        await reader.read()

    return respond


def trickles(beginning: bytes, piece: bytes) -> Respond:
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(beginning)
        for _ in range(int(2 * DEADLINE_S / 0.02)):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.02)

    return respond


def plain(body: bytes, *fields: str) -> bytes:
    head = ["HTTP/1.1 200 OK", "Content-Type: application/json", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join([*head, "", ""]).encode() + body


def headed(*fields: str, body: bytes = FIRST, start: str = "HTTP/1.1 200 OK", end: str = "\r\n") -> bytes:
    """Exactly these fields besides the content type."""
    return end.join([start, "Content-Type: application/json", *fields, "", ""]).encode("latin-1") + body


LENGTH: Final = f"Content-Length: {len(FIRST)}"
CHUNKED: Final = "Transfer-Encoding: chunked"
CHUNKS: Final = b"%x\r\n%b\r\n0\r\n\r\n" % (len(FIRST), FIRST)
INTERIM: Final = b"HTTP/1.1 103 Early Hints\r\n\r\n"

BEHAVIOURS: Final = [
    Behaviour("a good answer", "", says(plain(FIRST))),
    Behaviour("surplus answer in the same packet", "B11", plants(0), 2),
    Behaviour("surplus answer 1 ms later", "B11", plants(0.001), 2),
    Behaviour("surplus answer 50 ms later", "B11", plants(0.05), 2),
    Behaviour("surplus bytes after the answer", "B11", says(plain(FIRST) + b"HTTP/1.1 2")),
    Behaviour("Content-Length and chunked", "B9", says(headed(LENGTH, CHUNKED, body=CHUNKS))),
    Behaviour("two different Content-Lengths", "B9", says(headed(LENGTH, "Content-Length: 5"))),
    Behaviour("two equal Content-Lengths", "B9", says(headed(LENGTH, LENGTH))),
    Behaviour("Content-Length with a sign", "B9", says(headed(f"Content-Length: +{len(FIRST)}"))),
    Behaviour("negative Content-Length", "B9", says(headed("Content-Length: -1"), then_close=True)),
    Behaviour("body shorter than announced", "B9", says(headed("Content-Length: 60"), then_close=True)),
    Behaviour("bare line feeds", "B9", says(headed(LENGTH, end="\n"))),
    Behaviour("one bare line feed", "B9", says(headed(LENGTH).replace(b"\r\nContent-Type", b"\nContent-Type"))),
    Behaviour("bare carriage return in a field", "B9", says(headed(LENGTH, "X: a\rb"))),
    Behaviour("NUL in a field", "B9", says(headed(LENGTH, "X: a\0b"))),
    Behaviour("blank before the colon", "B9", says(headed(LENGTH, "X : a"))),
    Behaviour("folded field", "B9", says(headed(LENGTH, "X: a\r\n b"))),
    Behaviour("HTTP/0.9", "B9", says(FIRST, then_close=True)),
    Behaviour("HTTP/2 preface", "B9", says(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + bytes(18), then_close=True)),
    Behaviour("HTTP/1.2", "B9", says(headed(LENGTH, start="HTTP/1.2 200 OK"))),
    Behaviour("HTTP/3.7", "B9", says(headed(LENGTH, start="HTTP/3.7 200 OK"))),
    Behaviour("chunked in HTTP/1.0", "B9", says(headed(CHUNKED, body=CHUNKS, start="HTTP/1.0 200 OK"))),
    Behaviour("gzip, chunked", "B9", says(headed("Transfer-Encoding: gzip, chunked", body=CHUNKS))),
    Behaviour("chunked twice", "B9", says(headed(CHUNKED, CHUNKED, body=CHUNKS))),
    Behaviour("chunk size 0x…", "B9", says(headed(CHUNKED, body=b"0x" + CHUNKS))),
    Behaviour("chunk longer than its size", "B9", says(headed(CHUNKED, body=b"5\r\n" + FIRST + b"\r\n0\r\n\r\n"))),
    Behaviour("bare line feeds between chunks", "B9", says(headed(CHUNKED, body=CHUNKS.replace(b"\r\n", b"\n")))),
    Behaviour("100 interim answers", "B5", says(INTERIM * 100 + plain(FIRST))),
    Behaviour("10,000 interim answers", "B5", says(INTERIM * 10_000 + plain(FIRST))),
    Behaviour("head of 200 KiB in small fields", "B6", says(headed(LENGTH, *["X-A: " + "b" * 100] * 2000))),
    Behaviour("one field of 100 KiB", "B6", says(headed(LENGTH, "X: " + "b" * 100_000))),
    Behaviour("body of 1 MiB", "B7", says(plain(b" " * 2**20 + FIRST))),
    Behaviour("body without an end", "B7", trickles(headed(body=b""), b" " * 10_000)),
    Behaviour("gzip body", "B8", says(plain(FIRST, "Content-Encoding: gzip"))),
    Behaviour("trickled head", "B4", trickles(b"HTTP/1.1 200 OK\r\nX: ", b"x")),
    Behaviour("trickled body", "B4", trickles(headed("Content-Length: 60000", body=b""), b" ")),
    Behaviour("trickled chunk extension", "B4", trickles(headed(CHUNKED, body=b"1;"), b"x")),
    Behaviour("101 Switching Protocols", "B10", says(headed("Upgrade: x", start="HTTP/1.1 101 Switching"))),
    Behaviour("redirect", "A8", says(headed(LENGTH, "Location: /x", start="HTTP/1.1 307 Elsewhere"))),
    Behaviour("204 with a body", "B10", says(headed(LENGTH, start="HTTP/1.1 204 No Content"))),
]


if __name__ == "__main__":
    main()
