"""`referee play`: matches without a server, between house players and real bots."""

import base64
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.cli import main
from referee.match.canonical import Json
from referee.match.log import parse_row
from referee.match.verification import verify
from tests.botclient.odd import house, served
from tests.cli.running import says


def play(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["play", *arguments])


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands in a folder of the test, so that what they write does not end up in the project."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def bots() -> Iterator[list[str]]:
    """The URLs of two real bots."""
    with served(house("sound")) as sound, served(house("first")) as first:
        yield [sound, first]


def test_house_players_play_and_the_result_is_shown() -> None:
    played = play("saint-poker", "house:3", "house:1", "house:first", "--seed", "1")

    assert played.exit_code == 0
    assert played.output.startswith("saint-poker, seed 1\nplace  player       score  faults\n    1  ")


@pytest.mark.parametrize("game", ["saint-poker", "pool-nap"])
def test_a_log_holds_and_the_same_seed_writes_it_again(tmp_path: Path, game: str) -> None:
    logs = [tmp_path / "one.ndjson", tmp_path / "two.ndjson"]

    for log in logs:
        assert play(game, "house:3", "house:1", "--seed", "7", "--log", str(log), "--quiet").output == ""

    report = verify(logs[0].read_bytes().splitlines())
    assert report.ok, report.reason
    assert report.revealed
    assert logs[0].read_bytes() == logs[1].read_bytes()
    play(game, "house:3", "house:1", "--seed", "8", "--log", str(logs[1]))
    assert logs[0].read_bytes().splitlines()[1] != logs[1].read_bytes().splitlines()[1]  # other cards


def test_pages_of_matches_are_written(tmp_path: Path) -> None:
    page = tmp_path / "first.html"

    one = play("saint-poker", "house:first", "house:1", "--html", str(page))
    two = play("saint-poker", "house:first", "house:1", "--html", str(page), "--matches", "2", "--json")

    assert f"\npage: {page}\n" in one.output
    assert page.read_text().startswith("<!doctype html>")
    assert [Path(json.loads(line)["html"]).name for line in two.output.splitlines()] == [
        "first-001.html",
        "first-002.html",
    ]
    assert (tmp_path / "first-002.html").exists()


def test_several_matches_move_everybody_on_by_a_seat(tmp_path: Path) -> None:
    log = tmp_path / "series.ndjson.gz"

    played = play("saint-poker", "house:3", "house:1", "--matches", "2", "--json", "--log", str(log))

    one, other = map(json.loads, played.output.splitlines())
    into_a_folder = json.loads(play("saint-poker", "house:3", "house:1", "--json", "--log", str(tmp_path)).output)
    assert (tmp_path / f"{into_a_folder['match']}.ndjson").exists()
    assert one["players"] == ["house:3", "house:1"]
    assert other["players"] == ["house:1", "house:3"]
    assert [Path(match["log"]).name for match in (one, other)] == ["series-001.ndjson.gz", "series-002.ndjson.gz"]
    says({}, "verify", one["log"], other["log"])


def test_real_bots_play_by_their_url(bots: list[str], tmp_path: Path) -> None:
    log = tmp_path / "log.ndjson"

    played = play("saint-poker", *bots, "house:1", "--seed", "3", "--json", "--log", str(log))

    result = json.loads(played.output)
    assert result["players"] == [*bots, "house:1"]
    assert result["faults"] == [0, 0, 0]
    assert verify(log.read_bytes().splitlines()).ok


def test_a_single_match_is_written_whoever_plays_and_replaces_the_earlier_one(bots: list[str]) -> None:
    for quiet, said in ((), "log: replay.ndjson\npage: replay.html\n"), (("--quiet",), ""):
        Path("replay.ndjson").write_text("of an earlier match\n")
        played = play("saint-poker", *bots, "--seed", "3", *quiet)

        assert played.output.endswith(said)
        assert played.stderr == ""
        assert f"seat 1: {bots[0]}" in says({}, "replay", "replay.ndjson").output


def test_a_match_without_a_log_is_not_taken_for_an_earlier_one() -> None:
    command = ("saint-poker", "house:first", "house:1", "--option", "rounds=1")
    choices: list[tuple[str, ...]] = [("--matches", "2"), ("--html", "page.html"), ("--no-files",)]
    told = "No log was written. Pass --log FILE to keep one."

    assert [play(*command, *choice).stderr for choice in choices] == [f"{told}\n"] * 3
    play(*command)
    after = f"{told} replay.ndjson is that of an earlier match.\n"
    assert [play(*command, *choice).stderr for choice in choices] == [after] * 3
    assert play(*command, *choices[0], "--log", "kept.ndjson").stderr == ""


def test_bots_that_look_at_signatures_can_be_played_with_their_secret() -> None:
    secret = "whsec_" + base64.b64encode(bytes(32)).decode()
    with served(house("first", secret)) as url:
        table = ("saint-poker", url, "house:first", "--option", "rounds=1", "--json")

        signed, unsigned = play(*table, "--secret", secret), play(*table)

    assert json.loads(signed.output)["faults"] == [0, 0]
    assert json.loads(unsigned.stdout)["faults"][0] > 0


def test_a_bot_that_is_not_there_is_defaulted_and_retired(tmp_path: Path) -> None:
    log = tmp_path / "log.ndjson"

    with socket.create_server(("127.0.0.1", 0)) as closed_soon:
        port = closed_soon.getsockname()[1]

    played = play("saint-poker", f"http://127.0.0.1:{port}", "house:first", "--json", "--log", str(log))

    assert json.loads(played.stdout)["faults"] == [3, 0]
    rows = [parse_row(line) for line in log.read_bytes().splitlines()]
    assert {row["fault"] for row in rows if "fault" in row} == {"unreachable"}
    assert verify(log.read_bytes().splitlines()).ok


def test_options_are_read_by_their_type() -> None:
    cases: list[tuple[str, str, Json]] = [
        ("saint-poker", "--option=final_pickup=no", {"rounds": 2, "final_pickup": False}),
        ("prince-albert", "--option=vote=ties,showing", {"vote": ["showing", "ties"]}),
        ("prince-albert", "--option=vote=", {"vote": []}),
    ]
    for game, option, read in cases:
        short = "--option=rounds=2" if game == "saint-poker" else "--option=max_rounds=1"
        played = play(game, "house:first", "house:1", "--json", option, short)
        assert json.loads(played.output)["options"].items() >= read.items()


TWO = ["saint-poker", "house:first", "house:first"]


def test_what_cannot_be_played_is_refused_with_the_reason() -> None:
    for arguments, complaint in (
        (["no-game", "house:first"], "Unknown game 'no-game'; available: pool-nap,"),
        (["saint-poker", "house:first"], "saint-poker is for 2 to 5 seats, got 1"),
        (["saint-poker", "house:first", "house:nobody"], "Unknown house player 'house:nobody'"),
        (["saint-poker", "house:first", "nobody"], "'nobody' is not a player"),
        (["saint-poker", "house:first", "ftp://127.0.0.1"], "A URL begins with https or http"),
        (["saint-poker", "house:first", "http://127.1:8000"], "An IPv4 address is four decimal numbers"),
        (["saint-poker", "house:first", "http://127.0.0.1:9"], "A port is 80, 443 or from 1024 to 65535"),
        ([*TWO, "--option", "rounds=9"], "expected a whole number from 1 to 8"),
        ([*TWO, "--option", "rounds=x"], "expected a whole number from 1 to 8"),
        ([*TWO, "--option", "rounds"], "write an option as name=value"),
        ([*TWO, "--option", "x=1"], "it has rounds, final_pickup"),
        (["pool-nap", "house:first", "house:first", "--option", "ending=never"], "rounds, last_player"),
    ):
        refused = play(*arguments)
        assert (refused.exit_code, complaint in refused.output) == (2, True), refused.output


def test_a_log_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    refused = play("saint-poker", "house:first", "house:1", "--log", str(tmp_path / "none" / "log.ndjson"))

    assert refused.exit_code == 1
    assert "Cannot write the log" in refused.output
