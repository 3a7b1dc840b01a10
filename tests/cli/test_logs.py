"""`referee verify` and `referee replay` on a log from `referee play`."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.cli import main
from referee.cli.narrate import narrate_match
from referee.match import log_bundle
from referee.match.canonical import Json, dumps
from referee.match.log import digest, parse_row
from tests import golden
from tests.cli.answering import answering
from tests.golden import RECORDED


def run(*arguments: str, stdin: bytes | None = None, status: int | None = None) -> Result:
    done = CliRunner().invoke(main, arguments, input=stdin)
    assert status in (None, done.exit_code), done.output
    return done


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "match.ndjson"
    run("play", "saint-poker", "house:3", "house:1", "--seed", "1", "--log", str(path))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "logs"


def verify(file: Path, content: bytes, *more: str, status: int = 1) -> list[str]:
    """Write the file and verify it. Return the lines that are printed, with FILE for its name."""
    file.write_bytes(content)
    checked = run("verify", str(file), *more, status=status)
    assert "\x1b" not in checked.stdout
    return checked.stdout.replace(str(file), "FILE").splitlines()


def test_a_good_log_holds_plain_packed_and_from_standard_input(log: Path, file: Path) -> None:
    content = log.read_bytes()

    (plain,) = verify(file, content, status=0)

    assert plain.startswith("ok      FILE: saint-poker (rules 1), ")
    assert "deals follow from the revealed seed" in plain
    assert verify(file, gzip.compress(content), status=0) == [plain]
    assert run("verify", "-", stdin=content, status=0).stdout == f"{plain.replace('FILE', '-')}\n"


def test_a_changed_byte_is_found_with_row_and_reason(log: Path, file: Path) -> None:
    (told,) = verify(file, log.read_bytes().replace(b'"ms":0', b'"ms":1', 1))

    assert told.startswith("FAILED  FILE: row 3: its link is not the hash of row 2")


def test_a_log_that_is_not_revealed_is_said_to_prove_no_deals(log: Path, file: Path) -> None:
    unproven = "NOT REVEALED yet: without the seed the deals are unproven; not signed"
    rows = log.read_bytes().splitlines()
    cancelled = [*rows[:20], remark("cancelled", parse_row(rows[0])["match"])]

    (sealed,), (cut,) = verify(file, b"\n".join(rows[:-1]), status=0), verify(file, b"\n".join(cancelled), status=0)

    assert sealed.endswith(f"; {unproven}")
    assert cut.endswith(f"all 20 rows are valid; {unproven}")


def test_of_several_files_each_is_judged(log: Path, file: Path) -> None:
    told = verify(file, log.read_bytes(), f"{file}-missing", "http://[::1/logs", "http://x:99999/logs", str(log))

    assert told[0].startswith("FAILED  FILE-missing cannot be read: No such file")
    for line, url in zip(told[1:3], ("http://[::1/logs", "http://x:99999/logs"), strict=True):
        assert line.startswith(f"FAILED  {url}: ")
        assert "is not the address of a service" in line
    assert told[3] == "2 of 5 logs are valid; 2 not signed"


def remark(kind: str, match: str = "mat_1") -> bytes:
    return dumps({"match": match, "reason": "why", "type": kind})


def test_a_file_of_many_logs_is_judged_log_by_log(log: Path, file: Path) -> None:
    rows = log.read_bytes().splitlines()
    match = parse_row(rows[0])["match"]
    closing = dumps({**parse_row(rows[-1]), "row": 20, "prev": digest(rows[19])})
    parts = [*rows, remark("void", match), *rows[:20], *rows, remark("damaged"), *rows[:20], closing]
    parts += [remark("cancelled", match), *rows[:9], rows[10], remark("cancelled", match), *rows, b"more"]

    said = [line.replace(" FILE, ", " ") for line in verify(file, b"\n".join(parts))]
    items = json.loads(run("verify", "--json", str(file), status=1).stdout)["items"]

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
    assert "contains several logs" in run("replay", str(file), status=1).output


def test_a_file_that_breaks_off_is_judged_up_to_there(log: Path, file: Path) -> None:
    failed, summary = verify(file, gzip.compress(log.read_bytes() * 2)[:-60], str(log))

    assert failed.startswith("FAILED  FILE cannot be unpacked completely: ")
    assert summary == "2 of 3 logs are valid; 2 not signed"


def test_a_file_without_a_log_does_not_hold(file: Path) -> None:
    (told,) = verify(file, b"")

    assert "row 0: the log is empty" in told
    assert run("replay", str(file)).exit_code == 1


def test_a_log_cannot_write_lines_of_its_own(log: Path, file: Path) -> None:
    rows = log.read_bytes().splitlines()
    header = {**parse_row(rows[0]), "match": "mat_1\nok      all.ndjson\x1b[2J"}

    told = verify(file, b"\n".join([dumps(header), *rows[1:], *rows]))

    assert [line[:6] for line in told] == ["FAILED", "1 of 2"]


def test_a_small_file_that_unpacks_to_very_many_lines_is_given_up(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_bundle, "LIMIT_BYTES", 1 << 20)

    told = verify(file, gzip.compress(b"\n" * (1 << 20)))

    assert told == ["FAILED  FILE contains a log of more than 1 MiB. No match is that long."]


def test_a_download_that_breaks_off_between_two_logs_is_noticed(log: Path) -> None:
    size = log.stat().st_size
    with answering(lambda _: (200, {"Content-Length": str(2 * size)}, log.read_bytes())) as url:
        told = run("verify", f"{url}/logs", status=1).stdout

    assert "\n1 of 2 logs are valid" in told
    assert f"FAILED  {url}/logs: {url} closed the connection before the end of its answer: peer" in told
    assert f"(received {size} bytes, expected {2 * size})\n" in told


def test_a_server_that_refuses_a_log_cannot_write_lines_of_its_own() -> None:
    with answering(lambda _: (404, {}, b"\x1b[2J\nok      all.ndjson: they hold")) as url:
        told = run("verify", url, status=1).stdout

    assert told.count("\n") == 1
    assert "\x1b" not in told


def test_a_match_is_told_to_its_result(log: Path) -> None:
    told = run("replay", str(log)).stdout

    assert told.startswith("saint-poker, match mat_")
    assert "  seat 1: house:3\n  seat 2: house:1\n" in told
    assert "Round 8" in told
    assert "\nResult\n  1. " in told


def test_what_is_no_log_is_said_to_be_none(file: Path, tmp_path: Path) -> None:
    file.write_text('{"a": 1}\n')

    assert "is not a match log" in run("replay", str(file), status=1).output
    refused = run("replay", str(file), "--html", str(tmp_path / "replay.html"), status=1)
    assert "not the header of a match log" in refused.output


def test_a_match_becomes_a_page_that_opens_from_disk(log: Path, file: Path, tmp_path: Path) -> None:
    page = tmp_path / "replay.html"
    file.write_bytes(log.read_bytes().replace(b'"ms":0', b'"ms":7', 1))

    written = run("replay", str(log), "--html", str(page), status=0).stdout
    text = page.read_text()
    changed = run("replay", str(file), "--html", str(page), status=0).stdout

    assert f"{page}: " in written
    assert text.startswith("<!doctype html>")
    assert "without the questions, because row" in changed


def test_an_event_without_a_sentence_is_shown_by_its_members() -> None:
    rows: list[Json] = [
        {"type": "header", "game": "new-game", "match": "mat_1", "rules_version": 1, "players": [{"name": "Ada"}]},
        {"type": "chance", "events": [{"event": "big_draw", "seat": 0, "cards": ["Th", "2c"], "pot": None}]},
    ]

    assert list(narrate_match(rows))[-1] == "  big draw: seat Ada, cards [Th 2c], pot -"


def test_golden_matches_are_told_in_sentences_throughout() -> None:
    for name in RECORDED:
        rows = [parse_row(line) for line in golden.path(name).read_bytes().splitlines()]
        kinds = {event["event"].replace("_", " ") for row in rows for event in row.get("events", [])}

        # An event without a sentence would be shown as its name and its members.
        assert not [line for line in narrate_match(rows) if line.strip().partition(":")[0] in kinds], name


def test_games_are_listed_with_their_options() -> None:
    listed = run("games").stdout

    assert "saint-poker  2 to 5 seats" in listed
    assert "    final_pickup=true  true, false: " in listed
    assert "    vote=  any of forced_bid, showing, ties, separated by commas: " in listed
