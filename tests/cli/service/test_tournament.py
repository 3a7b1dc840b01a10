"""`referee tournament …` against a service that runs."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.hall import RunningHall
from tests.cli.test_help import COMMANDS

PAGE = Path(__file__).parents[3] / "docs" / "tournaments.md"
SHORT = ["--game", "saint-poker", "--seats", "2", "--option", "rounds=2", "--unrated"]


@pytest.fixture
def there(running_hall: RunningHall) -> RunningHall:
    return running_hall


def test_the_walk_through_of_the_page_runs(there: RunningHall, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "organiser.token").write_text(f"{there.token}\n")
    walk = re.search(
        r"<!-- run by tests/cli/service/test_tournament.py -->\n```sh\n(.*?)```", PAGE.read_text(), re.DOTALL
    )
    assert walk

    said = {}
    for line in walk[1].replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        assert words[:2] == ["referee", "tournament"]
        if f"tournament {words[2]}" in COMMANDS:  # an extra may be deleted
            said[words[2]] = there.says(*words[2:], "--token-file", "organiser.token", token="").stdout

    assert "4 entered" in said["show"]
    assert "4 of 4 matches" in said["start"]
    assert said["standings"].count("\n") == 6
    assert said.pop("logs", ", 4 verified\n").endswith(", 4 verified\n")
    assert len((tmp_path / "cup.csv").read_text().splitlines()) == 9  # heads, and two seats of each match
    shown = there.json("show", "Spring cup")
    own = there.json("standings", "Spring cup", "--bot", "Ada sound")
    assert (shown["status"], shown["options"]["rounds"]) == ("finished", 2)
    assert own["row"]["bot"] == there.bots["Ada sound"]


def test_a_knockout_is_seeded_and_streamed(there: RunningHall) -> None:
    there.says("create", "Winter knockout", *SHORT, "--format", "knockout", "--format-option", "seeding=hand", "--open")
    there.says("enter", "Winter knockout", *there.bots, "--seed", "1")
    told = there.says("start", "Winter knockout", "--watch", "--json").stdout.splitlines()
    entered = there.json("show", "Winter knockout")["entered"]
    final = there.json("results", "Winter knockout")["items"][-1]["match"]
    proposed = there.says("void", final, "--reason", "The hall was dark.").stdout
    missing = there.says("void", "mat_" + "0" * 26, "--confirm", status=1).stderr
    drawn = there.says("bracket", "Winter knockout").stdout

    assert f"{final} is proposed; an operator confirms it with `referee tournament void {final} --confirm`" in proposed
    assert "Nobody has proposed" in missing or "no such match" in missing
    assert there.says("void", final, status=2).stderr.endswith("for a match that somebody proposed to void.\n")
    assert [line.partition(":")[0] for line in drawn.splitlines() if line[0] != " "] == ["semi-final", "final"]
    assert all(line.count("→") == 1 for line in drawn.splitlines() if line[0] == " ")
    assert json.loads(told[-1])["event"] == "end"
    assert {entry["name"]: entry["seed"] for entry in entered} == dict(zip(there.bots, range(1, 5), strict=True))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--format", "swiss", "--format-option", "rounds=0"), "Error: --format-option rounds: "),
        (("--option", "turns=1"), "Error: --option turns: "),
        (("--token", "ref_no"), "pass a valid token with --token-file"),
    ],
)
def test_refusals_are_sentences_with_a_status(there: RunningHall, options: tuple[str, ...], said: str) -> None:
    assert said in there.says("create", "Mine", *SHORT, *options, status=1).stderr


def test_one_name_for_two_events_is_settled_by_id(there: RunningHall) -> None:
    first, second = (there.json("create", "Twins", *SHORT)["id"] for _ in range(2))

    unknown = there.says("show", "Autumn cup", status=1).stderr
    foreign = there.json("create", "Mine", *SHORT, token=there.owner, status=1)
    refused = there.says("open", "twins", status=1).stderr
    there.says("open", first)
    partly = there.json("enter", first, "Ada sound", "Nobody", status=1)
    there.says("withdraw", first, "Ada sound")
    listed = there.json("list", "--limit", "2")["items"]

    assert "available: 'Twins', 'Twins'" in unknown
    assert foreign["error"]["code"] == "forbidden"
    assert (first in refused, second in refused) == (True, True)
    assert [one["bot"] for one in partly["entered"]] == [there.bots["Ada sound"]]
    assert "Unknown bot 'Nobody'" in partly["refused"][0]["error"]["detail"]
    assert [one["id"] for one in listed] == [second, first]


def test_a_tournament_pauses_and_goes_on(there: RunningHall) -> None:
    event = there.json("create", "Long cup", *SHORT, "--open")["id"]
    there.says("enter", event, "ada SOUND", "carl random", "--seed", "1")
    there.says("start", event)
    states = [there.json(verb, event)["status"] for verb in ("pause", "resume")]
    why = there.says("waiting", "Ada sound", token=there.owner).stdout
    watched = there.says("watch", event).stdout

    assert states == ["paused", "running"]
    assert why.startswith("Ada sound: ")
    assert watched.splitlines()[0].startswith(("running", "finished"))
    assert "Long cup: saint-poker, 2 seats, round robin: finished, 1 matches" in watched
