"""A process full of quick bots, so that their cost is not the referee's: any path is a bot, the choice is random.

``python -m bench.bots DELAY_MS`` prints its URL and serves until its input ends. It speaks just enough HTTP for
clients that mean well.
"""

import asyncio
import hashlib
import http.client
import subprocess
import sys
from random import Random
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

import orjson

NONCE: Final = "benchmark"
_LENGTH: Final = b"content-length:"


class Bots:
    """The serving process as a benchmark sees it."""

    def __init__(self, delay_ms: int = 0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.bots", str(delay_ms)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()

    def decisions(self) -> int:
        """How many questions it has answered."""
        where = urlsplit(self.url)
        connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=10)
        connection.request("GET", "/count")
        count: int = orjson.loads(connection.getresponse().read())
        connection.close()
        return count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


class _Serving(asyncio.Protocol):
    """One connection: a request, its answer ``delay_s`` later, the next request."""

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
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._received[:end]).lower()
        at = head.find(_LENGTH)
        size = int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(self._received) < end + 4 + size:
            return
        body = bytes(self._received[end + 4 :])
        self._received.clear()
        method, path, _ = head.split(b" ", 2)
        if path.endswith(b"/decide"):
            self._decide(orjson.loads(body))
        elif method == b"get":
            self._send(_Serving.decisions)
        else:
            self._send(_noticed(orjson.loads(body)))

    def _decide(self, question: Any) -> None:
        _Serving.decisions += 1
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


def _noticed(notice: Any) -> Any:
    match notice:
        case {"type": "group_start", "step": 1}:
            return {"nonce_hash": hashlib.sha256(NONCE.encode()).hexdigest()}
        case {"type": "group_start", "step": 2}:
            return {"nonce": NONCE}
        case _:
            return {}


async def serve(delay_ms: int) -> None:
    """Serves until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Serving(delay_ms / 1000), "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
