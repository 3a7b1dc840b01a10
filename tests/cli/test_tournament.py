"""`referee tournament …` against a service that runs."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cli.hall import Hall, hall
from tests.cli.running import PATIENCE_S, comes_true, pid_of, surroundings

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


def test_what_was_played_can_be_taken_back(there: Hall) -> None:
    event = there.json("show", "Spring cup")["id"]
    match = there.up.get(f"/api/v1/tournaments/{event}/matches?limit=1")["items"][0]["id"]

    said = there.says("void", match, "--reason", "The cable was cut.").stdout
    again = there.says("void", match, "--reason", "Again.", status=1).stderr

    assert said == f"void: {match}\n"
    assert again.startswith("Error: ")
    assert sum(row["matches"] for row in there.json("standings", event)["items"]) == 10


def test_refusals_are_sentences_with_a_status(there: Hall) -> None:
    unknown = there.says("show", "Autumn cup", status=1).stderr
    foreign = there.json("create", "Mine", *SHORT, token=there.owner, status=1)
    nobody = there.says("create", "Mine", *SHORT, token="ref_no", status=1).stderr
    senseless = there.says(
        "create", "Mine", *SHORT, "--format", "swiss", "--format-option", "stages=0", status=1
    ).stderr
    larger = there.says("create", "Mine", *SHORT, "--option", "turns=1", status=1).stderr

    assert "there are 'Winter knockout', 'Spring cup'" in unknown
    assert foreign["error"]["code"] == "forbidden"
    assert "--token-file" in nobody
    assert senseless.startswith("Error: --format-option stages: ")
    assert larger.startswith("Error: --option turns: ")


def test_one_name_for_two_events_is_settled_by_id(there: Hall) -> None:
    first, second = (there.json("create", "Twins", *SHORT)["id"] for _ in range(2))

    refused = there.says("open", "twins", status=1).stderr
    there.says("open", first)
    partly = there.json("enter", first, "Bot A sound", "Nobody", status=1)
    there.says("withdraw", first, "Bot A sound")
    listed = there.json("list", "--limit", "2")["items"]

    assert (first in refused, second in refused) == (True, True)
    assert [one["bot"] for one in partly["entered"]] == [there.bots["Bot A sound"]]
    assert "no bot has the name 'Nobody'" in partly["refused"][0]["error"]["detail"]
    assert [one["id"] for one in listed] == [second, first]


def test_a_watch_outlives_the_service_it_asks(there: Hall) -> None:
    event = there.json("create", "Rained off", *SHORT, "--open")
    with watching(there, event["id"]) as watch:
        assert watch.stdout is not None
        first = watch.stdout.readline()

        os.kill(pid_of(there.up.folder, "gunicorn"), signal.SIGKILL)
        assert comes_true(there.up.ready)
        there.says("cancel", event["id"], "--reason", "It rained.")
        said, _ = watch.communicate(timeout=PATIENCE_S)

    assert first == "open: 0 of 0 matches\n"
    assert (watch.returncode, "cancelled (It rained.), 0 matches" in said) == (0, True)


def test_a_watch_ends_at_a_word(there: Hall) -> None:
    event = there.json("create", "Never played", *SHORT, "--open")
    with watching(there, event["id"], "--json") as watch:
        assert watch.stdout is not None
        first = json.loads(watch.stdout.readline())

        watch.send_signal(signal.SIGINT)
        _, trouble = watch.communicate(timeout=PATIENCE_S)

    assert (first["event"], first["data"]["status"]) == ("progress", "open")
    assert (watch.returncode, trouble) == (130, "")


@contextmanager
def watching(there: Hall, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A watch as a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "referee", "tournament", "watch", *arguments, "--url", there.up.url],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings(),
    )  # fmt: skip
    with process:
        try:
            yield process
        finally:
            process.kill()
