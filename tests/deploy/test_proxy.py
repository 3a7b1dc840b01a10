"""The proxy's configuration: what it says, and what an nginx with it does."""

import json
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import fields
from ipaddress import ip_address
from pathlib import Path

import pytest

from api.body import MAX_BYTES
from api.errors import CODES
from referee.settings import Settings
from tests.deploy.compose import filled_in, services
from tests.deploy.processes import free_port
from tests.deploy.proxying import (
    CONFIGURATION,
    LARGE,
    PATIENCE_S,
    Proxy,
    Upstream,
    cut_off,
    in_front_of,
)
from tests.end_to_end.processes import until

HALF = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345"
BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"  # the Accept header of browsers


# -- read --


@pytest.fixture(scope="module")
def text() -> str:
    return CONFIGURATION.read_text()


@pytest.mark.parametrize(
    "directive",
    [
        *("client_header_timeout 5s", "client_body_timeout 10s"),
        "limit_req_zone $caller zone=rate:10m rate=100r/s",
        *("proxy_set_header X-Request-Id $request_id", "server_tokens off"),
        *("proxy_next_upstream_tries 2", "proxy_next_upstream_timeout 10s"),
    ],
)
def test_it_says_what_takes_too_long_to_try(text: str, directive: str) -> None:
    assert f"{directive};" in text


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:a0a:d0a::1", "2001:db8:a0a:d0a::"),  # bytes that are line ends
        ("::1", "::"),
    ],
)
def test_E8_it_counts_an_ipv6_network_as_one_caller(text: str, address: str, key: str) -> None:
    patterns = re.findall(r'^ *"~(\S+)" \$(\w+);$', text, re.MULTILINE)
    assert len(patterns) == 2
    packed = ip_address(address).packed

    matched = (
        found[name]
        for pattern, name in patterns
        if (found := re.search(pattern.replace("(?<", "(?P<").encode(), packed))
    )

    assert next(matched, packed) == ip_address(key).packed[: 4 if "." in key else 8]


def test_it_takes_bodies_as_large_as_the_api_does(text: str) -> None:
    assert f"client_max_body_size {MAX_BYTES // 1024}k;" in text


def test_it_meets_the_other_containers_where_they_are(text: str) -> None:
    running = services(filled_in())
    proxy = running["proxy"]

    assert set(re.findall(r"http://([a-z]+):8000", text)) == {"api"}
    assert set(proxy["networks"]) & set(running["api"]["networks"])
    assert proxy["ports"][0].endswith(":8080")
    assert "listen 8080 default_server;" in text
    assert proxy["volumes"] == ["./deploy/nginx.conf:/etc/nginx/nginx.conf:ro"]
    assert "location = /proxy-health " in text
    assert proxy["healthcheck"]["test"][-1].endswith(":8080/proxy-health")


def test_it_writes_nowhere_but_to_tmp(text: str) -> None:
    written = re.findall(r"^\s*(?:pid|\w+_temp_path|proxy_cache_path) ([^\s;]+)", text, re.MULTILINE)

    assert len(written) == 7
    assert all(path.startswith("/tmp/") for path in written)


def test_its_own_errors_are_problem_documents_with_known_codes(text: str) -> None:
    bodies = re.findall(r"return (\d+) '(\{.*\})';", text)

    assert {status for status, _ in bodies} == {"413", "429", "503"}
    for status, body in bodies:
        problem = json.loads(body)
        assert problem["status"] == int(status)
        assert problem["code"] == CODES[int(status)]
        assert set(problem) == {"type", "title", "status", "code", "detail", "request_id"}


# -- run --


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    upstream = Upstream()
    with upstream.serving() as api_port, in_front_of(api_port, tmp_path, upstream) as proxy:
        yield proxy


def test_a_request_passes_and_what_it_says_of_its_origin_does_not(proxy: Proxy) -> None:
    forged = {"X_Forwarded_For": "6.6.6.6", "X_Forwarded_Host": "evil", "Forwarded": "for=1"}
    secure = {"X_Forwarded_Ssl": "on", "X_Forwarded_Protocol": "ssl"}  # which gunicorn takes for TLS

    status, _, body = proxy.ask("GET", "/x?a=b", None, **forged, **secure)

    assert (status, body) == (200, b"ok")
    (head,) = proxy.upstream.heads
    assert head["X-Forwarded-For"] == "127.0.0.1"
    assert head["Host"] == f"127.0.0.1:{proxy.port}"
    assert not {"X-Forwarded-Host", "Forwarded", "X-Forwarded-Proto"} & set(head)
    assert not {"X-Forwarded-Ssl", "X-Forwarded-Protocol"} & set(head)


def test_E1_a_large_body_is_refused_before_the_api_hears_of_it(proxy: Proxy) -> None:
    status, headers, body = proxy.ask("POST", "/x", b"x" * (MAX_BYTES + 1))

    assert (status, headers["content-type"]) == (413, "application/problem+json")
    assert json.loads(body)["code"] == "body_too_large"
    assert not proxy.upstream.heads
    assert proxy.ask("POST", "/x", b"x" * MAX_BYTES)[0] == 200


@pytest.mark.parametrize("begun", [b"GET / HTTP/1.1\r\nHost: x\r\n", HALF])
def test_E12_a_head_or_a_body_that_stops_is_cut_off(proxy: Proxy, begun: bytes) -> None:
    with proxy.connected() as line:
        line.sendall(begun)
        assert cut_off(line)

    assert not proxy.upstream.heads


def test_E12_the_api_sees_a_request_only_when_it_is_whole(proxy: Proxy) -> None:
    with proxy.connected() as line:
        line.sendall(HALF)
        assert proxy.ask("GET", "/other")[0] == 200
        assert len(proxy.upstream.heads) == 1
        line.sendall(b"67890")
        assert line.recv(1000).startswith(b"HTTP/1.1 200")

    assert proxy.upstream.bodies == [b"1234567890"]


def test_E12_concurrent_requests_from_one_address_or_ipv6_network_are_limited(tmp_path: Path) -> None:
    upstream, changes = Upstream(), {"limit_conn requests 240;": "limit_conn requests 20;"}
    with ExitStack() as stack:
        proxy = stack.enter_context(in_front_of(stack.enter_context(upstream.serving()), tmp_path, upstream, **changes))
        lines = [stack.enter_context(proxy.connected()) for _ in range(40)]
        for n, line in enumerate(lines):
            asker = b"X-Real-IP: 2001:db8:a0a:7::%x\r\n" % n if n < 20 else b""
            line.sendall(b"GET /held HTTP/1.1\r\nHost: x\r\n" + asker + b"\r\n")
        until(lambda: len(upstream.heads) == 40, "all requests")
        status, headers, body = proxy.ask("GET", "/x")
        shown = proxy.ask("GET", "/x", Accept=BROWSER)
        file = proxy.ask("GET", "/static/v-1/x.js")[0]
        same = proxy.ask("GET", "/x", X_Real_IP="2001:db8:a0a:7:8::")[0]
        others = [proxy.ask("GET", "/x", X_Real_IP=who)[0] for who in ("2001:db8:a0a:8::", "192.0.2.7")]
        upstream.released.set()
        answers = [line.recv(1000) for line in lines]

    assert (status, headers["retry-after"]) == (429, "1")
    assert json.loads(body)["code"] == "rate_limited"
    assert (shown[0], shown[1]["content-type"]) == (429, "text/html; charset=utf-8")
    assert (file, same, others) == (200, 429, [200, 200])
    assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers)


def test_E8_a_flood_of_requests_from_one_address_stops_at_the_proxy(tmp_path: Path) -> None:
    upstream = Upstream()
    changes = {"burst=400": "burst=20", "rate=100r/s": "rate=1r/m"}
    with upstream.serving() as api_port, in_front_of(api_port, tmp_path, upstream, **changes) as proxy:
        statuses = [proxy.ask("GET", "/x")[0] for _ in range(25)]
        elsewhere = proxy.ask("GET", "/x", X_Real_IP="192.0.2.7")[0]

    assert statuses == [200] * 21 + [429] * 4
    assert elsewhere == 200
    assert len(upstream.heads) == 22


def test_E12_a_reader_that_reads_nothing_occupies_only_the_proxy(proxy: Proxy) -> None:
    with proxy.connected() as line:
        line.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert proxy.upstream.written.wait(PATIENCE_S)
        received = b"".join(iter(lambda: line.recv(1 << 20), b""))

    assert received.endswith(LARGE)


def test_a_stream_passes_as_it_is_written(proxy: Proxy) -> None:
    with proxy.connected() as line:
        line.sendall(b"GET /api/v1/matches/mat_1/stream HTTP/1.1\r\nHost: x\r\n\r\n")
        received = b""
        while b"data: first" not in received:
            received += line.recv(1000)
        proxy.upstream.released.set()
        while b"data: second" not in received:
            received += line.recv(1000)

    assert b"text/event-stream" in received


def test_a_file_of_the_pages_is_requested_from_the_api_once(proxy: Proxy) -> None:
    answers = [proxy.ask("GET", "/static/v-1/site.css") for _ in range(3)]

    assert [(status, body) for status, _, body in answers] == [(200, b"ok")] * 3
    assert proxy.upstream.paths == ["/static/v-1/site.css"]


@pytest.mark.parametrize("path", ["/metrics", "//metrics", "/%2fmetrics", "/%6detrics", "/x/../metrics", "/metrics?x"])
def test_metrics_are_not_for_the_public_and_health_is_its_own(proxy: Proxy, path: str) -> None:
    assert proxy.ask("GET", path)[0] == 404
    assert proxy.ask("GET", "/proxy-health")[0] == 200
    assert not proxy.upstream.heads


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Transfer-Encoding: xchunked\r\nContent-Length: 6\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"Host: other.example\r\nContent-Length: 6\r\n",
    ],
)
def test_a_request_whose_end_is_ambiguous_does_not_pass(proxy: Proxy, framing: bytes) -> None:
    smuggled = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n"
    with proxy.connected() as line:
        line.sendall(b"POST /x HTTP/1.1\r\nHost: a.example\r\n" + framing + b"\r\n" + smuggled)
        status = line.recv(12)

    assert status in (b"HTTP/1.1 400", b"HTTP/1.1 501")
    assert not proxy.upstream.paths


@pytest.mark.parametrize(
    ("accept", "kind"), [("*/*", "application/problem+json"), (BROWSER, "text/html; charset=utf-8")]
)
def test_an_api_that_is_away_is_a_problem_document_or_a_page(tmp_path: Path, accept: str, kind: str) -> None:
    with in_front_of(free_port(), tmp_path, Upstream()) as proxy:
        status, headers, body = proxy.ask("GET", "/readyz", Accept=accept)

    assert (status, headers["retry-after"], headers["content-type"]) == (503, "2", kind)
    assert b"The service does not answer" in body


# -- TLS --


def test_tls_offers_http_2_and_passes_requests_on(proxy: Proxy) -> None:
    context = ssl.create_default_context(cafile=str(proxy.certificate))
    protocols, answer = [], b""
    for offered in (["h2", "http/1.1"], ["http/1.1"]):
        context.set_alpn_protocols(offered)
        with (
            socket.create_connection(("127.0.0.1", proxy.tls_port), PATIENCE_S) as plain,
            context.wrap_socket(plain, server_hostname="127.0.0.1") as line,
        ):
            protocols.append(line.selected_alpn_protocol())
            if protocols[-1] == "http/1.1":
                line.sendall(b"GET /x HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n")
                answer = line.recv(1000)

    assert protocols == ["h2", "http/1.1"]
    assert answer.startswith(b"HTTP/1.1 200")
    assert proxy.upstream.heads[-1]["X-Forwarded-For"] == "127.0.0.1"


def test_an_address_may_have_as_many_streams_as_the_api_accepts(text: str) -> None:
    (spec,) = [spec for spec in fields(Settings) if spec.name == "streams_per_address"]

    assert f"limit_conn streams {spec.default};" in text
