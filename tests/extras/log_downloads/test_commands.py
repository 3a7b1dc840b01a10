"""`referee logs` against a running service."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.bots import house_bots
from referee.cli import main
from referee.ladders import ratings
from referee.match.log_bundle import split_logs
from tests.api.in_thread import api_in_thread
from tests.cli.running import says

ROOT = Path(__file__).parents[3]


@dataclass
class Hall:
    """A service with a rated match and an unrated one."""

    url: str
    rated: str
    unrated: str
    ladder: str
    bots: list[str]

    def says(self, *arguments: str, status: int = 0) -> Result:
        return says({}, *arguments, "--url", self.url, status=status)


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    with api_in_thread(tmp_path_factory.mktemp("matches")) as (url, world):
        bots = world.bots(2)
        with world.database.write() as session:
            house = house_bots.get_or_create_house_bot(session, "sound").id
        played = world.play([bots[0], house])
        ladder = str(played.ladder_id)
        unrated = world.play(bots, rated=False).match_id
        with world.database.read() as session:
            name = ratings.get_ladder(session, ladder).name
        yield Hall(url, played.match_id, unrated, f"{name} ({ladder})", bots)


def test_the_logs_of_a_bot_a_ladder_and_a_span_are_downloaded_and_verified(hall: Hall, tmp_path: Path) -> None:
    bot, ladder = hall.bots[1], hall.ladder.rpartition("(")[2].rstrip(")")

    def matches(*selection: str) -> set[str]:
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.ndjson.gz"
        told = json.loads(hall.says("logs", *selection, "--out", str(file), "--verify", "--json").stdout)
        found = list(split_logs([file.read_bytes()], "")) if told["logs"] else []
        assert (told["verified"], told["failed"], told["deleted"]) == (len(found), [], 0)
        return {log.match for log in found}

    assert matches("--bot", bot) == {hall.unrated}
    assert matches("--ladder", ladder) == matches("--ladder", hall.ladder.rpartition(" (")[0]) == {hall.rated}
    assert matches("--since", "2020-01-01") == {hall.rated, hall.unrated}
    assert matches("--since", "2020-01-01", "--before", "2020-01-02") == set()
    assert matches("--bot", hall.bots[0], "--since", "2020-01-01T00:00:00Z") == {hall.rated, hall.unrated}


def test_all_that_is_public_of_a_ladder_is_downloaded_by_one_command(hall: Hall, tmp_path: Path) -> None:
    folder = tmp_path / "ladder"
    name = hall.ladder.rpartition(" (")[0]

    hall.says("logs", "--ladder", name, "--complete", "--out", str(folder))

    (log,) = folder.glob("*.ndjson.gz")
    assert {file.name for file in folder.iterdir()} == {log.name, "results.csv", "keys.json"}
    verified = CliRunner().invoke(main, ["verify", "--key", str(folder / "keys.json"), str(log)])
    assert "; signed (entry" in verified.stdout
    refolded = [sys.executable, str(ROOT / "docs/refold.py"), str(folder / "results.csv")]
    assert "follow" in subprocess.run(refolded, capture_output=True, text=True, check=True).stdout
    assert "--complete needs --ladder" in hall.says("logs", "--bot", "a", "--complete", status=2).stderr


def test_a_wrong_selection_of_logs_is_refused(hall: Hall, tmp_path: Path) -> None:
    out = "--out", str(tmp_path / "logs.ndjson.gz")

    assert "Pass --bot, --ladder or --since" in hall.says("logs", *out, status=2).stderr
    assert "not both" in hall.says("logs", "--bot", "a", "--ladder", "b", *out, status=2).stderr
    assert "--since: Must be a date" in hall.says("logs", "--since", "yesterday", *out, status=1).stderr
    assert "Unknown bot" in hall.says("logs", "--bot", "nobody of this name", *out, status=1).stderr
