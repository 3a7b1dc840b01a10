"""Test `referee tournament` with a service that breaks off or is busy: one on loopback with a script."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

from referee.cli import main
from referee.cli.service.api_client import Api, ApiRefusal
from referee.cli.service.stream import StreamMessage, follow_tournament
from referee.match.canonical import Json

EVENT = "trn_" + "0" * 26
PROGRESS = {
    "done": 1,
    "total": 1,
    "by_status": {"finished": 1},
    "tournament_round": 1,
    "rounds": 1,
    "estimated_end": None,
}
FINISHED = {"id": EVENT, "name": "Cup", "status": "finished", "status_reason": None, "progress": PROGRESS}
CUT = b"cut here"

Answer = tuple[int, bytes]


@contextmanager
def scripted(answers: dict[str, list[Answer]]) -> Iterator[tuple[str, list[str]]]:
    """A service that gives these answers by path, one after the other and the last again and again; its URL, and what
    it was asked. A body that ends with ``CUT`` is broken off there."""
    asked: list[str] = []

    class Script(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(self.path)
            left = answers[self.path]
            status, body = left.pop(0) if len(left) > 1 else left[0]
            broken = body.endswith(CUT)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) + broken))
            self.end_headers()
            self.wfile.write(body.removesuffix(CUT))
            self.close_connection = broken

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def problem(status: int, code: str) -> Answer:
    return status, json.dumps({"status": status, "code": code, "detail": "No."}).encode()


def body(document: Json) -> Answer:
    return 200, json.dumps(document).encode()


def test_without_a_place_in_the_stream_it_is_asked_how_the_event_stands() -> None:
    path = f"/api/v1/tournaments/{EVENT}"
    answers = {
        f"{path}/stream": [problem(503, "unavailable")],
        path: [problem(429, "rate_limited"), body(FINISHED)],
        f"{path}/standings?limit=50": [body({"items": []})],
    }
    notes: list[str] = []
    with scripted(answers) as (url, _), Api(url) as api:
        told = list(follow_tournament(api, EVENT, notes.append))

    how = {"status": "finished", "reason": None}
    assert told == [
        StreamMessage("", "progress", how | PROGRESS),
        StreamMessage("", "standings", {"items": []}),
        StreamMessage("", "end", how),
    ]
    assert notes == ["the service refused the request (429 rate_limited): No."]


def test_a_stream_is_taken_up_after_its_last_message_and_a_refusal_ends_it() -> None:
    path = f"/api/v1/tournaments/{EVENT}/stream"
    first = b'event: match\nid: 7\ndata: {"id": "mat_1"}\n\nevent: match\nid: 8\ndata: {"i'
    with scripted({path: [(200, first + CUT), problem(403, "forbidden")]}) as (url, asked), Api(url) as api:
        following = follow_tournament(api, EVENT, lambda _: None)
        told = next(following)
        with pytest.raises(ApiRefusal):
            next(following)

    assert told == StreamMessage("7", "match", {"id": "mat_1"})
    assert len(asked) == 2


def test_nobody_is_followed_to_another_address() -> None:
    with scripted({"/api/v1/tournaments?limit=50": [(301, b"")]}) as (url, _):
        said = CliRunner().invoke(main, ["tournament", "list", "--url", url])

    assert (said.exit_code, "redirected (301); use the final URL" in said.stderr) == (3, True)
