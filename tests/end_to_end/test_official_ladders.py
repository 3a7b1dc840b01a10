"""An empty service is a league: a registered starter bot plays on the official ladders with nobody else there."""

import re
import shutil
import socket
import sys
from pathlib import Path

from sqlalchemy import func, select

from referee.accounts import accounts
from referee.bots import bots
from referee.ladders.official import PACKAGED
from referee.match.log import parse_row
from referee.match.verification import verify
from referee.matches.tables import MatchSeat, StoredMatch
from referee.protocol.signing import bot_secret
from referee.workflows import waiting
from tests.end_to_end.processes import Process
from tests.end_to_end.service import MASTER_KEY, ROOT, Service

WANTED = 10  # matches
PATIENCE_S = 240.0  # the check, 30 s without a partner, and the matches


def test_a_bot_that_was_only_registered_plays_on_the_official_ladders(service: Service) -> None:
    # Faster than the packaged ladders after the first 30 matches; nothing else is changed.
    service.ladders.write_text(re.sub(r"(?m)^daily_matches = \d+$", "daily_matches = 10000", PACKAGED.read_text()))
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


def finished(service: Service) -> list[StoredMatch]:
    """Return the matches of official ladders whose logs are complete."""
    with service.database.read() as session:
        query = select(StoredMatch).where(StoredMatch.ladder_id.is_not(None), StoredMatch.status == "finished")
        return list(session.scalars(query.order_by(StoredMatch.finished_at)))


def start_starter_bot(folder: Path, service: Service) -> str:
    """Start the starter bot, which reads its secret as soon as it is written beside it. Return its URL."""
    folder.mkdir()
    shutil.copy(ROOT / "bots/python/bot.py", folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
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
