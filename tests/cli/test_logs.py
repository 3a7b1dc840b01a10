"""`referee verify` and `referee replay` on a log from `referee play`."""

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.cli import main
from referee.cli.narrate import narrate_match
from referee.match import log_bundle
from referee.match.canonical import Json, dumps
from referee.match.log import digest, parse_row
from tests import golden
from tests.golden import RECORDED


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=stdin)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "match.ndjson"
    run("play", "saint-poker", "house:3", "house:1", "--seed", "1", "--log", str(path))
    return path


def test_a_good_log_is_said_to_hold(log: Path) -> None:
    checked = run("verify", str(log))

    assert checked.exit_code == 0
    assert checked.stdout.startswith(f"ok      {log}: saint-poker (rules 1), ")
    assert "deals follow from the revealed seed" in checked.stdout


def test_packed_logs_and_standard_input_are_read(log: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(log.read_bytes()))

    assert run("verify", str(packed)).exit_code == 0
    assert run("verify", "-", stdin=log.read_bytes()).exit_code == 0


def test_a_changed_byte_is_found_with_row_and_reason(log: Path, tmp_path: Path) -> None:
    forged = tmp_path / "forged.ndjson"
    forged.write_bytes(log.read_bytes().replace(b'"ms":0', b'"ms":1', 1))

    checked = run("verify", str(forged))

    assert checked.exit_code == 1
    assert checked.stdout.startswith(f"FAILED  {forged}: row 3: its link is not the hash of row 2")


def test_a_log_that_is_not_revealed_is_said_to_prove_no_deals(log: Path, tmp_path: Path) -> None:
    sealed = tmp_path / "sealed.ndjson"
    sealed.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))

    checked = run("verify", str(sealed))

    assert checked.exit_code == 0
    assert checked.stdout.endswith("; NOT REVEALED yet: without the seed the deals are unproven; not signed\n")


def test_of_several_logs_each_is_judged(log: Path, tmp_path: Path) -> None:
    checked = run("verify", str(log), str(tmp_path / "missing"), str(log))

    assert checked.exit_code == 1
    assert "missing cannot be read: No such file" in checked.stdout
    assert "2 of 3 logs are valid" in checked.stdout


def remark(kind: str, match: str = "mat_1") -> bytes:
    return dumps({"match": match, "reason": "why", "type": kind})


def test_a_file_of_many_logs_is_judged_log_by_log(log: Path, tmp_path: Path) -> None:
    rows = log.read_bytes().splitlines()
    match = parse_row(rows[0])["match"]
    closing = dumps({**parse_row(rows[-1]), "row": 20, "prev": digest(rows[19])})
    several = tmp_path / "several.ndjson"
    parts = [*rows, remark("void", match), *rows[:20], *rows, remark("damaged"), *rows[:20], closing]
    parts += [remark("cancelled", match), *rows[:9], rows[10], remark("cancelled", match), *rows, b"more"]
    several.write_bytes(b"\n".join(parts))

    checked, listed = run("verify", str(several)), run("verify", "--json", str(several))

    said = [line.replace(f" {several}, ", " ") for line in checked.stdout.splitlines()]
    items = json.loads(listed.stdout)["items"]
    assert (checked.exit_code, listed.exit_code) == (1, 1)
    assert [(item["match"], item["valid"]) for item in items] == [
        *[(match, True), (match, False), (match, True), ("mat_1", False)],
        *[(match, True), (match, False), (match, True), (None, False)],
    ]
    assert "cancelled before its end; all 21 rows are valid; deals follow" in items[4]["finding"]
    assert [line.split(":")[0].split()[1] for line in said[:-1]] == [match, "mat_1", match, "a"]  # only what fails
    assert "row 20: the log ends before the match is over" in said[0]
    assert said[1].endswith("there is no log (damaged)")
    assert "row 9: expected a row numbered 9" in said[2]
    assert said[-1] == ("4 of 8 logs are valid; 1 of matches that do not count; 4 not signed; 1 of cancelled matches")


def test_a_file_that_breaks_off_is_judged_up_to_there(log: Path, tmp_path: Path) -> None:
    several = tmp_path / "several.gz"
    several.write_bytes(gzip.compress(log.read_bytes() * 2)[:-60])

    checked = run("verify", str(several), str(log))

    assert checked.exit_code == 1
    failed, summary = checked.stdout.splitlines()
    assert failed.startswith(f"FAILED  {several} cannot be unpacked completely: ")
    assert summary == "2 of 3 logs are valid; 2 not signed"


def test_a_file_without_a_log_does_not_hold(tmp_path: Path) -> None:
    empty = tmp_path / "empty.ndjson"
    empty.touch()

    checked = run("verify", str(empty))

    assert checked.exit_code == 1
    assert checked.stdout.count("row 0: the log is empty") == 1
    assert run("replay", str(empty)).exit_code == 1


def test_a_log_cannot_write_lines_of_its_own(log: Path, tmp_path: Path) -> None:
    rows = log.read_bytes().splitlines()
    false = tmp_path / "false.ndjson"
    header = {**parse_row(rows[0]), "match": "mat_1\nok      all.ndjson\x1b[2J"}
    false.write_bytes(b"\n".join([dumps(header), *rows[1:], *rows]))

    checked = run("verify", str(false))

    assert [line[:6] for line in checked.stdout.splitlines()] == ["FAILED", "1 of 2"]
    assert "\x1b" not in checked.stdout


def test_a_small_file_that_unpacks_to_very_many_lines_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_bundle, "LIMIT_BYTES", 1 << 20)
    packed = tmp_path / "lines.gz"
    packed.write_bytes(gzip.compress(b"\n" * (1 << 20)))

    checked = run("verify", str(packed))

    assert checked.stdout == f"FAILED  {packed} contains a log of more than 1 MiB. No match is that long.\n"


def test_of_a_cancelled_match_it_is_said_that_its_deals_are_unproven(log: Path, tmp_path: Path) -> None:
    rows = log.read_bytes().splitlines()
    match, cut = parse_row(rows[0])["match"], tmp_path / "cut.ndjson"
    cut.write_bytes(b"\n".join([*rows[:20], remark("cancelled", match)]))

    checked = run("verify", str(cut))

    assert checked.exit_code == 0
    assert checked.stdout.endswith(
        "all 20 rows are valid; NOT REVEALED yet: without the seed the deals are unproven; not signed\n"
    )


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """The URL of a server that gives one caller this answer and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            caller, _ = listener.accept()
            with caller:
                caller.recv(65536)
                caller.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/logs"
        thread.join()


def test_a_download_that_breaks_off_between_two_logs_is_noticed(log: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (2 * log.stat().st_size)
    with answering(head + log.read_bytes()) as url:
        checked = run("verify", url)

    assert checked.exit_code == 1
    assert "\n1 of 2 logs are valid" in checked.stdout
    service = url.removesuffix("/logs")
    assert f"FAILED  {url}: {service} closed the connection before the end of its answer: peer" in checked.stdout
    assert f"(received {log.stat().st_size} bytes, expected {2 * log.stat().st_size})\n" in checked.stdout


def test_a_server_that_refuses_a_log_cannot_write_lines_of_its_own() -> None:
    refusal = b"\x1b[2J\nok      all.ndjson: they hold"
    with answering(b"HTTP/1.1 404 Not Found\r\nContent-Length: %d\r\n\r\n%b" % (len(refusal), refusal)) as url:
        checked = run("verify", url)

    assert (checked.exit_code, checked.stdout.count("\n")) == (1, 1)
    assert "\x1b" not in checked.stdout


@pytest.mark.parametrize("url", ["http://[::1/logs", "http://127.0.0.1:99999/logs"])
def test_an_address_that_is_none_is_said_to_be_none(log: Path, url: str) -> None:
    checked = run("verify", url, str(log))

    assert f"FAILED  {url}: " in checked.stdout
    assert "is not the address of a service" in checked.stdout
    assert "1 of 2 logs are valid" in checked.stdout


def test_a_command_for_one_log_says_so_of_a_file_of_several(log: Path, tmp_path: Path) -> None:
    several = tmp_path / "several.ndjson"
    several.write_bytes(log.read_bytes() * 2)

    refused = run("replay", str(several))

    assert refused.exit_code != 0
    assert "contains several logs" in refused.output


def test_a_match_is_told_to_its_result(log: Path) -> None:
    told = run("replay", str(log)).stdout

    assert told.startswith("saint-poker, match mat_")
    assert "  seat 1: house:3\n  seat 2: house:1\n" in told
    assert "Round 8" in told
    assert "\nResult\n  1. " in told


def test_what_is_no_log_is_said_to_be_none(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text('{"a": 1}\n')

    told = run("replay", str(other))

    assert told.exit_code == 1
    assert "is not a match log" in told.output


def test_a_match_becomes_a_page_that_opens_from_disk(log: Path, tmp_path: Path) -> None:
    page, other = tmp_path / "replay.html", tmp_path / "other"
    other.write_text('{"a": 1}\n')

    written = run("replay", str(log), "--html", str(page))
    refused = run("replay", str(other), "--html", str(page))

    assert written.exit_code == 0
    assert f"{page}: " in written.stdout
    assert page.read_text().startswith("<!doctype html>")
    assert refused.exit_code == 1
    assert "not the header of a match log" in refused.output


def test_a_log_that_was_changed_becomes_a_page_without_questions(log: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.ndjson"
    changed.write_bytes(log.read_bytes().replace(b'"ms":0', b'"ms":7', 1))

    written = run("replay", str(changed), "--html", str(tmp_path / "replay.html"))

    assert written.exit_code == 0
    assert "without the questions, because row" in written.stdout


def test_an_event_without_a_sentence_is_shown_by_its_members() -> None:
    rows: list[Json] = [
        {"type": "header", "game": "new-game", "match": "mat_1", "rules_version": 1, "players": [{"name": "Ada"}]},
        {"type": "chance", "events": [{"event": "big_draw", "seat": 0, "cards": ["Th", "2c"], "pot": None}]},
    ]

    assert list(narrate_match(rows))[-1] == "  big draw: seat Ada, cards [Th 2c], pot -"


@pytest.mark.parametrize("name", RECORDED)
def test_golden_matches_are_told_in_sentences_throughout(name: str) -> None:
    rows = [parse_row(line) for line in golden.path(name).read_bytes().splitlines()]
    kinds = {event["event"].replace("_", " ") for row in rows for event in row.get("events", [])}

    told = list(narrate_match(rows))

    # An event without a sentence would be shown as its name and its members.
    assert not [line for line in told if line.strip().partition(":")[0] in kinds]


def test_games_are_listed_with_their_options() -> None:
    listed = run("games").stdout

    assert "saint-poker  2 to 5 seats" in listed
    assert "    final_pickup=true  true, false: " in listed
    assert "    vote=  any of forced_bid, showing, ties, separated by commas: " in listed
