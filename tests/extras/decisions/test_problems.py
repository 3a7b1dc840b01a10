"""`referee reask` and `referee fork` report problems of bots as `referee play` does."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli import main
from referee.match.log import parse_row
from tests.cli.test_problems import ERROR, SHORT, run, shows_the_traceback
from tests.cli.test_problems import crashing as crashing
from tests.cli.test_problems import elsewhere as elsewhere
from tests.cli.test_problems import nobody as nobody


def test_asking_again_and_forking_tell_of_crashes(crashing: str) -> None:
    run("play", "saint-poker", "house:first", "house:1", *SHORT, "--log", "match.ndjson")
    n = next(
        row["n"]
        for row in map(parse_row, Path("match.ndjson").read_bytes().splitlines())
        if row["type"] == "decision" and row["source"] == "bot" and row["seat"] == 0
    )

    asked = run("reask", "match.ndjson", str(n), crashing, "--seat", "1")
    again = json.loads(run("reask", "match.ndjson", str(n), crashing, "--seat", "1", "--json").stdout)
    forked = run("fork", "match.ndjson", str(n), crashing, "--seat", "1")
    document = json.loads(run("fork", "match.ndjson", str(n), crashing, "--seat", "1", "--json").stdout)

    assert re.search(rf"^error +{ERROR}$", asked.stdout, re.M)
    assert "the bot's own code failed, and it played the default action" in asked.stdout
    assert again["now"]["error"] == ERROR
    assert document["problems"][0]["errors"] > 0
    assert "The code of crashing failed in" in forked.stderr
    assert shows_the_traceback(asked.stderr)
    assert shows_the_traceback(forked.stderr)


def test_a_fork_with_a_player_who_is_not_there_ends_with_a_status(nobody: str) -> None:
    run("play", "saint-poker", "house:first", "house:1", *SHORT, "--log", "match.ndjson")

    forked = run("fork", "match.ndjson", "0", nobody, "--seat", "1", status=3)

    assert f"{nobody} was not reached" in forked.stderr


@pytest.mark.parametrize("command", ["reask", "fork"])
def test_there_is_no_seat_0(command: str) -> None:
    refused = CliRunner().invoke(main, [command, "match.ndjson", "1", "--seat", "0", "house:first"])

    assert refused.exit_code == 2
    assert "0 is not in the range 1<=x<=99" in refused.output
