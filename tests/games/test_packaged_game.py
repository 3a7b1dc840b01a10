"""A game that comes from an installed package is played and shown, and without the package nothing fails."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from api import create_app
from referee.audit.database_audit import audit
from referee.matches import matches
from tests.cli.running import referee, says, surroundings
from tests.database.databases import kept
from tests.database.world import World
from tests.games.highest_card import GAME, HOUSE_PLAYER, PAGE, PRESENTATION, TABLE
from tests.surroundings import settings_for

ROOT = Path(__file__).parents[2]
BARE = {"__init__.py": "", "rules.py": GAME, "page.md": PAGE, "presentation.json": PRESENTATION}
FILES = {**BARE, "heuristics.py": HOUSE_PLAYER, "table.js": TABLE}


def install(folder: Path, package: str = "highest_card", contents: Mapping[str, str] = FILES) -> Path:
    """Install a package that brings a game in the folder, as pip does."""
    files = {f"{package}/{file}": text for file, text in contents.items()}
    info = f"{package}-1.0.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
    files[f"{info}/entry_points.txt"] = f"[referee.games]\nhighest-card = {package}.rules\n"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return install(tmp_path / "installed")


def having(*folders: Path) -> dict[str, str]:
    """Return the environment of processes in which these packages are installed."""
    return {"PYTHONPATH": ":".join(map(str, [ROOT, *folders]))}


def test_a_packaged_game_is_played_and_without_its_package_all_else_goes_on(
    package: Path, tmp_path: Path, sqlite_url: str
) -> None:
    command, environment = (
        [sys.executable, "-m", "tests.games.packaged_play", str(tmp_path)],
        surroundings(**having(package)),
    )

    played = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert played.returncode == 0, played.stderr
    ids, log = json.loads(played.stdout), tmp_path / "match.ndjson"
    assert "A game of a package must be installed first." in says({}, "verify", str(log), status=1).stdout
    client, world = create_app(settings_for(tmp_path)).test_client(), World(kept(sqlite_url))
    assert client.get(f"/api/v1/matches/{ids['match']}/log").data == log.read_bytes()
    assert "is not installed on this service" in client.get(f"/matches/{ids['waits']}").get_data(as_text=True)
    for path in (f"/matches/{ids['match']}", f"/ladders/{ids['ladder']}", f"/bots/{ids['bot']}", "/", "/games"):
        assert client.get(path).status_code == 200, path
    assert world.listed(audit) == []
    assert world.claim(10) == []
    assert world.read(matches.get_match, ids["waits"]).status == "due"
    world.database.dispose()


def test_two_packages_with_a_game_of_one_name_are_refused_at_the_start(package: Path, tmp_path: Path) -> None:
    other = install(tmp_path / "other", package="second_highest")

    refused = referee("games", **having(package, other))

    assert refused.returncode != 0
    assert (
        "Two games are named 'highest-card', of highest_card 1.0 and of second_highest 1.0."
        in refused.stderr.replace("\n", " ")
    )
    assert "Traceback" not in refused.stderr


def test_without_a_house_player_and_a_table_of_its_own_a_game_is_played_and_shown(tmp_path: Path) -> None:
    installed = having(install(tmp_path / "bare", contents=BARE))
    log, page = str(tmp_path / "match.ndjson"), tmp_path / "match.html"

    played = referee("play", "highest-card", "house:3", "house:first", "--log", log, "--html", str(page), **installed)
    replayed = referee("replay", log, **installed).stdout

    assert played.returncode == 0, played
    assert "Highest Card" in page.read_text()
    assert "Shown: house:3 the " in replayed
    assert "The match is over: " in replayed
