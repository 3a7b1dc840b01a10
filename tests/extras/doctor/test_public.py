"""What the doctor finds through the public URL: the real application behind proxies that are set up well and badly."""

import http.server
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import Flask

from api import create_app
from referee.master_keys import MasterKey
from referee.settings import Settings
from referee_extras.doctor import public_checks
from referee_extras.doctor.probe import HEADER, SEEN_HEADER, VALID_S, is_proof, make_proof
from tests.deploy.certificates import make_certificate
from tests.extras.doctor.conftest import lines
from tests.surroundings import MASTER_KEY

URL = "https://referee.example.org"
CLIENT = "203.0.113.9"
Rewrite = Callable[[dict[str, Any]], None]


def proxy_headers(**changes: str | None) -> Rewrite:
    """Return what replaces the headers of requests as deploy/nginx.conf does, but for ``changes``."""

    def rewrite(environ: dict[str, Any]) -> None:
        own = {"HTTP_X_FORWARDED_FOR": environ["REMOTE_ADDR"], "HTTP_X_REQUEST_ID": "0123456789abcdef" * 2}
        for name, value in {**own, "REMOTE_ADDR": "172.18.0.5", **changes}.items():
            if value is None:
                environ.pop(name, None)
            elif value:
                environ[name] = value  # an empty one is passed on from the client

    return rewrite


as_nginx = proxy_headers()


def append(environ: dict[str, Any]) -> None:
    """Append the address to those that the client gives."""
    given, address = environ.get("HTTP_X_FORWARDED_FOR"), environ["REMOTE_ADDR"]
    as_nginx(environ)
    environ["HTTP_X_FORWARDED_FOR"] = f"{given}, {address}" if given else address


@contextmanager
def served(settings: Settings, **changes: Any) -> Iterator[Flask]:
    """Yield the application with these changes of its settings."""
    app: Flask = create_app(replace(settings, **{"trusted_proxies": 1, **changes}))
    yield app
    app.extensions["referee.database"].dispose()


def behind(app: Flask, rewrite: Rewrite) -> httpx.Client:
    """Return a client of the application behind a proxy that rewrites requests."""

    def proxy(environ: dict[str, Any], start: Any) -> Any:
        rewrite(environ)
        return app.wsgi_app(environ, start)

    return httpx.Client(transport=httpx.WSGITransport(proxy, remote_addr=CLIENT))


without_address = proxy_headers(HTTP_X_FORWARDED_FOR=None, REMOTE_ADDR="")
other_host, own_ids = proxy_headers(HTTP_HOST="api:8000"), proxy_headers(HTTP_X_REQUEST_ID="")
ALL_AS_ONE = "all clients count as one address, because REFEREE_TRUSTED_PROXIES is 0 behind a proxy"
PROXIES: list[tuple[dict[str, Any], Rewrite, str, str]] = [  # settings, and what is found with a proxy
    ({}, as_nginx, "ok", f"host and address ({CLIENT}) arrive; a forged address is not believed"),
    ({}, without_address, "failure", "the proxy does not pass on the address of clients"),
    ({}, other_host, "failure", "the proxy passes on the host api:8000 instead of referee.example.org"),
    ({}, own_ids, "warning", "the proxy passes on the X-Request-Id of clients, so they choose what the log shows"),
    ({"master_key": bytes(32)}, as_nginx, "failure", "the service does not say how a request arrived"),
    ({"trusted_proxies": 2}, append, "failure", "a client may choose its address with X-Forwarded-For"),
    ({"trusted_proxies": 0}, as_nginx, "failure", ALL_AS_ONE),
]


@pytest.mark.usefixtures("database")
def test_a_proxy_that_is_set_up_badly_is_found(settings: Settings) -> None:
    for changes, proxies in groupby(PROXIES, key=itemgetter(0)):
        with served(settings, **changes) as app:
            for _, rewrite, level, found in proxies:
                with behind(app, rewrite) as client:
                    judged = lines(list(public_checks.check_proxy(client, URL, settings)))
                assert judged == [f"{level} proxy: {found}"]


@pytest.mark.usefixtures("database")
def test_K34_during_a_rotation_the_doctor_and_the_service_may_use_different_keys(settings: Settings) -> None:
    new = MasterKey(bytes(32), [MASTER_KEY])
    old = MasterKey(MASTER_KEY, [bytes(32)])
    for of_doctor, of_service in ((new, old), (old, new)):
        with served(settings, master_key=of_service) as app, behind(app, as_nginx) as client:
            found = public_checks.check_proxy(client, URL, replace(settings, master_key=of_doctor))
            assert [finding.level for finding in found] == ["ok"]


@pytest.mark.usefixtures("database")
def test_E29_only_the_master_key_makes_the_service_say_how_a_request_arrived(settings: Settings) -> None:
    now = datetime.now(UTC).timestamp()
    wrong = ["", "x", ".", make_proof(bytes(32)), make_proof(MASTER_KEY, now=now - VALID_S - 10)]
    with served(settings) as app, behind(app, as_nginx) as client:
        for proof in wrong:
            answer = client.get(f"{URL}/healthz", headers={HEADER: proof})
            assert SEEN_HEADER not in answer.headers, proof
        assert SEEN_HEADER in client.get(f"{URL}/healthz", headers={HEADER: make_proof(MASTER_KEY)}).headers
    for text in (make_proof(MASTER_KEY)[:-1], "²." + "0" * 64, f"{int(now)}.é"):
        assert not is_proof(MASTER_KEY, text)


Respond = Callable[[http.server.BaseHTTPRequestHandler], None]
ON = '{"tournaments": [], "matches": [{"id": "mat_1"}]}'  # a match is in progress


@contextmanager
def answering(respond: Respond) -> Iterator[str]:
    """Serve ``respond`` on loopback and yield the URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            respond(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def check_stream(respond: Respond, now: str = ON) -> list[str]:
    """Return the finding for a service that answers ``now`` and streams as ``respond`` does."""

    def answer(handler: http.server.BaseHTTPRequestHandler) -> None:
        if handler.path == "/api/v1/matches/mat_1/stream":
            respond(handler)
        else:
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(now.encode())

    with answering(answer) as url, httpx.Client() as client:
        return [line.replace(url, "") for line in lines(public_checks.check_streams(client, url))]


def test_a_stream_that_arrives_is_in_order() -> None:
    ended = threading.Event()

    def begin(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(b"retry: 1000\n\n")
        ended.wait(30)  # it goes on

    (found,) = check_stream(begin)
    ended.set()
    assert found.startswith("ok streams: a stream arrives unbuffered, after ")


def answer_with(status: int) -> Respond:
    def respond(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.end_headers()

    return respond


@pytest.mark.parametrize(
    ("respond", "now", "line"),
    [
        (answer_with(503), ON, "failure streams: a stream answers with status 503"),
        (answer_with(200), ON, "failure streams: the proxy ends streams immediately"),
        (
            answer_with(200),
            '{"tournaments": [], "matches": []}',
            "skipped streams: not checked: no tournament or match is in progress",
        ),
        *(
            (answer_with(200), now, "failure streams: /api/v1/now cannot be read: ")
            for now in ("", "[]", "{}", '{"tournaments": [{}]}')
        ),
    ],
)
def test_streams_that_cannot_be_followed_are_found(respond: Respond, now: str, line: str) -> None:
    (found,) = check_stream(respond, now)

    assert found.startswith(line)


def test_the_answers_at_the_public_url_are_judged(settings: Settings) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        nobody = f"http://127.0.0.1:{listener.getsockname()[1]}"
    silent = lines(public_checks.check_public(nobody, settings))
    with answering(answer_with(400)) as url:
        refused = lines(public_checks.check_public(url, settings))
    with answering(answer_with(200)) as open_url, httpx.Client() as client:
        metrics = lines(list(public_checks._check_metrics_hidden(client, open_url)))

    assert silent[0] == "skipped tls: not checked: this is plain http on this host"
    assert silent[1].startswith(f"failure public url: {nobody} does not answer: ")
    assert refused[1:] == [f"failure public url: {url}/healthz answers with status 400"]
    assert metrics == [f"failure public url: {open_url}/metrics shows something to everybody"]
    assert lines([public_checks._check_name(URL, settings), public_checks.check_tls("http://referee.example.org")]) == [
        f"warning public url: the service answers at {URL}, but REFEREE_PUBLIC_URL is http://127.0.0.1:8000",
        "failure tls: http://referee.example.org has no TLS: tokens can be read in transit",
    ]


def test_a_proxy_that_buffers_streams_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_checks, "STREAM_S", 1.0)
    ended = threading.Event()

    def buffer(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        ended.wait(30)  # the end of the stream, which never comes

    assert check_stream(buffer) == ["failure streams: nothing of a stream arrived within 1 s: the proxy buffers it"]
    ended.set()


@contextmanager
def trickling() -> Iterator[str]:
    """Serve responses whose header arrives byte by byte: complete ones, but only after many times the time limit."""
    stopped = threading.Event()

    def respond(handler: http.server.BaseHTTPRequestHandler) -> None:
        header = "HTTP/1.0 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Length: 0\r\nTrickle: " + "x" * 400
        for byte in header:
            if stopped.wait(0.02):
                return
            handler.wfile.write(byte.encode())
        handler.wfile.write(b"\r\n\r\n")

    with answering(respond) as url:
        try:
            yield url
        finally:
            stopped.set()


def test_a_header_that_trickles_is_given_up_when_the_time_for_the_whole_response_is_over(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public_checks, "TIMEOUT_S", 0.5)
    monkeypatch.setattr(public_checks, "STREAM_S", 0.5)
    with trickling() as url, httpx.Client(timeout=5) as client:
        *_, found = public_checks.check_public(url, settings)
        stream = public_checks.check_stream(client, url)
        ahead = public_checks.read_date(url)

    assert lines(found) == [f"failure public url: {url} does not answer: no complete answer within 0.5 s"]
    assert lines(stream)[0].startswith("failure streams: nothing of a stream arrived within")
    assert ahead is None


def test_a_tls_handshake_that_trickles_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_checks, "TIMEOUT_S", 0.5)
    stopped = threading.Event()

    def trickle(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"\x16\x03\x03\x40\x00")  # the header of a record of 16 KiB
            while not stopped.wait(0.02):
                connection.sendall(b"\x02")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=trickle, args=(listener,), daemon=True)
        server.start()
        found = public_checks.check_tls(f"https://127.0.0.1:{listener.getsockname()[1]}")
        stopped.set()
        server.join(10)

    assert lines(found) == ["failure tls: no TLS connection could be opened: no complete answer within 0.5 s"]


def test_a_service_that_hangs_up_after_its_first_answer_is_found(settings: Settings) -> None:
    def answer_health_alone(handler: http.server.BaseHTTPRequestHandler) -> None:
        if handler.path == "/healthz" and HEADER not in handler.headers:
            handler.send_response(200)
            handler.end_headers()
        else:
            handler.close_connection = True

    with answering(answer_health_alone) as url:
        found = lines(public_checks.check_public(url, replace(settings, public_url=url)))
    assert f"ok public url: {url} answers, and is REFEREE_PUBLIC_URL" in found
    assert any(line.startswith("failure public url: the checks of the proxy ended: ") for line in found)
    assert any(line.startswith("failure streams: ") for line in found)


@pytest.mark.parametrize(
    "url", ["https://[::1", "https://referee.example.org:many", "https:", "referee.example.org", "file:///etc"]
)
def test_what_is_no_url_is_found(settings: Settings, url: str) -> None:
    (line,) = lines(public_checks.check_public(url, settings))
    assert line == f"failure public url: {url} is not a URL of a service"
    assert public_checks.read_date(url) is None


@contextmanager
def secured(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, trusted: bool = True) -> Iterator[str]:
    """Serve TLS on loopback with a new certificate for ``name`` that is valid for 90 days, and yield the URL."""
    public, private = make_certificate(name, days=90)
    file = folder / "certificate.pem"
    file.write_bytes(private + public)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = threading.Thread(target=_handshake, args=(listener, context), daemon=True)
        thread.start()
        yield f"https://localhost:{listener.getsockname()[1]}"
        thread.join(10)


def _handshake(listener: socket.socket, context: ssl.SSLContext) -> None:
    plain, _ = listener.accept()
    try:
        with context.wrap_socket(plain, server_side=True) as connection:
            connection.recv(1)
    except OSError:
        plain.close()


@pytest.mark.parametrize(
    ("name", "trusted", "day", "line"),
    [
        ("localhost", True, 0, "ok tls: TLSv1.3; the certificate is valid for localhost and 89 more days"),
        ("localhost", True, 80, "warning tls: the certificate expires in 9 days"),
        ("localhost", True, 88, "failure tls: the certificate expires in 1 days"),
        (
            *("other.example.org", True, 0),
            "failure tls: the certificate is not accepted: Hostname mismatch, certificate is not valid for "
            "'localhost'.",
        ),
        ("localhost", False, 0, "failure tls: the certificate is not accepted: self-signed certificate"),
    ],
)
def test_a_certificate_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, trusted: bool, day: int, line: str
) -> None:
    with secured(tmp_path, monkeypatch, name, trusted=trusted) as url:
        found = public_checks.check_tls(url, now=datetime.now(UTC) + timedelta(days=day))

    assert lines(found) == [line]
