"""The service under gunicorn with threads, sent raw bytes on loopback."""

import contextlib
import http.client
import socket
from collections.abc import Iterator

import pytest

from api.body import MAX_BYTES
from tests.api.serving import Reply, Server, read_reply, serving

THREADS = 48


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("served"), THREADS) as running:
        yield running


@pytest.fixture(scope="module")
def token(server: Server) -> str:
    made = server.ask("POST", "/api/v1/accounts", JSON, b'{"name":"Ann Other"}')
    assert made.status == 201, made.body
    text: str = made.json()["token"]["token"]
    return text


JSON = ["Content-Type: application/json"]


def chunked(body: bytes, size: int = 4096) -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def post_chunked(server: Server, sent: bytes) -> Reply:
    head = (
        f"POST /api/v1/accounts HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    return server.say(head.encode(), sent)


def test_a_chunked_body_is_read(server: Server) -> None:
    assert post_chunked(server, chunked(b'{"name":"Chunked One"}')).status == 201


def test_E1_a_chunked_body_too_long_is_a_413(server: Server) -> None:
    reply = post_chunked(server, chunked(b'{"name":"' + b"x" * MAX_BYTES + b'"}'))

    assert (reply.status, reply.json()["code"]) == (413, "body_too_large")


def test_E1_a_body_announced_too_long_is_refused_before_it_comes(server: Server) -> None:
    head = (
        f"POST /api/v1/accounts HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {MAX_BYTES + 1}\r\n\r\n"
    )

    reply = server.say(head.encode())

    assert (reply.status, reply.json()["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("sent", [b"zz\r\n{}\r\n0\r\n\r\n", b"-1\r\n", b"5\r\n{}"], ids=["size", "sign", "short"])
def test_E1_broken_chunks_are_a_400(server: Server, sent: bytes) -> None:
    head = (
        f"POST /api/v1/accounts HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with server.connect() as connection:
        connection.sendall(head.encode() + sent)
        connection.shutdown(socket.SHUT_WR)
        reply = read_reply(connection)

    assert reply.status == 400


def test_E6_a_token_of_a_megabyte_is_refused(server: Server) -> None:
    assert server.ask("GET", "/api/v1/accounts/me", [f"Authorization: Bearer {'x' * 1_000_000}"]).status in (400, 431)
    assert server.ask("GET", "/api/v1/accounts/me", [f"Authorization: Bearer {'x' * 8000}"]).status == 401


MANY_HEADERS = b"".join(b"X-%d: y\r\n" % number for number in range(200))


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
    with server.connect() as connection:
        connection.sendall(request_bytes)
        connection.shutdown(socket.SHUT_WR)
        reply = read_reply(connection)

    assert reply.status in statuses
    assert b"Traceback" not in reply.body


def test_E12_forty_half_sent_requests_hold_up_nobody(server: Server) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            connection = stack.enter_context(server.connect())
            connection.sendall(b"POST /api/v1/accounts HTTP/1.1\r\nHost: x\r\nContent-")
        statuses = [server.ask("GET", "/api/v1/games").status for _ in range(5)]

    assert statuses == [200] * 5  # each within the timeout of its connection


def test_E7_the_log_of_the_server_holds_no_token(server: Server, token: str) -> None:
    server.ask("GET", f"/api/v1/accounts/me?token={token}")
    server.ask("GET", "/api/v1/accounts/me", [f"Authorization: Bearer {token}"])

    assert token not in server.log.read_text()


def test_a_connection_serves_several_requests(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.connect()
    first = connection.sock

    for path, status in (("/healthz", 200), ("/nope", 404), ("/api/v1/games", 200)):
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        assert response.status == status
        assert connection.sock is first
    connection.close()
