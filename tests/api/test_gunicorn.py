"""The service under gunicorn with threads: raw bytes, floods, and missing file descriptors."""

import contextlib
import http.client
import resource
import socket
import time
from collections.abc import Iterator

import pytest

from api.body import MAX_BYTES
from api.health import checks
from referee.runtime.open_files import count_open_files
from tests.api.serving import Reply, Server, read_reply, serving
from tests.end_to_end.processes import children, until

THREADS = 48
JSON = ["Content-Type: application/json"]
POST = b"POST /api/v1/accounts HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
MANY_HEADERS = b"".join(b"X-%d: y\r\n" % number for number in range(200))
SPARE = 8  # file descriptors


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("served"), THREADS) as running:
        yield running


def send(server: Server, sent: bytes) -> Reply:
    """Return the reply to bytes after which nothing comes."""
    with server.connect() as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        return read_reply(connection)


def chunked(body: bytes, size: int = 4096) -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def test_E1_a_chunked_body_is_read_unless_it_is_too_long(server: Server) -> None:
    read = server.say(CHUNKED, chunked(b'{"name":"Chunked One"}'))
    long = server.say(CHUNKED, chunked(b'{"name":"' + b"x" * MAX_BYTES + b'"}'))
    announced = server.say(POST + b"Content-Length: %d\r\n\r\n" % (MAX_BYTES + 1))  # refused before it comes

    assert read.status == 201
    assert [(reply.status, reply.json()["code"]) for reply in (long, announced)] == [(413, "body_too_large")] * 2


@pytest.mark.parametrize("sent", [b"zz\r\n{}\r\n0\r\n\r\n", b"-1\r\n", b"5\r\n{}"], ids=["size", "sign", "short"])
def test_E1_broken_chunks_are_a_400(server: Server, sent: bytes) -> None:
    assert send(server, CHUNKED + sent).status == 400


def test_E6_a_token_of_a_megabyte_is_refused(server: Server) -> None:
    assert server.ask("GET", "/api/v1/accounts/me", [f"Authorization: Bearer {'x' * 1_000_000}"]).status in (400, 431)
    assert server.ask("GET", "/api/v1/accounts/me", [f"Authorization: Bearer {'x' * 8000}"]).status == 401


@pytest.mark.parametrize(
    ("request_bytes", "statuses"),
    [
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", {400}),
        (b"POST /api/v1/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", {400}),
        (b"GET /healthz HTTP/1.1\r\n\r\n", {400}),
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", {400}),
        (b"GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n", {400}),
        (b"GET http://evil.example/healthz HTTP/1.1\r\nHost: x\r\n\r\n", {400}),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + MANY_HEADERS + b"\r\n", {400, 431}),
        (b"GET /" + b"x" * 10_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", {400, 414}),
        (b"TRACE /api/v1/bots HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", {405}),
        (b"PUT /api/v1/bots HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", {405}),
        (b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", {400, 404, 405}),
        (b"GET /api/v1/bots/%2e%2e/accounts/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", {404}),
        (b"GET /static/..%2f..%2fapp.py HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", {404}),
        (b"GET /api/v1/bots/\xff\xfe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", {400, 404}),
        (b"\x16\x03\x01\x02\x00\x01\x00", {0, 400}),
    ],
    ids=[
        *("both lengths", "two lengths", "negative length", "no host", "two hosts", "bad host", "absolute form"),
        *("200 headers", "long url", "trace", "put", "connect", "dots", "static dots", "bytes", "tls"),
    ],
)
def test_E13_hostile_requests_are_refused(server: Server, request_bytes: bytes, statuses: set[int]) -> None:
    reply = send(server, request_bytes)

    assert reply.status in statuses
    assert b"Traceback" not in reply.body


def test_E13_malformed_requests_do_not_fill_the_log(server: Server) -> None:
    before = server.log.stat().st_size

    for _ in range(150):
        server.say(b"A" * 4_000 + b" / HTTP/1.1\r\n\r\n")

    assert 0 < server.log.read_bytes().count(b"Invalid request") <= 60
    assert server.log.stat().st_size - before < 60 * 1_200


def test_E12_forty_half_sent_requests_hold_up_nobody(server: Server) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            connection = stack.enter_context(server.connect())
            connection.sendall(b"POST /api/v1/accounts HTTP/1.1\r\nHost: x\r\nContent-")
        statuses = [server.ask("GET", "/api/v1/games").status for _ in range(5)]

    assert statuses == [200] * 5  # each within the timeout of its connection


def test_E7_the_log_of_the_server_holds_no_token(server: Server) -> None:
    token = server.ask("POST", "/api/v1/accounts", JSON, b'{"name": "Ann Other"}').json()["token"]["token"]
    server.ask("GET", f"/api/v1/accounts/me?token={token}")
    server.ask("GET", "/api/v1/accounts/me", [f"Authorization: Bearer {token}"])

    assert token not in server.log.read_text()


def test_a_connection_serves_several_requests(server: Server) -> None:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        connection.connect()
        first = connection.sock
        for path, status in (("/healthz", 200), ("/nope", 404), ("/api/v1/games", 200)):
            connection.request("GET", path)
            response = connection.getresponse()
            response.read()
            assert (response.status, connection.sock is first) == (status, True)


@pytest.fixture
def worker(server: Server) -> Iterator[int]:
    """Return the process that serves, whose limit is restored at the end."""
    (pid,) = children(server.pid)
    normal = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    yield pid
    resource.prlimit(pid, resource.RLIMIT_NOFILE, normal)
    until(lambda: server.ask("GET", "/healthz").status == 200, "an answer", 30)
    assert children(server.pid) == [pid]


def limit_files(pid: int, limit: int) -> None:
    _, most = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, most))


def count(pid: int) -> int:
    found = count_open_files(pid)
    assert found is not None
    return found.open


def test_K24_readiness_tells_that_few_file_descriptors_are_left(server: Server, worker: int) -> None:
    assert server.ask("GET", "/readyz").json()["files"] == "ok"
    limit = count(worker) + 50
    limit_files(worker, limit)

    with contextlib.ExitStack() as opened:
        while count(worker) < 0.92 * limit:  # connections between two requests take no thread
            kept = opened.enter_context(server.connect())
            kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert kept.recv(4096).startswith(b"HTTP/1.1 200")
        time.sleep(checks.CACHED_S)  # for so long, the answer may be the one before
        found = until(lambda: (r := server.ask("GET", "/readyz").json())["files"] == "short" and r, "a word", 30)

    assert found["status"] == "degraded"


def test_K24_an_api_without_file_descriptors_says_so_and_serves_on(server: Server, worker: int) -> None:
    limit_files(worker, count(worker) + SPARE)

    with contextlib.ExitStack() as silent:
        for _ in range(3 * SPARE):
            silent.enter_context(server.connect())
        until(lambda: b"files_running_out" in server.log.read_bytes(), "a word in the log", 30)
