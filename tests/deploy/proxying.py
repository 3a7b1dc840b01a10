"""Run nginx with the committed configuration in front of an API, which may be a small one that keeps what it hears."""

import http.client
import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.deploy import nginx
from tests.deploy.certificates import make_certificate
from tests.deploy.compose import ROOT
from tests.deploy.processes import free_ports, listens
from tests.end_to_end.processes import until
from tests.machine import require

CONFIGURATION = ROOT / "deploy" / "nginx.conf"
TLS = ROOT / "deploy" / "tls.conf"
PATIENCE_S = 10.0
LARGE = b"0123456789abcdef" * 500_000  # 8 MB: more than sockets buffer
LEAST_NGINX = "1.22"  # the oldest version that was tried
HTTP2_DIRECTIVE = (1, 25, 1)  # the version since which `http2 on;` is one


@dataclass
class Upstream:
    """What stands where the API would, and what reached it."""

    heads: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    written: threading.Event = field(default_factory=threading.Event)  # a large response as a whole
    released: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def serving(self) -> Iterator[int]:
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                upstream.heads.append(dict(self.headers.items()))
                upstream.paths.append(self.path)
                if self.path.endswith("/stream"):
                    self.stream()
                elif self.path == "/large":
                    self.answer(LARGE)
                    upstream.written.set()
                else:
                    if self.path == "/held":
                        upstream.released.wait(PATIENCE_S)
                    self.answer()

            def do_POST(self) -> None:
                upstream.heads.append(dict(self.headers.items()))
                upstream.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.answer()

            def answer(self, body: bytes = b"ok") -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                if self.path.startswith("/static/"):
                    self.send_header("Cache-Control", "public, max-age=31536000, immutable")
                self.end_headers()
                self.wfile.write(body)

            def stream(self) -> None:
                """Send a message, and the next one only when the test has seen it."""
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                self.wfile.write(b"data: first\n\n")
                self.wfile.flush()
                upstream.released.wait(PATIENCE_S)
                self.wfile.write(b"data: second\n\n")

            def log_message(self, format: str, *args: object) -> None:
                """Log nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
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
    tls_port: int = 0
    certificate: Path = Path()

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


@contextmanager
def in_front_of(api_port: int, folder: Path, upstream: Upstream, **changes: str) -> Iterator[Proxy]:
    """Run nginx with the committed configuration: other ports, other folders, a second instead of five or ten.

    ``changes`` replace further directives; the test names them by their first word.
    """
    port, tls_port = free_ports(2)
    text = replaced(
        CONFIGURATION.read_text(),
        {
            "/tmp/": f"{folder}/",
            "include /etc/nginx/tls/": f"include {folder}/tls/",
            "listen 8080": f"listen 127.0.0.1:{port}",
            "http://api:8000": f"http://127.0.0.1:{api_port}",
            "client_header_timeout 5s": "client_header_timeout 1s",
            "client_body_timeout 10s": "client_body_timeout 1s",
            "access_log /dev/stdout brief": f"access_log {folder}/access.log brief",
            "worker_processes auto": "worker_processes 1",
            "listen 127.0.0.1:": "set_real_ip_from 127.0.0.1;\n        listen 127.0.0.1:",  # X-Real-IP says who asks
            **changes,
        },
    )
    (folder / "tls").mkdir()
    (folder / "tls" / "tls.conf").write_text(tls_configuration(tls_port, folder))
    write_certificate(folder / "tls")
    with running(text, folder):
        until(lambda: listens(port) and listens(tls_port), "nginx")
        yield Proxy(port, upstream, tls_port, folder / "tls" / "fullchain.pem")


def tls_configuration(port: int, folder: Path) -> str:
    """Return the committed configuration of TLS for the nginx that runs, which may be older than that of the image."""
    listen = f"listen 127.0.0.1:{port} ssl default_server"
    text = replaced(TLS.read_text(), {"listen 8443 ssl default_server": listen, "/etc/nginx/tls/": f"{folder}/tls/"})
    if nginx_version() < HTTP2_DIRECTIVE:
        text = replaced(text, {"http2 on;\n": "", "ssl default_server": "ssl http2 default_server"})
    return text


def replaced(text: str, changes: dict[str, str]) -> str:
    for committed, ours in changes.items():
        assert committed in text, committed
        text = text.replace(committed, ours)
    return text


def program() -> str:
    return require("nginx", "the proxy", LEAST_NGINX, asked="-v", places=[nginx.found()])


def nginx_version() -> tuple[int, ...]:
    said = subprocess.run([program(), "-v"], capture_output=True, text=True, check=True).stderr
    found = re.search(r"/(\d+)\.(\d+)\.(\d+)", said)
    assert found
    return tuple(map(int, found.groups()))


@contextmanager
def running(text: str, folder: Path) -> Iterator[None]:
    configuration = folder / "nginx.conf"
    configuration.write_text(text)
    user = "user root; " if os.geteuid() == 0 else ""
    command = [program(), "-p", str(folder), "-c", str(configuration), "-g", f"{user}daemon off;"]
    checked = subprocess.run([*command, "-t"], check=False, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    with (folder / "error.log").open("wb") as log, subprocess.Popen(command, stderr=log) as started:
        try:
            yield
        finally:
            started.terminate()


def write_certificate(folder: Path) -> None:
    """Write a certificate for 127.0.0.1 and its key."""
    public, private = make_certificate("127.0.0.1", days=2)
    (folder / "fullchain.pem").write_bytes(public)
    (folder / "privkey.pem").write_bytes(private)


def cut_off(line: socket.socket) -> bool:
    """Return whether the proxy closes the connection, with or without a response, before the time is up."""
    try:
        return line.recv(1000)[:12] in (b"", b"HTTP/1.1 408")
    except ConnectionResetError:
        return True
