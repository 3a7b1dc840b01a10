"""The client of the public API: what it sends again, what it never sends twice, and whom it asks."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from referee.cli.service.api_client import Api, ApiUnreachable

Asked = list[tuple[str, str | None]]  # the method, and the key of a request that must have one effect


@contextmanager
def hanging_up(at: int) -> Iterator[tuple[str, Asked]]:
    """Yield the URL of a service and what it was asked; it hangs up without an answer at this request, from 0."""
    asked: Asked = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append((self.command, self.headers["Idempotency-Key"]))
            if len(asked) == at + 1:
                self.close_connection = True
                return
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_request_is_sent_again_with_the_same_key_when_a_kept_connection_closes() -> None:
    with hanging_up(at=1) as (url, asked), Api(url, "ref_token") as api:
        api.get("/games")
        api.post("/bots", {"name": "Ada"})

    (_, _), (first, key), (second, same_key) = asked
    assert (first, second) == ("POST", "POST")
    assert key == same_key
    assert key


def test_a_request_without_a_key_is_never_sent_twice() -> None:
    with hanging_up(at=1) as (url, asked), Api(url) as api:
        api.get("/games")
        with pytest.raises(ApiUnreachable, match="does not answer: Server disconnected"):
            api.post("/accounts", {"name": "Ada"})

    assert asked == [("GET", None), ("POST", None)]


def test_a_proxy_of_the_machine_sees_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    with hanging_up(at=9) as (url, asked), Api(url.replace("http://", "http://ada:secret@")) as api:
        api.get("/games")

    assert len(asked) == 1
    assert "secret" not in api.url
