"""`referee logs` against a running service, downloads that are cut off, and what is verified."""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.bots import house_bots
from referee.cli import main
from referee.ladders import ratings
from referee.match.log_bundle import StoredLog, split_logs
from referee_extras.log_downloads import download
from referee_extras.log_downloads.download import DownloadReport
from tests import golden
from tests.api.in_thread import api_in_thread
from tests.cli.answering import Answer, Call, answering
from tests.cli.running import says

ROOT = Path(__file__).parents[3]


@dataclass
class Hall:
    """A service with a rated match and an unrated one."""

    url: str
    rated: str
    unrated: str
    ladder: str
    bots: list[str]

    def says(self, *arguments: str, status: int = 0) -> Result:
        return says({}, *arguments, "--url", self.url, status=status)


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    with api_in_thread(tmp_path_factory.mktemp("matches")) as (url, world):
        bots = world.bots(2)
        with world.database.write() as session:
            house = house_bots.get_or_create_house_bot(session, "sound").id
        played = world.play([bots[0], house])
        ladder = str(played.ladder_id)
        unrated = world.play(bots, rated=False).match_id
        with world.database.read() as session:
            name = ratings.get_ladder(session, ladder).name
        yield Hall(url, played.match_id, unrated, f"{name} ({ladder})", bots)


def test_the_logs_of_a_bot_a_ladder_and_a_span_are_downloaded_and_verified(hall: Hall, tmp_path: Path) -> None:
    bot, ladder = hall.bots[1], hall.ladder.rpartition("(")[2].rstrip(")")

    file = tmp_path / "logs.ndjson.gz"

    def matches(*selection: str) -> set[str]:
        file.unlink(missing_ok=True)
        told = json.loads(hall.says("logs", *selection, "--out", str(file), "--verify", "--json").stdout)
        found = list(split_logs([file.read_bytes()], "")) if told["logs"] else []
        assert (told["verified"], told["failed"], told["deleted"]) == (len(found), [], 0)
        return {log.match for log in found}

    assert matches("--bot", bot) == {hall.unrated}
    assert matches("--ladder", ladder) == matches("--ladder", hall.ladder.rpartition(" (")[0]) == {hall.rated}
    assert matches("--since", "2020-01-01") == {hall.rated, hall.unrated}
    assert matches("--since", "2020-01-01", "--before", "2020-01-02") == set()
    assert matches("--bot", hall.bots[0], "--since", "2020-01-01T00:00:00Z") == {hall.rated, hall.unrated}

    whole, again = file.read_bytes(), ("logs", "--since", "2020-01-01", "--out", str(file))
    file.write_bytes(whole[: len(whole) * 2 // 3])
    hall.says(*again)
    assert file.read_bytes() == whole  # a download continues where it broke off
    file.write_bytes(b"something else")
    assert "not a gzip file of logs" in hall.says(*again, status=1).stderr
    assert file.read_bytes() == b"something else"


def test_all_that_is_public_of_a_ladder_is_downloaded_by_one_command(hall: Hall, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "ladder"
    name = hall.ladder.rpartition(" (")[0]

    hall.says("logs", "--ladder", name, "--complete", "--out", str(folder))

    (log,) = folder.glob("*.ndjson.gz")
    assert {file.name for file in folder.iterdir()} == {log.name, "results.csv", "keys.json"}
    verified = CliRunner().invoke(main, ["verify", "--key", str(folder / "keys.json"), str(log)])
    assert "; signed (entry" in verified.stdout
    refolded = [sys.executable, str(ROOT / "docs/refold.py"), str(folder / "results.csv")]
    assert "follow" in subprocess.run(refolded, capture_output=True, text=True, check=True).stdout
    assert "--complete needs --ladder" in hall.says("logs", "--bot", "a", "--complete", status=2).stderr


def test_a_wrong_selection_of_logs_is_refused(hall: Hall, tmp_path: Path) -> None:
    out = "--out", str(tmp_path / "logs.ndjson.gz")

    assert "Pass --bot, --ladder or --since" in hall.says("logs", *out, status=2).stderr
    assert "not both" in hall.says("logs", "--bot", "a", "--ladder", "b", *out, status=2).stderr
    assert "--since: Must be a date" in hall.says("logs", "--since", "yesterday", *out, status=1).stderr
    assert "Unknown bot" in hall.says("logs", "--bot", "nobody of this name", *out, status=1).stderr


def log(match: str, *, rows: int = 3, remark: str = "") -> bytes:
    """A log as a service sends it: two gzip members, and one that says why it does not count."""
    lines = [{"row": row, "type": "header" if row == 0 else "play", "match": match} for row in range(rows)]
    body = gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines), mtime=0)
    reveal = gzip.compress(json.dumps({"row": rows, "type": "reveal"}).encode() + b"\n", mtime=0)
    note = json.dumps({"match": match, "reason": "it rained", "type": remark}).encode() + b"\n"
    return body + reveal + (gzip.compress(note, mtime=0) if remark else b"")


def test_a_log_must_be_whole_unless_its_match_was_cancelled(tmp_path: Path) -> None:
    lines = golden.path("pool-nap-3").read_bytes().splitlines()
    account = DownloadReport(tmp_path, verifies=True)

    account.add(StoredLog("mat_1", lines, end=9))
    account.add(StoredLog("mat_2", lines[:50], remark="cancelled"))
    account.add(StoredLog("mat_3", [*lines[:20], *lines[21:50]], remark="cancelled"))
    account.add(StoredLog("mat_4", lines[:-1]))

    assert (account.verified, account.broken_off) == (1, 1)
    assert [(one["match"], one["row"]) for one in account.failed] == [("mat_3", 20), ("mat_4", len(lines) - 1)]
    assert account.failed[1]["reason"] == "the reveal row is missing"


def test_a_download_is_taken_up_after_the_last_whole_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[tuple[int, int | None, str]] = []
    monkeypatch.setattr(download, "progress_bar", lambda _: nullcontext(lambda *step: steps.append(step)))
    event = f"trn_{'0' * 26}"
    path = f"/api/v1/tournaments/{event}"
    logs = [log("mat_1"), log("mat_2", remark="void"), log("mat_3")]
    cut = b"".join(logs)[:-30]
    answers = [
        (200, {}, json.dumps({"id": event, "name": "Cup", "status": "finished"}).encode()),
        (200, {"Content-Length": str(len(cut) + 1), "Referee-Logs": "3"}, cut),
        (503, {}, b"{}"),
        (200, {"Referee-Logs": "1"}, logs[2]),
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
    assert steps == [(1, 3, "logs"), (2, 3, "logs"), (3, 3, "logs")]
    assert asked == [path, f"{path}/logs", *[f"{path}/logs?after=mat_2"] * 2]
