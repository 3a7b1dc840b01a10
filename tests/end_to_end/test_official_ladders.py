"""An empty service is a league: a bot that is only registered plays on the official ladders with nobody else there."""

import re
import shutil
import socket
import subprocess
import sys
import time
from math import isfinite
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from referee.accounts import accounts
from referee.bots import bots
from referee.cli.api_client import Api
from referee.ladders.official import PACKAGED
from referee.match.log import parse_row
from referee.match.verification import verify
from referee.matches.tables import MatchSeat, StoredMatch
from referee.protocol.signing import bot_secret
from referee.workflows import waiting
from tests.cli.running import service as running_service
from tests.cli.running import surroundings
from tests.end_to_end.processes import Process, until
from tests.end_to_end.service import MASTER_KEY, ROOT, Service
from tests.test_docs import block

WANTED = 10  # matches
PATIENCE_S = 420.0  # the check, 30 s without a partner, and the matches


def test_a_bot_that_was_only_registered_plays_on_the_official_ladders(service: Service) -> None:
    write_faster_ladders(service.ladders)
    service.redis()
    service.scheduler()
    service.worker()

    bot_id = register(service, start_starter_bot(service.folder / "bot", service))
    service.until(lambda: len(finished(service)) >= WANTED, f"{WANTED} matches of the ladders", PATIENCE_S)

    played = finished(service)
    assert {match.game for match in played} >= {"pool-nap", "saint-poker"}
    for match in played:
        report = verify(service.lines(match.id))
        assert (report.ok, report.reason) == (True, ""), match.id
        assert not [row for row in map(parse_row, service.lines(match.id)) if "fault" in row], match.id
        with service.database.read() as session:
            seated = set(session.scalars(select(MatchSeat.bot_id).where(MatchSeat.match_id == match.id)))
        assert bot_id in seated
        assert match.ladder_id is not None
    with service.database.read() as session:
        told = waiting.explain_waiting(session, bot_id, runner_slots=100)
        assert len({match.ladder_id for match in told.matches} | {one.ladder_id for one in told.ladders}) == 5
    assert service.differences() == []


def test_the_bot_of_the_readme_gets_a_rating_with_its_error_by_being_registered(tmp_path: Path) -> None:
    ladders = tmp_path / "ladders.toml"
    write_faster_ladders(ladders)
    allowed = {"REFEREE_EGRESS_ALLOW": "127.0.0.1/32:1024-65535"}
    (tmp_path / "mybot.py").write_text(block("bot"))
    port = free_port()
    bot_process = subprocess.Popen(
        [sys.executable, "mybot.py"], cwd=tmp_path, env=surroundings(PORT=str(port)), stderr=subprocess.DEVNULL
    )
    try:
        with running_service(tmp_path / "data", REFEREE_LADDERS=str(ladders), **allowed) as up, Api(up.url) as anybody:
            token = anybody.post("/accounts", {"name": "Ada"})["token"]["token"]
            with Api(up.url, token) as owner:
                bot = owner.post("/bots", {"name": "My bot", "url": f"http://127.0.0.1:{port}"})
            (tmp_path / "secret.txt").write_text(bot["secret"])

            found = until(lambda: rated_rows(anybody, bot["id"]), f"ratings after {WANTED} matches", PATIENCE_S)

            changes: list[dict[str, Any]] = []
            for ladder, row in found:
                assert (ladder["official"], ladder["members"]) == (True, 1)
                assert isfinite(row["error"])
                assert 0 < row["error"] < 600
                changes += anybody.items(f"/ladders/{ladder['id']}/history?bot={bot['id']}")
            assert len(changes) >= WANTED
            for change in changes:
                lines = anybody.fetch(f"/api/v1/matches/{change['match']}/log").splitlines()
                report = verify(lines)
                assert (report.ok, report.revealed, report.reason) == (True, True, ""), change
                assert not [row for row in map(parse_row, lines) if "fault" in row], change
                assert anybody.get(f"/matches/{change['match']}")["rated"]
    finally:
        bot_process.kill()
        bot_process.wait()


def rated_rows(anybody: Api, bot_id: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the ladders of the bot with its rows, once it has enough matches and every row has an error."""
    time.sleep(0.5)  # between two looks, because a service limits the requests of an address
    rows = [
        (ladder, row)
        for ladder in anybody.items("/ladders")
        for row in anybody.get(f"/ladders/{ladder['id']}")["items"]
        if row["bot"] == bot_id
    ]
    is_done = sum(row["games"] for _, row in rows) >= WANTED and all(row["error"] is not None for _, row in rows)
    return rows if is_done else []


def write_faster_ladders(path: Path) -> None:
    """Write the packaged ladders with a faster pace after the first 30 matches. Nothing else is changed."""
    path.write_text(re.sub(r"(?m)^daily_matches = \d+$", "daily_matches = 10000", PACKAGED.read_text()))


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def finished(service: Service) -> list[StoredMatch]:
    """Return the matches of official ladders whose logs are complete."""
    with service.database.read() as session:
        query = select(StoredMatch).where(StoredMatch.ladder_id.is_not(None), StoredMatch.status == "finished")
        return list(session.scalars(query.order_by(StoredMatch.finished_at)))


def start_starter_bot(folder: Path, service: Service) -> str:
    """Start the starter bot, which reads its secret as soon as it is written beside it. Return its URL."""
    folder.mkdir()
    shutil.copy(ROOT / "bots/python/bot.py", folder)
    port = free_port()
    command = [sys.executable, str(folder / "bot.py"), str(port)]
    bot = Process.start("starter", command, service.environment, folder)
    service.processes.append(bot)
    service.until(lambda: "plays at" in bot.tail(), "the start of the bot")
    return f"http://127.0.0.1:{port}"


def register(service: Service, url: str) -> str:
    """Register the bot as ``POST /bots`` does, and give it its secret. Nothing else is done for it."""
    with service.database.write() as session:
        owner = accounts.create_account(session, "Ada")
        bot = bots.register(session, owner.id, "Ada starter", url)
        secret = bot_secret(MASTER_KEY, bot.id, bot.secret_generation)
        (service.folder / "bot" / "secret.txt").write_text(secret)
        assert session.scalars(select(func.count()).select_from(StoredMatch)).one() == 0
        return bot.id
