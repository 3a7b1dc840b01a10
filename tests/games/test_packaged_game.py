"""A game that comes from an installed package is played and shown, and without the package nothing fails."""

import http.client
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import sleep
from urllib.parse import urlsplit

import pytest

from referee.cli.service.api_client import Api
from tests.cli.hall import LOOPBACK
from tests.cli.running import comes_true, referee, service, surroundings
from tests.deploy.processes import free_ports
from tests.games.highest_card import GAME, HOUSE_PLAYER, PAGE, PRESENTATION, TABLE

ROOT = Path(__file__).parents[2]
BARE = {"__init__.py": "", "rules.py": GAME, "page.md": PAGE, "presentation.json": PRESENTATION}
FILES = {**BARE, "heuristics.py": HOUSE_PLAYER, "table.js": TABLE}
LEARN = """
from referee_extras.gym.aec import env
from referee_extras.gym.layouts import layout
from referee_extras.sdk import Bot
bot, table, found = Bot(), env("highest-card", 3), layout("highest-card")
bot.decides("highest-card", "show")(lambda question: None)
table.reset(1)
print(bot.games, table.action_space("seat_0").n, found.words, found.cards)
"""
MAKE_DUE = """
import sys
from referee.db.engine import Database
from referee.matches.scheduling import MatchPlan, create_matches
from referee.match.time_limits import Limits
database = Database(f"sqlite:///{sys.argv[1]}/referee.db")
with database.write() as session:
    plan = MatchPlan(game="highest-card", bots=sys.argv[2:], options={}, limits=Limits(), rated=False)
    create_matches(session, [plan], master_key=bytes(32))
database.dispose()
"""


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


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("package") / "installed")


def having(*folders: Path) -> dict[str, str]:
    """Return the environment of processes in which these packages are installed."""
    return {"PYTHONPATH": ":".join(map(str, [ROOT, *folders]))}


def read(url: str, path: str) -> str:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.request("GET", path, headers={"Accept": "text/html"})
    response = connection.getresponse()
    body = response.read().decode()
    connection.close()
    assert response.status == 200, path
    return body


@contextmanager
def bot(folder: Path) -> Iterator[str]:
    """Run the starter bot, which plays this game alone. Yield its URL."""
    folder.mkdir()
    source = (ROOT / "bots/python/bot.py").read_text()
    (folder / "bot.py").write_text(re.sub(r'"games": \[.*?\]', '"games": ["highest-card"]', source))
    (port,) = free_ports(1)
    process = subprocess.Popen(
        [sys.executable, "bot.py", str(port)], cwd=folder, env=surroundings(), stderr=subprocess.DEVNULL
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def becomes(what: Callable[[], object]) -> bool:
    """Wait until the condition is true, with a pause between requests: the service limits their number."""

    def look() -> object:
        sleep(0.5)
        return what()

    return comes_true(look)


def is_verified(owner: Api, bot_id: str) -> bool:
    """Return whether the bot is verified. Ask for another handshake if it had not read its secret yet."""
    shown = owner.get(f"/bots/{bot_id}")
    if shown["status"] == "unverified" and shown["handshake"]["state"] == "idle":
        owner.post(f"/bots/{bot_id}/check")
    return bool(shown["status"] == "verified")


def test_a_packaged_game_is_played_and_without_its_package_all_else_goes_on(package: Path, tmp_path: Path) -> None:
    data, environment = tmp_path / "data", having(package)
    with (
        service(data, "--workers", "1", REFEREE_EGRESS_ALLOW=LOOPBACK, **environment) as up,
        bot(tmp_path / "first") as first,
        bot(tmp_path / "second") as second,
        Api(up.url) as anybody,
    ):
        bots = []
        for name, url in (("first", first), ("second", second)):
            with Api(up.url, anybody.post("/accounts", {"name": name})["token"]["token"]) as owner:
                owner.patch("/accounts/me", {"entry_consent": "everybody"})
                made = owner.post("/bots", {"name": f"The {name}", "url": url})
                (tmp_path / name / "secret.txt").write_text(made["secret"])
                bots.append(made["id"])
                assert becomes(partial(is_verified, owner, made["id"]))
        assert becomes(lambda: all(anybody.get(f"/bots/{bot_id}")["certified"] for bot_id in bots))
        organiser = referee("admin", "create", "Organiser", REFEREE_DATA=str(data), **environment).stdout.strip()
        with Api(up.url, organiser) as led:
            match = led.post("/matches", {"game": "highest-card", "bots": bots, "rated": True})["id"]
        assert becomes(lambda: [*anybody.items("/ladders?game=highest-card")])
        (ladder,) = [found["id"] for found in anybody.items("/ladders?game=highest-card")]
        log = anybody.fetch(f"/api/v1/matches/{match}/log")
        assert "Suits decide between cards of a rank." in read(up.url, "/games/highest-card")
        assert "{index|name} {item|card}" in read(up.url, f"/matches/{match}")
        assert "hcDraw" in read(up.url, "/static/viewer/tables/highest_card.js")
    command = [sys.executable, "-c", MAKE_DUE, str(data), *bots]
    subprocess.run(command, env=surroundings(**environment), check=True)
    file = tmp_path / "match.ndjson"
    file.write_bytes(log)
    verified = referee("verify", str(file), **environment)
    assert (verified.returncode, verified.stdout[:2]) == (0, "ok"), verified
    assert "Shown: The first the " in referee("replay", str(file), **environment).stdout

    assert "A game of a package must be installed first." in referee("verify", str(file)).stdout
    with service(data, "--workers", "1", REFEREE_EGRESS_ALLOW=LOOPBACK) as up, Api(up.url) as anybody:
        (waits,) = [found["id"] for found in anybody.items("/matches?status=due")]
        assert anybody.fetch(f"/api/v1/matches/{match}/log") == log
        assert "is not installed on this service" in read(up.url, f"/matches/{waits}")
        for path in (f"/matches/{match}", f"/ladders/{ladder}", f"/bots/{bots[0]}", "/", "/matches", "/bots", "/games"):
            read(up.url, path)
        audit = referee("admin", "audit", "--read-only", "--data", str(data))
        assert (audit.returncode, audit.stdout[:10]) == (0, "1 logs are"), audit
        assert anybody.get(f"/matches/{waits}")["status"] == "due"


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


def test_a_bot_and_a_learner_get_what_they_need_from_the_rules_and_the_page(package: Path) -> None:
    command = [sys.executable, "-c", LEARN]

    told = subprocess.run(command, env=surroundings(**having(package)), check=True, capture_output=True, text=True)

    assert told.stdout == "['highest-card'] 2 {'phase': ('show', 'over')} ('hand', 'shown')\n"
