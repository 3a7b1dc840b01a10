"""Serve HTTP on loopback with scripted answers, for commands that call a service or a bot."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = tuple[int, Mapping[str, str], bytes]  # the status, headers and body


@dataclass(frozen=True, slots=True)
class Call:
    """Hold a request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@contextmanager
def answering(answer: Callable[[Call], Answer | None], at: tuple[str, int] = ("127.0.0.1", 0)) -> Iterator[str]:
    """Yield the URL of a server that gives these answers, and hangs up for None or if it announced another length."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answered = answer(Call(self.command, self.path, dict(self.headers), body))
            self.close_connection = answered is None
            if answered is not None:
                self.send(*answered)

        def do_POST(self) -> None:
            self.do_GET()

        def send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
            sent = {"Content-Length": str(len(body)), **headers}
            self.send_response(status)
            for name, value in sent.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = sent["Content-Length"] != str(len(body))

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(at, Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://{at[0]}:{server.server_port}"
        server.shutdown()
