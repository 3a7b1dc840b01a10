"""Serve bots from another process, so that their cost is not counted. Any path is a bot that answers at random.

``python -m bench.bots DELAY_MS`` prints its URL and serves until its standard input ends. It implements only the part
of HTTP that well-behaved clients use.
"""

import asyncio
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from random import Random
from typing import Any, Final

import orjson

NONCE: Final = "benchmark"
LENGTH: Final = b"content-length:"


@dataclass(frozen=True)
class Bots:
    """Represent the process that serves the bots."""

    url: str

    def decisions(self) -> int:
        """Return the number of questions answered so far."""
        with closing(HTTPConnection(self.url.removeprefix("http://"), timeout=10)) as connection:
            connection.request("GET", "/count")
            count: int = orjson.loads(connection.getresponse().read())
            return count


@contextmanager
def start_bots(delay_ms: int = 0) -> Iterator[Bots]:
    """Serve bots that answer after ``delay_ms`` ms, while the block runs."""
    command = [sys.executable, "-m", "bench.bots", str(delay_ms)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield Bots(process.stdout.readline().strip())


class BotProtocol(asyncio.Protocol):
    """Answer the requests of one connection, one at a time; delay answers to questions by ``delay_s`` seconds."""

    decisions = 0

    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s
        self._rng = Random()
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = bytes(self._received).partition(b"\r\n\r\n")
        size = int(head.lower().partition(LENGTH)[2].split(b"\r\n", 1)[0] or 0)
        if not end or len(body) < size:
            return
        self._received.clear()
        method, path, _ = head.split(b" ", 2)
        if method == b"GET":
            self._send(BotProtocol.decisions)
        elif path.endswith(b"/decide"):
            self._decide(orjson.loads(body))
        else:
            self._send(reply_to_notice(orjson.loads(body)))

    def _decide(self, question: Any) -> None:
        BotProtocol.decisions += 1
        choice = self._rng.randrange(len(question["legal_actions"]))
        answer = {"decision": question["decision"]["id"], "choice": choice}
        if self._delay_s:
            asyncio.get_running_loop().call_later(self._delay_s, self._send, answer)
        else:
            self._send(answer)

    def _send(self, value: Any) -> None:
        body = orjson.dumps(value)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        self._transport.write(head + body)


def reply_to_notice(notice: Any) -> Any:
    match notice:
        case {"type": "group_start", "step": 1}:
            return {"nonce_hash": hashlib.sha256(NONCE.encode()).hexdigest()}
        case {"type": "group_start", "step": 2}:
            return {"nonce": NONCE}
        case _:
            return {}


async def serve(delay_ms: int) -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: BotProtocol(delay_ms / 1000), "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
