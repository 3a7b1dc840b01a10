"""Downloads of logs that are cut off, and the verification of what was downloaded."""

import gzip
import json
from pathlib import Path

from click.testing import CliRunner

from referee.cli import main
from referee.match.log_bundle import StoredLog
from referee_extras.log_downloads.download import DownloadReport
from tests import golden
from tests.cli.answering import Answer, Call, answering


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


def test_a_download_is_taken_up_after_the_last_whole_log(tmp_path: Path) -> None:
    event = f"trn_{'0' * 26}"
    path = f"/api/v1/tournaments/{event}"
    logs = [log("mat_1"), log("mat_2", remark="void"), log("mat_3")]
    cut = b"".join(logs)[:-30]
    answers = [
        (200, {}, json.dumps({"id": event, "name": "Cup", "status": "finished"}).encode()),
        (200, {"Content-Length": str(len(cut) + 1)}, cut),
        (503, {}, b"{}"),
        (200, {}, logs[2]),
    ]
    asked: list[str] = []

    def answer(call: Call) -> Answer:
        asked.append(call.path)
        return answers[len(asked) - 1]

    with answering(answer) as url:
        said = CliRunner().invoke(main, ["tournament", "logs", event, "--out", str(tmp_path), "--url", url, "--json"])

    document = json.loads(said.stdout)
    assert (said.exit_code, document["logs"]) == (0, 3)
    assert Path(document["file"]).read_bytes() == b"".join(logs)
    assert asked == [path, f"{path}/logs", *[f"{path}/logs?after=mat_2"] * 2]
