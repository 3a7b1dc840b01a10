"""The first ten minutes as the page tells them: every command is run, in order, from an empty directory."""

import json
import os
import random
import re
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.audit.database_audit import audit
from referee.cli.service.api_client import Api
from referee.conformance.positions import collect_questions, extreme_values, scenarios
from referee.db.engine import Database
from referee.games import game
from referee.match.log import parse_row
from referee.match.time_limits import Limits
from referee.match.verification import verify
from referee.workflows.explaining import waiting
from tests.cli.running import surroundings
from tests.deploy.processes import free_ports
from tests.end_to_end.processes import until
from tests.end_to_end.readers import DOCS, LONGEST_S, Reader, blocks, crashes
from tests.machine import require

PAGE = "first-bot.md"
SCENARIOS = 60  # of the bot's game; enough for the extremes of every option, in most combinations
GAMES = 2  # on the ladders, before they are looked at
LADDERS = """
[[ladder]]
game = "pool-nap"
seats = 4
daily_matches = 48

[[ladder]]
game = "saint-poker"
seats = 2
daily_matches = 48
"""  # as the packaged ones, but not of every game: the first 30 matches on each are played immediately


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    """Seat a reader in an empty folder. The page's ports are others here, so that nothing else is in the way."""
    for tool in ("bash", "curl"):
        require(tool, "the pages for newcomers")
    service, bot = free_ports(2)
    ladders = tmp_path / "ladders.toml"
    ladders.write_text(LADDERS)
    environment = surroundings(
        PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        REFEREE_URL=f"http://127.0.0.1:{service}",
        REFEREE_LADDERS=str(ladders),
        XDG_CONFIG_HOME=str(tmp_path / "config"),
    )
    changes = {
        "127.0.0.1:8000": f"127.0.0.1:{service}",
        "--start mybot": f"--start mybot --port {bot}",
        "--data data": f"--data data --port {service}",
        "sleep 2": "sleep 5",
    }
    reader = Reader(tmp_path, environment, changes)
    yield reader
    reader.stop()


def test_whoever_follows_the_page_has_a_certified_bot_that_plays_on_the_official_ladders(reader: Reader) -> None:
    said = "\n".join([*map(reader.follow, blocks(PAGE)), reader.said()])

    assert re.search(r"mybot +[0-9-]+ +0$", said, re.M), "the bot had faults in its first match"
    assert "settled: mybot is better than house:1" in said
    assert re.search(r"^pass: 0 failures, \d+ warnings", said, re.M)
    assert re.search(r"certificate of \d{4}-\d\d-\d\d for version 1: .*saint-poker", said)
    assert "<!doctype html>" in (reader.folder / "replay.html").read_text()[:100].lower()
    assert (reader.folder / "other.ndjson").exists()
    assert re.search(r"^ +\d+  My bot +\d+(?: ± \d+)? +[1-9]\d*$", said, re.M), said
    registered = re.search(r"^My bot \((bot_\w+)\): verified, version 1$", said, re.M)
    assert registered
    with Api(reader.environment["REFEREE_URL"]) as anybody:
        check_ladders(anybody, registered[1])
    database = Database(f"sqlite:///{reader.folder / 'data' / 'referee.db'}")
    with database.read() as session:
        assert [*audit(session)] == []
        told = waiting.explain_waiting(session, registered[1], runner_slots=100)
    database.dispose()
    places = {match.ladder_id for match in told.matches} | {ladder.ladder_id for ladder in told.ladders}
    assert len(places) == 2, "it waits or plays on the ladders of all games"
    assert crashes(reader.said()) == []


def check_ladders(anybody: Api, bot_id: str) -> None:
    """Wait until the only registered bot has ratings on official ladders, and check the matches that made them."""

    def rated_rows() -> list[tuple[dict[str, Any], dict[str, Any]]]:
        time.sleep(1)  # between two looks, because a service limits the requests of an address
        ladders = anybody.items("/ladders")
        rows = [(one, row) for one in ladders for row in anybody.get(f"/ladders/{one['id']}")["items"]]
        own = [(ladder, row) for ladder, row in rows if row["bot"] == bot_id]
        is_done = sum(row["games"] for _, row in own) >= GAMES and all(row["rating_error"] for _, row in own)
        return own if is_done else []

    for ladder, row in until(rated_rows, "ratings of the bot", LONGEST_S):
        assert (ladder["official"], ladder["members"]) == (True, 1)
        assert 0 < row["rating_error"] < 600
        for change in anybody.items(f"/ladders/{ladder['id']}/history?bot={bot_id}"):
            lines = anybody.fetch(f"/api/v1/matches/{change['match']}/log").splitlines()
            report = verify(lines)
            assert (report.ok, report.revealed, report.reason) == (True, True, ""), change
            assert not [row for row in map(parse_row, lines) if "fault" in row], change
            assert anybody.get(f"/matches/{change['match']}")["rated"]


def test_the_bot_of_the_page_decides_under_all_options_of_its_game() -> None:
    (block,) = (one for one in blocks(PAGE) if one.file)
    page: dict[str, Any] = {"random": random}
    exec(block.text, page)  # the code is ours
    rules, dice = game("pool-nap"), Random("first bot")
    drawn = list(islice(scenarios(rules, dice), SCENARIOS))

    asked = [json.loads(one.body) for scenario in drawn for one in collect_questions(scenario, Limits(), dice)]

    for spec in rules.option_specs:
        met = [scenario.options[spec.name] for scenario in drawn]
        assert all(value in met for value in extreme_values(spec)), spec.name
    bids = [one for one in asked if one["observation"]["phase"] == "bid"]
    assert any(one["legal_actions"][0].get("tricks", 0) > 0 for one in bids), "some dealer has to bid"
    assert [one for one in asked if page["choose"](one) not in one["legal_actions"]] == []


@pytest.mark.parametrize("page", [PAGE, "class.md"])
def test_every_command_of_the_page_is_run(page: str) -> None:
    text = (DOCS / page).read_text()

    assert len(re.findall(r"^```(?:sh|python)$", text, re.M)) == len(blocks(page))
