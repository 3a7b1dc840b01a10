"""The proxy's configuration: read everywhere; where there is an nginx (on PATH or named by REFEREE_NGINX) also run."""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest

from api.body import MAX_BYTES
from api.errors import CODES
from tests.deploy.compose import ROOT, filled_in, services

CONFIGURATION = ROOT / "deploy" / "nginx.conf"
NGINX = os.environ.get("REFEREE_NGINX") or shutil.which("nginx")
PATIENCE_S = 10.0

needs_nginx = pytest.mark.skipif(
    NGINX is None, reason="NOT RUN: the proxy's behaviour, since there is no nginx here (apt-get install nginx)"
)


# -- read --


@pytest.fixture(scope="module")
def text() -> str:
    return CONFIGURATION.read_text()


def test_its_braces_close_and_its_directives_end(text: str) -> None:
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", re.sub(r"#.*", "", text))
    depth = 0
    for line in map(str.strip, bare.splitlines()):
        depth += line.count("{") - line.count("}")
        assert depth >= 0
        assert not line or line[-1] in ";{}'", line
    assert depth == 0


@pytest.mark.parametrize(
    "directive",
    [
        "client_header_timeout 5s",
        "client_body_timeout 10s",
        "limit_conn addresses 20",
        "limit_conn_zone $caller zone=addresses:10m",
        "proxy_request_buffering on",
        "proxy_set_header X-Forwarded-For $remote_addr",
        "proxy_next_upstream error timeout",  # without non_idempotent: a POST that was sent is not repeated
        "proxy_next_upstream_tries 2",
        "proxy_next_upstream_timeout 10s",
        "server_tokens off",
    ],
)
def test_it_keeps_slow_and_many_clients_from_the_api(text: str, directive: str) -> None:
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
    written = re.findall(r"^\s*(?:pid|\w+_temp_path) (\S+);", text, re.MULTILINE)

    assert len(written) == 6
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


@dataclass
class Upstream:
    """What stands where the API would, and what reached it."""

    heads: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def serving(self) -> Iterator[int]:
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                upstream.heads.append(dict(self.headers.items()))
                if self.path == "/held":
                    upstream.released.wait(PATIENCE_S)
                self.answer()

            def do_POST(self) -> None:
                upstream.heads.append(dict(self.headers.items()))
                upstream.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.answer()

            def answer(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, format: str, *args: object) -> None:
                """Log nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            self.released.set()
            server.shutdown()
            thread.join()
            server.server_close()


@dataclass
class Proxy:
    port: int
    upstream: Upstream

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        answer = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        connection.close()
        return answer


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    """nginx with the committed configuration: other ports, other folders, a second instead of five or ten."""
    upstream = Upstream()
    with upstream.serving() as api_port, ExitStack() as stack:
        port = free_port()
        text = CONFIGURATION.read_text()
        for ours, test in {
            "/tmp/": f"{tmp_path}/",
            "listen 8080": f"listen 127.0.0.1:{port}",
            "http://api:8000": f"http://127.0.0.1:{api_port}",
            "client_header_timeout 5s": "client_header_timeout 1s",
            "client_body_timeout 10s": "client_body_timeout 1s",
            "access_log /dev/stdout brief": f"access_log {tmp_path}/access.log brief",
            "worker_processes auto": "worker_processes 1",
            "listen 127.0.0.1:": "set_real_ip_from 127.0.0.1;\n        listen 127.0.0.1:",  # X-Real-IP says who asks
        }.items():
            assert ours in text
            text = text.replace(ours, test)
        stack.callback(started(text, tmp_path).terminate)
        wait_for(port)
        yield Proxy(port, upstream)


def started(text: str, folder: Path) -> "subprocess.Popen[bytes]":
    assert NGINX is not None
    configuration = folder / "nginx.conf"
    configuration.write_text(text)
    user = "user root; " if os.geteuid() == 0 else ""
    command = [NGINX, "-p", str(folder), "-c", str(configuration), "-g", f"{user}daemon off;"]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    return subprocess.Popen(command, stderr=(folder / "error.log").open("wb"))


def cut_off(line: socket.socket) -> bool:
    """Return whether the proxy closes the connection, with or without a response, before the time is up."""
    try:
        return line.recv(1000)[:12] in (b"", b"HTTP/1.1 408")
    except ConnectionResetError:
        return True


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def wait_for(port: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except ConnectionRefusedError:
            time.sleep(0.02)
        else:
            return
    raise AssertionError("nginx does not listen")


@needs_nginx
def test_a_request_passes_and_what_it_says_of_its_origin_does_not(proxy: Proxy) -> None:
    status, _, body = proxy.ask("GET", "/x?a=b", X_Forwarded_For="6.6.6.6", X_Forwarded_Host="evil", Forwarded="for=1")

    assert (status, body) == (200, b"ok")
    (head,) = proxy.upstream.heads
    assert head["X-Forwarded-For"] == "127.0.0.1"
    assert head["Host"] == f"127.0.0.1:{proxy.port}"
    assert not {"X-Forwarded-Host", "Forwarded", "X-Forwarded-Proto"} & set(head)


@needs_nginx
def test_E1_a_large_body_is_refused_before_the_api_hears_of_it(proxy: Proxy) -> None:
    status, headers, body = proxy.ask("POST", "/x", b"x" * (MAX_BYTES + 1))

    assert (status, headers["content-type"]) == (413, "application/problem+json")
    assert json.loads(body)["code"] == "body_too_large"
    assert not proxy.upstream.heads
    assert proxy.ask("POST", "/x", b"x" * MAX_BYTES)[0] == 200


@needs_nginx
def test_E12_a_head_that_trickles_is_cut_off(proxy: Proxy) -> None:
    with proxy.connected() as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        assert cut_off(line)

    assert not proxy.upstream.heads


@needs_nginx
def test_E12_the_api_sees_a_request_only_when_it_is_whole(proxy: Proxy) -> None:
    with proxy.connected() as line:
        line.sendall(b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
        assert proxy.ask("GET", "/other")[0] == 200
        assert len(proxy.upstream.heads) == 1
        line.sendall(b"67890")
        assert line.recv(1000).startswith(b"HTTP/1.1 200")

    assert proxy.upstream.bodies == [b"1234567890"]


@needs_nginx
def test_E12_a_body_that_stops_is_cut_off(proxy: Proxy) -> None:
    with proxy.connected() as line:
        line.sendall(b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
        assert cut_off(line)

    assert not proxy.upstream.heads


@needs_nginx
def test_E12_twenty_requests_at_once_from_one_address(proxy: Proxy) -> None:
    with ExitStack() as stack:
        lines = [stack.enter_context(proxy.connected()) for _ in range(20)]
        for line in lines:
            line.sendall(b"GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
        end = time.monotonic() + PATIENCE_S
        while len(proxy.upstream.heads) < 20 and time.monotonic() < end:
            time.sleep(0.02)
        status, headers, body = proxy.ask("GET", "/x")
        proxy.upstream.released.set()
        answers = [line.recv(1000) for line in lines]

    assert (status, headers["retry-after"]) == (429, "1")
    assert json.loads(body)["code"] == "rate_limited"
    assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers)


@needs_nginx
def test_E12_twenty_requests_at_once_from_one_ipv6_network(proxy: Proxy) -> None:
    with ExitStack() as stack:
        for n in range(20):
            line = stack.enter_context(proxy.connected())
            line.sendall(b"GET /held HTTP/1.1\r\nHost: x\r\nX-Real-IP: 2001:db8:a0a:7::%x\r\n\r\n" % n)
        end = time.monotonic() + PATIENCE_S
        while len(proxy.upstream.heads) < 20 and time.monotonic() < end:
            time.sleep(0.02)

        same = proxy.ask("GET", "/x", X_Real_IP="2001:db8:a0a:7:8::")[0]
        others = [proxy.ask("GET", "/x", X_Real_IP=who)[0] for who in ("2001:db8:a0a:8::", "192.0.2.7")]

    assert (same, others) == (429, [200, 200])


@needs_nginx
def test_an_api_that_is_away_is_a_problem_document_too(proxy: Proxy, tmp_path: Path) -> None:
    gone = free_port()
    text = re.sub(r"http://127.0.0.1:\d+", f"http://127.0.0.1:{gone}", (tmp_path / "nginx.conf").read_text())
    port = free_port()
    (tmp_path / "second").mkdir()
    text = text.replace(f"127.0.0.1:{proxy.port}", f"127.0.0.1:{port}").replace("nginx.pid", "second.pid")
    second = started(text, tmp_path / "second")
    try:
        wait_for(port)
        status, headers, body = Proxy(port, proxy.upstream).ask("GET", "/readyz")
    finally:
        second.terminate()
        second.wait()

    assert (status, headers["retry-after"]) == (503, "2")
    assert json.loads(body)["code"] == "unavailable"


@needs_nginx
def test_the_proxy_tells_its_own_health(proxy: Proxy) -> None:
    assert proxy.ask("GET", "/proxy-health")[0] == 200
    assert not proxy.upstream.heads
