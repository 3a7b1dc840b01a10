"""`referee tournament local`: whole tournaments on this machine, interrupted, resumed, and stopped when settled."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from referee.cli import main
from referee.match.log import parse_row
from referee.match.verification import verify
from referee.ratings.sprt import Hypotheses
from referee_extras.local_tournaments import commands as local_command
from referee_extras.sdk import Bot
from referee_extras.sdk.serving import serving
from tests.cli.running import comes_true, surroundings
from tests.cli.test_problems import crashing as crashing
from tests.cli.test_problems import run, shows_the_traceback, starter

SHORT = ("--game", "saint-poker", "--option", "rounds=1", "--seed", "1")


def play_local(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["tournament", "local", *arguments])


def outcome(*arguments: str) -> Any:
    played = play_local(*arguments, "--json")
    assert played.exit_code == 0, played.output
    return json.loads(played.output)


def logs(directory: Path) -> dict[str, bytes]:
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.glob("deal-?????/*.ndjson")}


def test_every_set_of_players_plays_every_deal_from_every_seat(tmp_path: Path) -> None:
    players = ("house:1", "house:3", "house:first")

    found = outcome(*SHORT, *players, "--seats", "2", "--deals", "3", "--out", str(tmp_path))

    assert (found["deals"], found["matches"]) == (3, 18)
    assert {line["player"]: line["matches"] for line in found["players"]} == dict.fromkeys(
        ("house:1", "house:3", "house:first"), 12
    )
    assert sum(line["points"] for line in found["players"]) == 18
    assert all(line["points_low"] <= line["points_per_match"] <= line["points_high"] for line in found["players"])
    odds = {line["points_per_match"]: 10 ** (line["elo"] / 400) for line in found["players"]}
    assert [share / (1 - share) for share in odds] == pytest.approx(list(odds.values()))
    kept = logs(tmp_path)
    assert len(kept) == 18
    decks: dict[str, set[str]] = {}
    seated: dict[str, set[tuple[str, ...]]] = {}
    for name, log in kept.items():
        report = verify(log.splitlines())
        assert report.ok, report.reason
        assert report.revealed
        rows = [parse_row(line) for line in log.splitlines()]
        decks.setdefault(name.split("/")[0], set()).add(json.dumps(rows[1]["outcome"]))
        seated.setdefault(name.split("/")[0], set()).add(tuple(player["name"] for player in rows[0]["players"]))
    assert [len(cards) for cards in decks.values()] == [1, 1, 1]
    assert len(set.union(*decks.values())) == 3
    assert [len(seatings) for seatings in seated.values()] == [6, 6, 6]


def test_all_orders_of_a_larger_table_and_one_table_are_shown(tmp_path: Path) -> None:
    players = ("house:first", "house:first", "house:1")

    shown = play_local(*SHORT, *players, "--orders", "all", "--deals", "2", "--out", str(tmp_path))

    assert shown.exit_code == 0, shown.output
    assert [line.split()[0] for line in shown.output.splitlines() if "first 2" in line]
    assert f"2 deals count; the logs are in {tmp_path}" in shown.output
    assert len(logs(tmp_path)) == 12


def test_killed_or_ended_by_ctrl_c_it_goes_on_where_it_was(tmp_path: Path) -> None:
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    table = (*SHORT, "house:3", "house:1")
    endless = [sys.executable, "-m", "referee", "tournament", "local", *table, "--deals", "9999", "--out", str(cut)]

    for word, status in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)):
        before = len(logs(cut))
        playing = subprocess.Popen(endless, stdout=subprocess.PIPE, text=True, env=surroundings())
        assert comes_true(lambda before=before: len(logs(cut)) > before)  # type: ignore[misc]  # a lambda's default
        playing.send_signal(word)
        said, _ = playing.communicate()
        assert playing.returncode == status
    (cut / "deal-00001.part").mkdir()  # what a kill may leave
    assert "run the same command to resume" in said
    over = len(list(cut.glob("deal-*[0-9]")))

    gone_on = outcome(*table, "--deals", str(over + 2), "--out", str(cut))

    assert gone_on["deals"] == over + 2
    assert not list(cut.glob("*.part"))
    assert outcome(*table, "--deals", str(over + 2), "--out", str(whole))["players"] == gone_on["players"]
    assert logs(cut) == logs(whole)


def test_another_plan_or_a_damaged_log_is_refused(tmp_path: Path) -> None:
    table = (*SHORT, "house:first", "house:1", "--deals", "1", "--out", str(tmp_path))
    outcome(*table)

    other = play_local("--game", "saint-poker", "--deals", "1", "house:first", "house:3", "--out", str(tmp_path))
    log = next(iter(tmp_path.glob("deal-*/*.ndjson")))
    log.write_bytes(log.read_bytes()[:-40])
    damaged = play_local(*table)

    assert (other.exit_code, damaged.exit_code) == (1, 1)
    assert "has a different tournament: options is" in other.output
    assert "seed" not in other.output.partition("has a different")[2].partition("Take")[0]  # taken from there
    assert "Remove" in damaged.output
    assert "deal-00001 to have its deal played again" in damaged.output


def test_it_stops_when_the_question_is_settled_and_stays_so(tmp_path: Path) -> None:
    duel = [*SHORT, "house:3", "house:1", "--deals", "500", "--out", str(tmp_path), "--sprt", "elo1=200"]
    duel += ["--option", "rounds=3"]

    first = outcome(*duel)
    again = outcome(*duel)
    told = play_local(*duel)

    assert first["test"]["verdict"] == "h1"
    assert first["deals"] == first["test"]["deals"] < 100
    assert again == first
    assert "settled: house:3 is better than house:1 (after " in told.output
    assert f"log-likelihood ratio {first['test']['ratio']:.2f}, settled at -2.94 or 2.94; " in told.output


class Slow(Bot):
    """Sits at one match at a time, and remembers at which."""

    version = "7"
    max_concurrent_requests = 1

    def __init__(self) -> None:
        super().__init__()
        self.matches: list[str] = []

    def answer(self, body: Any) -> Any:
        if self.matches[-1:] != [body["match"]["id"]]:
            self.matches.append(body["match"]["id"])
        return super().answer(body)


def test_bots_sit_at_no_more_matches_than_their_cards_allow(tmp_path: Path) -> None:
    bot = Slow()
    with serving(bot) as url:
        found = outcome(*SHORT, url, "house:first", "--deals", "3", "--out", str(tmp_path))

    assert found["plan"]["players"][0] == {"name": url, "source": url, "version": "7"}
    assert [line["faults"] for line in found["players"]] == [0, 0]
    assert len(bot.matches) == 6


def test_a_bot_that_does_not_answer_is_told_before_anything_is_played(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed_soon:
        url = f"http://127.0.0.1:{closed_soon.getsockname()[1]}"

    refused = play_local(*SHORT, url, "house:first", "--deals", "3", "--out", str(tmp_path / "none"))

    assert refused.exit_code == 1
    assert f"{url} is not ready (unreachable" in refused.output
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("house:first", "--seats", "2"), "1 players do not fill a table of 2"),
        (("house:first", "house:1", "--sprt", "elo9=1"), "'elo9=1' is not one of"),
        (("house:first", "house:1", "house:3", "--sprt", "elo1=20"), "for two players, not 3"),
        (("house:first", "house:1", "--sprt", "elo1=x"), "expected a number"),
        (("house:first", "house:1", "--sprt", "elo0=5,elo1=1"), "expected elo0 below elo1"),
        (("house:first",) * 70 + ("--seats", "2"), "4,830 matches per deal"),
        (("house:first", "house:nobody"), "Unknown house player"),
    ],
)
def test_what_cannot_be_played_is_refused(tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    refused = play_local(*SHORT, "--deals", "1", "--out", str(tmp_path / "none"), *arguments)

    assert refused.exit_code == 2
    assert complaint in refused.output
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("bounds", "verdict", "said"),
    [
        ((0, 30), "h0", "settled: saint is not 30 Elo better than sound (after 61 deals)"),
        ((0, 30), "h1", "settled: saint is better than sound (after 61 deals)"),
        ((10, 30), "h1", "settled: saint is more than 10 Elo better than sound (after 61 deals)"),
        ((-20, 0), "h0", "settled: saint is not better than sound (after 61 deals)"),
        ((-20, 0), "h1", "settled: saint is less than 20 Elo worse than sound (after 61 deals)"),
        ((0, 30), None, "not settled after 61 deals: whether saint is 30 Elo better than sound, or not even better"),
    ],
)
def test_the_result_of_a_sequential_test_is_a_plain_sentence(
    bounds: tuple[float, float], verdict: str | None, said: str
) -> None:
    entrants = [SimpleNamespace(name="saint"), SimpleNamespace(name="sound")]
    plan: Any = SimpleNamespace(match_plan=SimpleNamespace(entrants=entrants))
    running: Any = SimpleNamespace(test=Hypotheses(*bounds), verdict=verdict, groups=61)

    assert local_command.verdict(plan, running).startswith(said)


def test_local_tournaments_tell_of_crashes(crashing: str, tmp_path: Path) -> None:
    table = ("tournament", "local", *SHORT, "--deals", "2", crashing, "house:first")

    shown = run(*table, "--out", str(tmp_path / "one"))
    document = json.loads(run(*table, "--out", str(tmp_path / "two"), "--json").stdout)

    problems = document["problems"]["crashing"]
    assert document["problems"]["house:first"] is None
    assert problems["errors"] == problems["decisions"] > 4
    assert f"The code of crashing failed in {problems['errors']} of" in shown.stderr
    assert shows_the_traceback(shown.stderr)


def test_a_file_that_dies_in_play_ends_the_command_with_a_status(tmp_path: Path) -> None:
    dies = "def answer_question(question):\n    os._exit(7)"
    dying = starter(tmp_path / "dying", "def answer_question(question):", dies)
    table = ("tournament", "local", *SHORT, "--deals", "1", dying, "house:first")

    shown = run(*table, "--out", str(tmp_path / "out"), status=3)

    assert "It was retired in 2 matches," in shown.stderr
    assert "unreachable, 6 times" in shown.stderr
    assert "dying exited with status 7" in shown.stderr
