"""``--json``: which commands have it, and that nothing but one document, or one a line, is on standard output."""

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

from referee.db.revisions import required_revision
from tests.cli.running import says
from tests.cli.test_help import COMMANDS

RUNS_ON = "It runs until it is stopped, and what it prints is for the person in front of it."
REASONS = {"demo": RUNS_ON, "up": RUNS_ON, "house serve": RUNS_ON}  # of commands without --json


def run(*arguments: str, status: int = 0, **environment: str) -> Result:
    return says(environment, *arguments, status=status)


def document(*arguments: str, status: int = 0, **environment: str) -> Any:
    """Return the document on standard output, which must be all of it."""
    return json.loads(run(*arguments, "--json", status=status, **environment).stdout)


def test_every_command_prints_json_or_there_is_a_reason() -> None:
    without = {
        name
        for name, command in COMMANDS.items()
        if not isinstance(command, click.Group) and not any("--json" in option.opts for option in command.params)
    }

    assert without | {"demo"} == {*REASONS}  # the demonstration is an extra


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the log of a match."""
    log = tmp_path_factory.mktemp("json") / "match.ndjson"
    run("play", "saint-poker", "house:1", "house:2", "--log", str(log), "--json")
    return log


def test_games_and_rules() -> None:
    listed = {game["name"]: game for game in document("games")["items"]}

    assert listed["pool-nap"]["seats"] == {"minimum": 2, "maximum": 10}
    assert {"name", "type", "default", "help"} <= set(listed["pool-nap"]["options"][0])
    assert document("rules", "pool-nap")["markdown"] == run("rules", "pool-nap").stdout


def test_a_new_bot(tmp_path: Path) -> None:
    made = document("new-bot", str(tmp_path / "mybot"))

    assert Path(made["file"]).exists()
    assert (made["language"], len(made["next"])) == ("python", 2)


def test_logs_that_are_valid_and_not(played: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.ndjson"
    broken.write_bytes(played.read_bytes().replace(b'"bet"', b'"bot"', 1)[:-10])

    verified = document("verify", str(played), str(broken), status=1)

    assert (verified["logs"], verified["valid"]) == (2, 1)
    assert [item["valid"] for item in verified["items"]] == [True, False]
    assert document("replay", str(played))["sentences"] == run("replay", str(played)).stdout.splitlines()
    page = tmp_path / "match.html"
    assert document("replay", str(played), "--html", str(page)) == {"page": str(page), "bytes": page.stat().st_size}


def test_a_database_is_upgraded(tmp_path: Path) -> None:
    assert document("admin", "upgrade", "--data", str(tmp_path / "data"))["revision"] == required_revision()
