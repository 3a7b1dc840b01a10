"""`referee admin audit --url`: ladders of a running service recomputed by anybody, honest ones and bent ones."""

import json
import re
import signal
import sqlite3
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import Result

from referee.bots import house_bots
from referee.cli import progress
from referee.cli import public_audit as auditing
from referee.ladders import ratings
from referee.match.canonical import Json
from referee.match.signing_keys import SigningKey
from tests.api.in_thread import api_in_thread
from tests.cli.answering import Answer, Call, answering
from tests.cli.running import says
from tests.database.world import manifest_of
from tests.surroundings import MASTER_KEY

RESULTS = 8  # of the first ladder, the void one included


@dataclass
class Hall:
    """A service with two ladders: one with voids, an anchor and odd versions, and a small one."""

    folder: Path
    url: str
    ladder: str
    name: str
    other: str

    def audit(self, *arguments: str, status: int = 0, url: str = "") -> Result:
        return says({}, "admin", "audit", "--url", url or self.url, *arguments, status=status)

    @contextmanager
    def bent(self, table: str, statement: str) -> Iterator[None]:
        """Change a table while the block runs, past everything of the service."""
        connection = sqlite3.connect(self.folder / "referee.db", timeout=30)
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
        with connection:
            assert connection.execute(statement).rowcount > 0
        try:
            yield
        finally:
            with connection:
                connection.execute(f"DELETE FROM {table}")
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
            connection.close()


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("audited")
    with api_in_thread(folder, rate_limits=False) as (url, world):
        bots = [world.bot(manifest=manifest_of(version)) for version in ("1.0", "=1+1", "'x")]
        house = world.write(house_bots.get_or_create_house_bot, "sound").id
        played = [world.play([bots[n % 3], bots[(n + 1) % 3]], choice=n % 2) for n in range(6)]
        world.void(played[1].match_id, "wrong")
        world.play([bots[0], house])
        world.play([bots[2], bots[0]])
        other = world.play(bots)
        name = world.read(ratings.get_ladder, str(played[0].ladder_id)).name
        yield Hall(folder, url, str(played[0].ladder_id), name, str(other.ladder_id))


def test_honest_ladders_hold_and_one_is_chosen_by_name_or_id(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    whole = hall.audit()
    chain, *ladders = whole.stdout.splitlines()
    by_name, by_id = (json.loads(hall.audit("--json", "--ladder", text).stdout) for text in (hall.name, hall.ladder))

    assert f"{hall.name}: {RESULTS + 1} ledger entries, {RESULTS} logs verified: no differences" in ladders
    assert len(ladders) == 2
    assert chain.startswith(f"chain of signatures: {RESULTS + 1} entries, head ")
    assert chain.endswith(" (keys of the service itself; pass --key to check them): no differences")
    assert by_name == by_id
    assert f"chain of signatures: {RESULTS + 1} of {RESULTS + 1} entries" in whole.stderr.splitlines()
    assert f"{hall.name}: 3 of {RESULTS} logs" in whole.stderr.splitlines()
    (report,) = by_id["ladders"]
    assert by_id["holds"]
    assert (report["ladder"], report["results"], report["verified"]) == (hall.ladder, RESULTS, RESULTS)


BENT = [
    ("ratings", "UPDATE ratings SET value = value + 1 WHERE games > 0", "rating lad_"),
    ("rating_changes", "UPDATE rating_changes SET after = after + 1 WHERE seq = 3", "change entry 3"),
    ("rating_changes", "UPDATE rating_changes SET balance = balance - 1 WHERE balance != 0", "change entry 8"),
    ("rating_changes", "DELETE FROM rating_changes WHERE seq = 4", "expected {'ladder_id'"),
    ("ledger_entries", "DELETE FROM ledger_entries WHERE seq = 5", "change entry 6"),
    ("results", "UPDATE results SET placements = '[2, 1]' WHERE placements = '[1, 2]'", "result mat_"),
    ("results", """UPDATE results SET versions = '["3", "3"]' WHERE seq = 4""", "result mat_"),
    ("match_logs", "UPDATE match_logs SET gzip_log = (SELECT max(gzip_log) FROM match_logs)", "log"),
    ("ladders", """UPDATE ladders SET options = '{"rounds": 9}' WHERE seats = 2""", "match mat_"),
]


def test_a_bent_ladder_is_found_out(hall: Hall) -> None:
    for table, statement, found in BENT:
        with hall.bent(table, statement):
            told = hall.audit("--ladder", hall.ladder, status=1).stdout
        assert found in told, statement
        assert re.search(r": [1-9]\d* differences$", told.splitlines()[-1]), statement


def test_logs_that_the_service_no_longer_keeps_are_counted_apart(hall: Hall) -> None:
    with hall.bent("match_logs", "UPDATE match_logs SET gzip_log = x'', reveal_line = NULL WHERE rowid <= 2"):
        told = hall.audit("--ladder", hall.ladder).stdout
        (report,) = json.loads(hall.audit("--json", "--ladder", hall.ladder).stdout)["ladders"]

    assert f"{RESULTS - 2} logs verified, 2 signed, not replayable: no differences" in told
    assert (report["verified"], report["deleted"], report["count"]) == (RESULTS - 2, 2, 0)


def test_an_audit_continues_where_it_stopped(hall: Hall, tmp_path: Path) -> None:
    file = tmp_path / "verified"
    with hall.bent("results", "UPDATE results SET returns = '[77, -77]' WHERE seq = 3"):
        first = json.loads(hall.audit("--json", "--ladder", hall.ladder, "--resume", str(file), status=1).stdout)

    second = json.loads(hall.audit("--json", "--ladder", hall.ladder, "--resume", str(file)).stdout)
    third = hall.audit("--ladder", hall.ladder, "--resume", str(file)).stdout

    assert (first["ladders"][0]["verified"], first["ladders"][0]["skipped"]) == (RESULTS - 1, 0)
    assert (second["ladders"][0]["verified"], second["ladders"][0]["skipped"]) == (1, RESULTS - 1)
    assert f"0 logs verified, {RESULTS} earlier: no differences" in third


# -- signatures --

FOREIGN = SigningKey.derive(b"f" * 32).public.text
BENT_CHAIN = [  # the first difference names it
    ("DELETE FROM signed_logs WHERE number = 3", "chain all: stored no chain (entry 4 of the stored chain"),
    ("DELETE FROM signed_logs WHERE number = 9", "signature mat_"),
]


def test_F14_a_bent_chain_is_found_out(hall: Hall) -> None:
    for statement, found in BENT_CHAIN:
        with hall.bent("signed_logs", statement):
            assert found in hall.audit(status=1).stdout


def rewritten(change: Callable[[Json], object]) -> Callable[[str, bytes], tuple[bytes, int]]:
    """Return a function that changes the third entry of the chain on its way."""

    def change_page(path: str, body: bytes) -> tuple[bytes, int]:
        if "/chain?" in path:
            page = json.loads(body)
            change(page)
            body = json.dumps(page).encode()
        return body, len(body)

    return change_page


def shortened(ending: str, lines: int) -> Callable[[str, bytes], tuple[bytes, int]]:
    """Return a function that keeps the first lines of files with this ending, or all but the last if negative."""

    def shorten(path: str, body: bytes) -> tuple[bytes, int]:
        short = b"".join(body.splitlines(keepends=True)[:lines]) if path.endswith(ending) else body
        return short, len(short)

    return shorten


LIES: list[tuple[Callable[[Json], object], str]] = [  # of a service that says that all is well
    (lambda page: page["items"].pop(2), "chain entry 4: stored entry 3 is missing before it"),
    (lambda page: page["items"][2].update(log="d" * 64), "the digest that the service states"),
    (lambda page: page["items"].insert(2, page["items"][1]), "chain entry 2"),
    (lambda page: page["items"].__setitem__(2, None), "chain entry 3"),
    (
        lambda page: page.update(items=[item for item in page["items"] if item["number"] < 5], next=None),
        "its signature is not entry 5 of the chain",
    ),
]


def test_F14_a_service_that_shows_another_chain_is_found_out(hall: Hall) -> None:
    for change, found in LIES:
        with between(hall.url, rewritten(change)) as url:
            assert found in hall.audit("--ladder", hall.ladder, url=url, status=1).stdout


def test_F14_signatures_are_checked_with_a_key_that_one_has(hall: Hall) -> None:
    own = SigningKey.derive(MASTER_KEY).public.text

    told = hall.audit("--key", own).stdout
    foreign = hall.audit("--key", FOREIGN, status=1).stdout

    assert "(keys given): no differences" in told
    assert "chain entry 1: stored it was made with key" in foreign


def test_F14_a_log_without_its_signature_is_found_out(hall: Hall) -> None:
    with between(hall.url, shortened("/log", -1)) as url:
        told = hall.audit("--ladder", hall.ladder, url=url, status=1).stdout

    assert told.count("stored no signature, expected the signature of an entry of the chain") == RESULTS


def test_F14_the_head_of_the_last_audit_must_stay_in_the_chain(hall: Hall, tmp_path: Path) -> None:
    file, key = tmp_path / "verified", ["--key", SigningKey.derive(MASTER_KEY).public.text]
    hall.audit("--resume", str(file), *key)
    noted = file.read_text()
    again = hall.audit("--resume", str(file), *key).stdout

    with hall.bent("signed_logs", "DELETE FROM signed_logs WHERE number = 9"):  # the end is cut off
        shorter = hall.audit("--resume", str(file), *key, status=1).stdout
    file.write_text(noted + f"head:{RESULTS + 1}:{'d' * 64}\n")  # what an earlier audit saw was another history
    rewritten = hall.audit("--resume", str(file), *key, status=1).stdout
    file.write_text("head:junk\n")
    damaged = hall.audit("--resume", str(file), *key, status=1).stderr

    assert noted.count(f"head:{RESULTS + 1}:") == 1
    assert f"chain of signatures: {RESULTS + 1} entries" in again
    assert f"chain entry {RESULTS + 1}: stored no such entry, expected digest" in shorter
    assert f"chain entry {RESULTS + 1}: stored entry {RESULTS + 1} with digest" in rewritten
    assert "damaged line with the head of the chain" in damaged


# -- what stops an audit --


def test_a_wrong_address_and_options_that_do_not_belong_together_are_named() -> None:
    for arguments, status, said in (
        (["--url", "http://127.0.0.1:1"], 3, "http://127.0.0.1:1"),
        (["--url", "nonsense://x"], 2, "nonsense://x"),
        (["--url", "http://x", "--repair"], 2, "--url"),
        (["--url", "http://x", "--data", "."], 2, "--url"),
        (["--ladder", "x"], 2, "--url"),
    ):
        assert said in says({"REFEREE_URL": None}, "admin", "audit", *arguments, status=status).stderr


@contextmanager
def between(url: str, change: Callable[[str, bytes], tuple[bytes, int]]) -> Iterator[str]:
    """Serve the answers of a service after ``change``, which returns a body and the length that is announced."""

    def answer(call: Call) -> Answer:
        with urllib.request.urlopen(url + call.path) as given:  # the service of this test
            body, length = change(call.path, given.read())
        return 200, {"Content-Length": str(length)}, body

    with answering(answer) as changed:
        yield changed


def test_ctrl_c_ends_an_audit_with_what_it_found(hall: Hall) -> None:
    logs: list[str] = []

    def interrupt(path: str, body: bytes) -> tuple[bytes, int]:
        if path.endswith("/log"):
            logs.append(path)
            if len(logs) % 3 == 0:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        return body, len(body)

    with between(hall.url, interrupt) as url:
        told = hall.audit(url=url, status=130).stdout
        in_json = json.loads(hall.audit("--json", url=url, status=130).stdout)

    partial, chain, *ladders = told.splitlines()
    assert partial == "PARTIAL: Ctrl-C ended the audit; this is what it had found."
    assert chain.endswith(": no differences")
    assert ladders == [
        f"{hall.name}: {RESULTS + 1} ledger entries, 2 logs verified of {RESULTS} results: no differences so far"
    ]
    (report,) = in_json["ladders"]
    assert (in_json["holds"], in_json["interrupted"], report["is_complete"]) == (False, True, False)
    assert (report["verified"], report["results"]) == (2, RESULTS)


def test_a_download_that_breaks_off_is_no_difference(hall: Hall) -> None:
    def half(path: str, body: bytes) -> tuple[bytes, int]:
        return (body[: len(body) // 2] if path.endswith(".csv") else body), len(body)

    with between(hall.url, half) as url:
        told = hall.audit("--ladder", hall.ladder, url=url, status=3)

    assert "before the end of its answer" in told.stderr


def test_a_ledger_that_lacks_its_end_is_refused(hall: Hall) -> None:
    for lines in (-2, -1):
        with between(hall.url, shortened(".csv", lines)) as url:
            told = hall.audit("--ladder", hall.ladder, url=url, status=1)
        assert "ends at entry" in told.stderr or "difference" in told.stdout


def test_a_log_that_breaks_off_is_fetched_again(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "PAUSE_S", 0.0)
    broken: set[str] = set()

    def once(path: str, body: bytes) -> tuple[bytes, int]:
        if not path.endswith("/log") or path in broken:
            return body, len(body)
        broken.add(path)
        return body[:100], len(body)

    with between(hall.url, once) as url:
        told = hall.audit("--ladder", hall.ladder, url=url).stdout

    assert f"{RESULTS} logs verified: no differences" in told
    assert len(broken) == RESULTS


def test_what_is_no_referee_and_an_unknown_ladder_are_named(hall: Hall) -> None:
    with between(hall.url, lambda path, body: (b"<html>", 6)) as url:
        told = hall.audit(url=url, status=3).stderr
    unknown = hall.audit("--ladder", "Whist", status=1).stderr

    assert "did not answer like a referee service" in told
    assert "Unknown ladder 'Whist'; available: " in unknown
    assert hall.name in unknown
