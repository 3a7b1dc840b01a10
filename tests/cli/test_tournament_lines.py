"""Test `referee tournament` with a service that breaks off, is busy or has no stream: one on loopback with a script."""

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli import main
from referee.cli.service.api_client import Api, ApiRefusal
from referee.cli.service.log_download import DownloadReport
from referee.cli.service.stream import StreamMessage, follow_tournament
from referee.match.canonical import Json
from referee.match.log_bundle import StoredLog
from tests import golden

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


def log(match: str, *, rows: int = 3, remark: str = "") -> bytes:
    """A log as a service sends it: two gzip members, and one that says why it does not count."""
    lines = [{"row": row, "type": "header" if row == 0 else "play", "match": match} for row in range(rows)]
    body = gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines), mtime=0)
    reveal = gzip.compress(json.dumps({"row": rows, "type": "reveal"}).encode() + b"\n", mtime=0)
    return body + reveal + (note(match, remark) if remark else b"")


def note(match: str, remark: str) -> bytes:
    return gzip.compress(json.dumps({"match": match, "reason": "it rained", "type": remark}).encode() + b"\n", mtime=0)


def test_what_there_is_of_a_cancelled_match_must_hold(tmp_path: Path) -> None:
    lines = golden.path("pool-nap-3").read_bytes().splitlines()
    account = DownloadReport(tmp_path, verifies=True)

    account.add(StoredLog("mat_1", lines[:50], remark="cancelled"))
    account.add(StoredLog("mat_2", [*lines[:20], *lines[21:50]], remark="cancelled"))

    assert (account.verified, account.broken_off) == (0, 1)
    assert [(one["match"], one["row"]) for one in account.failed] == [("mat_2", 20)]


def test_a_log_without_its_seed_does_not_hold_as_only_open_logs_are_served(tmp_path: Path) -> None:
    lines = golden.path("pool-nap-3").read_bytes().splitlines()
    account = DownloadReport(tmp_path, verifies=True)

    account.add(StoredLog("mat_1", lines, end=9))
    account.add(StoredLog("mat_2", lines[:-1]))

    assert account.verified == 1
    assert account.failed == [{"match": "mat_2", "row": len(lines) - 1, "reason": "the reveal row is missing"}]


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


@pytest.mark.parametrize("refusal", [problem(503, "unavailable"), problem(404, "not_found")])
def test_without_a_place_in_the_stream_it_is_asked_how_the_event_stands(refusal: Answer) -> None:
    path = f"/api/v1/tournaments/{EVENT}"
    answers = {
        f"{path}/stream": [refusal],
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


def test_a_download_is_taken_up_after_the_last_whole_log(tmp_path: Path) -> None:
    path = f"/api/v1/tournaments/{EVENT}"
    logs = [log("mat_1"), log("mat_2", remark="void"), log("mat_3")]
    answers = {
        path: [body(FINISHED)],
        f"{path}/logs": [(200, b"".join(logs)[:-30] + CUT)],
        f"{path}/logs?after=mat_2": [problem(503, "unavailable"), (200, logs[2])],
    }
    with scripted(answers) as (url, asked):
        said = CliRunner().invoke(main, ["tournament", "logs", EVENT, "--out", str(tmp_path), "--url", url, "--json"])

    document = json.loads(said.stdout)
    assert (said.exit_code, document["logs"]) == (0, 3)
    assert Path(document["file"]).read_bytes() == b"".join(logs)
    assert asked == [path, f"{path}/logs", *[f"{path}/logs?after=mat_2"] * 2]


def test_nobody_is_followed_to_another_address() -> None:
    with scripted({"/api/v1/tournaments?limit=50": [(301, b"")]}) as (url, _):
        said = CliRunner().invoke(main, ["tournament", "list", "--url", url])

    assert (said.exit_code, "redirected (301); use the final URL" in said.stderr) == (3, True)
