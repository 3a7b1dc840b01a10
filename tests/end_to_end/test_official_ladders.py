"""An empty service is a league: bots that are only registered play on the official ladders with nobody else there."""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any

from referee.audit.database_audit import audit
from referee.cli.service.api_client import Api
from referee.db.engine import Database
from referee.ladders.official import PACKAGED, load_official_ladders
from referee.match.log import parse_row
from referee.match.verification import verify
from referee.workflows.explaining import waiting
from tests.cli.running import service as running_service
from tests.cli.running import surroundings
from tests.end_to_end.processes import until
from tests.end_to_end.service import ROOT
from tests.test_docs import PROTOCOL, block

EACH, TOGETHER = 2, 6  # matches
GAMES = {"pool-nap", "saint-poker"}  # of the bot in 20 lines; the starter bot plays all
PATIENCE_S = 420.0  # the checks, 30 s without a partner, and the matches


def test_bots_that_were_only_registered_play_on_the_official_ladders_and_get_ratings(tmp_path: Path) -> None:
    """Register the starter bot and the bot in 20 lines, of one owner: neither is a partner of the other."""
    ladders = tmp_path / "ladders.toml"
    write_faster_ladders(ladders)
    settings = {"REFEREE_LADDERS": str(ladders), "REFEREE_EGRESS_ALLOW": "127.0.0.1/32:1024-65535"}
    with (
        serve_starter_bot(tmp_path / "starter") as starter,
        serve_short_bot(tmp_path / "short") as short,
        running_service(tmp_path / "data", **settings) as up,
        Api(up.url) as anybody,
    ):
        token = anybody.post("/accounts", {"name": "Ada"})["token"]["token"]
        bot_ids = []
        with Api(up.url, token) as owner:
            for name, folder, url in (
                ("starter", tmp_path / "starter", starter),
                ("mine", tmp_path / "short", short),
            ):
                bot = owner.post("/bots", {"name": name, "url": url})
                (folder / "secret.txt").write_text(bot["secret"])
                bot_ids.append(bot["id"])

        found = until(
            lambda: rated_rows(anybody, bot_ids),
            "ratings of both bots",
            PATIENCE_S,
            lambda: tell(up.url, token, bot_ids),
        )

        for ladder, row in found:
            assert ladder["official"]
            assert ladder["members"] in {1, 2}
            assert isfinite(row["strength_error"])
            assert 0 < row["strength_error"] < 600
            for change in anybody.items(f"/ladders/{ladder['id']}/history?bot={row['bot']}"):
                lines = anybody.fetch(f"/api/v1/matches/{change['match']}/log").splitlines()
                report = verify(lines)
                assert (report.ok, report.revealed, report.reason) == (True, True, ""), change
                assert not [row for row in map(parse_row, lines) if "fault" in row], change
                assert anybody.get(f"/matches/{change['match']}")["rated"]
        check_record(Database(f"sqlite:///{tmp_path / 'data' / 'referee.db'}"), bot_ids)


def tell(url: str, token: str, bot_ids: list[str]) -> str:
    """Return what the service says about bots that have no ratings yet."""
    with Api(url, token) as owner:
        said = [(owner.get(f"/bots/{bot_id}")["check"], owner.get(f"/bots/{bot_id}/waiting")) for bot_id in bot_ids]
    return json.dumps(said, indent=1)


def check_record(database: Database, bot_ids: list[str]) -> None:
    """Check that each bot waits or plays on the ladders of all its games, and that the audit finds no difference."""
    with database.read() as session:
        assert [*audit(session)] == []
        told = [waiting.explain_waiting(session, bot_id, runner_slots=100) for bot_id in bot_ids]
    places = [{match.ladder_id for match in bot.matches} | {ladder.ladder_id for ladder in bot.ladders} for bot in told]
    assert [*map(len, places)] == [len(load_official_ladders()), len(GAMES)]  # of the starter bot, and of the other
    database.dispose()


def rated_rows(anybody: Api, bot_ids: list[str]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the ladders of the bots with their rows, once there are enough matches and every row has a strength."""
    time.sleep(0.5)  # between two looks, because a service limits the requests of an address
    rows = [
        (ladder, row)
        for ladder in anybody.items("/ladders")
        for row in anybody.get(f"/ladders/{ladder['id']}")["items"]
        if row["bot"] in bot_ids
    ]
    games: Counter[str] = Counter()
    for _, row in rows:
        games[row["bot"]] += row["games"]
    is_done = (
        games.total() >= TOGETHER
        and min(games[bot_id] for bot_id in bot_ids) >= EACH
        and {ladder["game"] for ladder, _ in rows} >= GAMES
        and all(row["strength_error"] is not None for _, row in rows)
    )
    return rows if is_done else []


def write_faster_ladders(path: Path) -> None:
    """Write the packaged ladders with a faster pace after the first 30 matches. Nothing else is changed."""
    path.write_text(re.sub(r"(?m)^daily_matches = \d+$", "daily_matches = 10000", PACKAGED.read_text()))


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def serve_starter_bot(folder: Path) -> Iterator[str]:
    """Run the starter bot, which reads its secret as soon as it is written beside it. Yield its URL."""
    folder.mkdir()
    shutil.copy(ROOT / "bots/python/bot.py", folder)
    port = free_port()
    with running(folder, port, "bot.py", str(port)) as url:
        yield url


@contextmanager
def serve_short_bot(folder: Path) -> Iterator[str]:
    """Run the bot in 20 lines. Yield its URL."""
    folder.mkdir()
    (folder / "mybot.py").write_text(block("bot", PROTOCOL))
    port = free_port()
    with running(folder, port, "mybot.py") as url:
        yield url


@contextmanager
def running(folder: Path, port: int, *command: str) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, *command], cwd=folder, env=surroundings(PORT=str(port)), stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: answers(port), "a bot that listens")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True
