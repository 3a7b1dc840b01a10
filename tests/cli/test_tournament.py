"""`referee tournament …` against a service that runs."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.cli.hall import Hall, hall
from tests.cli.running import PATIENCE_S, surroundings

SHORT = ["--game", "saint-poker", "--seats", "2", "--option", "rounds=2", "--unrated"]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    with hall(tmp_path_factory.mktemp("hall")) as opened:
        yield opened


def test_an_event_is_announced_entered_played_and_read(there: Hall) -> None:
    drafted = there.json("create", "Spring cup", *SHORT)
    there.says("open", "spring cup")
    entered = there.json("enter", "Spring cup", *there.bots, token=there.owner)
    seen = there.says("show", "Spring cup").stdout
    watched = there.says("start", "Spring cup", "--watch").stdout
    shown = there.json("show", "Spring cup")
    table = there.json("standings", drafted["id"])["items"]
    own = there.json("standings", "Spring cup", "--bot", "Bot A sound")

    assert (drafted["status"], drafted["rated"], drafted["options"]["rounds"]) == ("draft", False, 2)
    assert [one["bot"] for one in entered["entered"]] == list(there.bots.values())
    assert "4 entered" in seen
    assert "6 of 6 matches" in watched
    assert (shown["status"], shown["progress"]["done"]) == ("finished", 6)
    assert sum(row["points"] for row in table) == 6
    assert own["row"]["bot"] == there.bots["Bot A sound"]
    assert "finished" in there.says("list").stdout


def test_a_knockout_is_seeded_drawn_and_streamed(there: Hall) -> None:
    there.says("create", "Winter knockout", *SHORT, "--format", "knockout", "--format-option", "seeding=hand", "--open")
    there.says("enter", "Winter knockout", *there.bots, "--seed", "1")
    there.says("seeds", "Winter knockout", "Bot A sound=4", "Bot D random=1")
    told = there.says("start", "Winter knockout", "--watch", "--json").stdout.splitlines()
    drawn = there.says("bracket", "Winter knockout").stdout

    assert json.loads(told[-1])["event"] == "end"
    assert drawn.splitlines()[0].split() == ["semi-final", "final", "winner"]
    assert "1 Bot D random" in drawn


def test_a_watch_ends_at_a_word(there: Hall) -> None:
    event = there.json("create", "Never played", *SHORT, "--open")
    watching = subprocess.Popen(
        [sys.executable, "-m", "referee", "tournament", "watch", event["id"], "--url", there.up.url],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings(),
    )  # fmt: skip
    assert watching.stdout is not None
    said = watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    _, trouble = watching.communicate(timeout=PATIENCE_S)

    assert (watching.returncode, said, trouble) == (130, "open: 0 of 0 matches\n", "")
