"""Run the service of today on a restored and upgraded fixture: its command line, its API, its scheduler and runners."""

import asyncio
import threading
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from referee.cli import main
from referee.conformance.context import Pace
from referee.db.engine import Database
from referee.ladders.official import load_official_ladders
from referee.match.canonical import Json
from referee.matches import claims
from referee.settings import Settings
from referee.workflows.log_signing import SigningReport
from tests.api.conftest import Person
from tests.database.world import FakeClock
from tests.surroundings import settings_for
from tests.upgrade import stored
from tests.upgrade.bot_server import BotServer, NamedBot, WebhookReceiver
from tests.upgrade.restoring import replace_address
from workers.bot_checks import CheckParameters
from workers.runner import Runner, RunnerCounters
from workers.scheduler import Scheduler

DOWNTIME = timedelta(hours=1)  # of the service, for the upgrade
PATIENT = {"budget_ms": 60_000, "bank_ms": 60_000}  # so that a busy machine causes no faults
PACE = Pace(budget_ms=60_000, bank_ms=60_000, notice_ms=60_000, idle_s=0.0, scenarios=2, time_limit_s=60.0)
QUICK = CheckParameters(questions=5, pace=PACE)
SWEEP_S = 0.1
IDLE_SWEEPS = 50  # after these, nothing more is expected to happen


@dataclass
class Upgraded:
    """A fixture that was upgraded by the command line, served one hour after it was filled."""

    folder: Path
    url: str
    expected: Json
    app: Flask
    database: Database = field(init=False)
    in_progress: list[str] = field(default_factory=list)  # matches, before the upgrade
    refused: Result | None = None  # the first attempt to upgrade, while matches were in progress
    cancelled: Result | None = None  # the second, which cancelled them
    signed: SigningReport | None = None  # of the logs of matches that had ended

    def __post_init__(self) -> None:
        filled = self.expected["clock"]
        moment = datetime.fromisoformat(filled["moment"]) + DOWNTIME
        clock = FakeClock(moment, seconds=filled["seconds"] + DOWNTIME.total_seconds())
        self.database = Database(self.url, clock=clock)

    @property
    def settings(self) -> Settings:
        key = bytes.fromhex(self.expected["master_key"])
        return replace(settings_for(self.folder), database_url=self.url, master_key=key)

    def referee(self, *arguments: str) -> Result:
        """Run a command on this database."""
        surroundings = {"DATABASE_URL": self.url, "REFEREE_MASTER_KEY": self.expected["master_key"]}
        return CliRunner(env={"REFEREE_DATA": str(self.folder), **surroundings}).invoke(main, arguments)

    def upgrade(self) -> None:
        """Upgrade as an operator does: the first attempt is refused and names the option of the second."""
        self.in_progress = stored.in_progress(self.database)
        self.refused = self.referee("admin", "upgrade")
        self.cancelled = self.referee("admin", "upgrade", "--cancel-running")

    def client(self) -> FlaskClient:
        """Let the application serve this database, and return a client of it."""
        self.app.extensions["referee.database"] = self.database
        return self.app.test_client()

    def person(self, name: str) -> Person:
        known = self.expected["tokens"][name]
        return Person(self.client(), known["account"], known["token"])

    def post(self, name: str, path: str, body: Any = None) -> Json:
        """Return the answer to a POST, or an empty one when it was refused."""
        answer = self.person(name).post(path, body)
        found: Json = answer.get_json() if answer.status_code < 300 else {}
        return found

    def move_bots(self, address: str) -> None:
        """Move all bots and receivers to this address; only before the upgrade."""
        replace_address(self.database, self.expected["address"], address)

    def bot(self, name: str) -> str:
        return str(self.expected["bots"][name]["id"])

    def bot_server(self) -> BotServer:
        """Return the bots and receivers of the fixture with the secrets that their owners were shown.

        Where secrets were rotated, the bot ``cy`` has the new one; the bot ``bo`` and the receiver ``ada`` have the
        former one.
        """
        known, secrets = self.expected["bots"], self.expected["receivers"]
        bots = {
            name: NamedBot(name, one["kind"], one["version"], one["secrets"][-1 if name == "bo" else 0])
            for name, one in known.items()
        }
        return BotServer(bots, {name: WebhookReceiver(secret) for name, secret in secrets.items()})


@dataclass
class Outcome:
    """Hold what happened while everything in progress was finished."""

    server: BotServer
    tallies: list[RunnerCounters]
    new_match: str | None


async def finish_everything(service: Upgraded, server: BotServer) -> Outcome:
    """Resume what is paused, end what does not end by itself, retry what is stuck, and play until nothing is left.

    Leave what fails as it is: the tests find it.
    """
    for name, tournament_id in service.expected["tournaments"].items():
        if name.endswith("paused"):
            service.post("otto", f"/tournaments/{tournament_id}/resume")
        if name in ("ladder running", "ladder paused"):
            service.post("otto", f"/tournaments/{tournament_id}/finish")
    service.referee("admin", "retry", service.expected["stuck_match"])
    tallies = await _work(service)
    seated = [service.bot(name) for name in ("ada", "bo")]
    wanted = {"game": "saint-poker", "bots": seated, "options": {"rounds": 1}, "rated": True, "time": PATIENT}
    new_match = service.post("olga", "/matches", wanted).get("id")
    return Outcome(server, [*tallies, *await _work(service)], new_match)


async def _work(service: Upgraded) -> list[RunnerCounters]:
    """Run a scheduler without Redis, and one runner after the other, until nothing is left or nothing happens."""
    nowhere = Redis(unix_socket_path=str(service.folder / "nowhere"), retry=Retry(NoBackoff(), 0))
    scheduler = Scheduler(service.database, nowhere, service.settings.master_key, load_official_ladders())
    stopped = threading.Event()
    sweeping = asyncio.create_task(asyncio.to_thread(scheduler.run, stopped, every_s=SWEEP_S))
    tallies: list[RunnerCounters] = []
    seen, idle = stored.left_to_do(service.database), 0
    while seen and idle < IDLE_SWEEPS:
        for match_id in await asyncio.to_thread(_alone, service.database):
            tallies.append(await _runner(service).run(match_id=match_id))
        tallies.append(await _runner(service).run())
        await asyncio.sleep(SWEEP_S)
        left = await asyncio.to_thread(stored.left_to_do, service.database)
        seen, idle = left, idle + 1 if left == seen else 0
    stopped.set()
    await sweeping
    return tallies


def _runner(service: Upgraded) -> Runner:
    return Runner(service.settings, service.database, suite=QUICK)


def _alone(database: Database) -> list[str]:
    """Return the matches that need a runner of their own."""
    with database.read() as session:
        return claims.find_due_work(session).isolated
