"""Fill a database through the service over it, with bots that hang on request."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp import web
from flask import Flask
from referee.bots.client import CallLimits
from referee.bots.conformance.course import Pace
from referee.bots.guard import Policy
from referee.canonical import Json
from referee.store.db import Database
from referee.store.play import claims
from referee.store.schema import Match, SealedAnswer
from referee.store.upgrading import upgrade
from sqlalchemy import select
from workers.checking import Suite
from workers.holding import Holder
from workers.playing import HandedOver, Playing, play
from workers.recorder import Recorder
from workers.uplink import Uplink

from api import create_app
from referee.settings import Settings
from tests.api.conftest import Person
from tests.store.world import FakeClock, World
from tests.surroundings import MASTER_KEY, settings_for
from tests.upgrade.bot_server import BotServer, NamedBot, WebhookReceiver
from workers.runner import Runner

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
QUICK = Suite(questions=5, told_every_s=0.01, held_every_s=0.02, pace=Pace(idle_s=0.0, scenarios=2, within_s=60.0))
PATIENT = {"budget_ms": 60_000, "bank_ms": 60_000}
LIMIT_S = 60.0

OPTIONS: dict[str, Json] = {  # so short that a log takes little room
    "saint-poker": {"rounds": 1},
    "pool-nap": {"rounds": 1},
    "prince-albert": {"max_rounds": 1},
    "prisoners": {"deals": 1},
    "rummy-royal": {"deals": 1},
}


@dataclass
class Filler:
    """A database with its service, its accounts and its bots."""

    settings: Settings
    database: Database
    app: Flask
    server: BotServer
    people: dict[str, Person] = field(default_factory=dict)
    bots: dict[str, str] = field(default_factory=dict)  # ids by name
    secrets: dict[str, list[str]] = field(default_factory=dict)  # the present one first
    tournaments: dict[str, str] = field(default_factory=dict)  # ids by format and status
    notes: Json = field(default_factory=dict)  # further expectations
    hang_after: dict[str, int] = field(
        default_factory=dict
    )  # decisions by match; 0 by group: when nonces are asked for
    hanging_bots: dict[str, bool] = field(default_factory=dict)  # True: only when asked for decisions
    hanging: set[str] = field(default_factory=set)  # matches, groups and bots that hang now
    decided: dict[str, int] = field(default_factory=dict)  # decisions by match

    @property
    def world(self) -> World:
        return World(self.database)

    def pass_time(self, **how_much: float) -> None:
        assert isinstance(self.database.clock, FakeClock)
        self.database.clock.moment += timedelta(**how_much)

    def ask(self, who: str, method: str, path: str, json: Any = None, status: int | None = None) -> Any:
        answer = self.people[who].ask(method, path, json=json)
        text = answer.get_data(as_text=True)
        assert answer.status_code == status or (status is None and answer.status_code < 300), (path, text)
        return answer.get_json()

    def add_bot(self, name: str, owner: str, kind: str = "first", version: str = "1.0") -> None:
        """Register a bot, served at the path of its name."""
        made = self.ask(owner, "POST", "/bots", {"name": f"Bot {name.title()}", "url": f"{self.server.url}/{name}"})
        self.bots[name], self.secrets[name] = made["id"], [made["secret"]]
        bot = self.server.bots[name] = NamedBot(name, kind, version, made["secret"])
        bot.intercept = self._intercept

    def add_webhook(self, name: str, events: Sequence[str]) -> None:
        body = {"url": f"{self.server.url}/hooks/{name}", "events": list(events)}
        made = self.ask(name, "POST", "/webhooks", body)
        self.server.receivers[name] = WebhookReceiver(made["secret"])

    def match(self, game: str, *names: str, options: Json | None = None, who: str = "olga", **more: Any) -> str:
        body = {"game": game, "bots": [self.bots[name] for name in names], "rated": True, **more}
        return str(self.ask(who, "POST", "/matches", {**body, "options": options or OPTIONS[game]})["id"])

    def due_in(self, tournament_id: str) -> list[str]:
        due = select(Match.id).where(Match.tournament_id == tournament_id, Match.status == "due")
        with self.database.read() as session:
            return list(session.scalars(due.order_by(Match.stage, Match.table_no, Match.leg, Match.id)))

    async def run(self) -> None:
        """Run a runner until nothing is due."""
        tally = await Runner(self.settings, self.database, suite=QUICK).run()
        assert tally.failed == tally.handed_on == 0, tally

    async def play(self, match_ids: Sequence[str], *, hand_over: bool = False) -> None:
        """Play only these matches, one after the other, and those claimed together with them.

        With ``hand_over`` each is given back as soon as it has begun, or after the decisions of ``hang_after``.
        """
        recorder, holder = Recorder(self.database), Holder(self.database)
        holder.start()
        for match_id in match_ids:
            for claim in await recorder.write(claims.claim, 1, match_id=match_id):
                playing = Playing(
                    claim=claim,
                    recorder=recorder,
                    policy=Policy.from_settings(self.settings),
                    limits=CallLimits(),
                    master_key=MASTER_KEY,
                    stopping=lambda id=claim.match_id: hand_over and self._far_enough(id),  # type: ignore[misc]
                    uplink=Uplink(),
                    hold=lambda claim=claim: holder.holding(claim),  # type: ignore[misc]
                    announce=lambda: None,
                )
                try:
                    assert await play(playing) is not hand_over
                except HandedOver:
                    assert hand_over
                    await recorder.write(claims.give_back, [claim])
        holder.stop()

    async def kill_runner(self, *until_hanging: str, sealed: str) -> None:
        """Run a runner as a process until all these matches, groups and bots hang and the match ``sealed`` has a sealed
        answer; then kill it."""
        clock = self.database.clock
        assert isinstance(clock, FakeClock)
        times = clock.moment.isoformat(), str(clock.seconds)
        url = self.database.url.render_as_string(hide_password=False)
        arguments = ["-m", "tests.upgrade.fill", "--runner", url, str(self.settings.data_dir), *times]
        process = await asyncio.create_subprocess_exec(sys.executable, *arguments)
        try:
            await until(lambda: self.hanging.issuperset(until_hanging) and self._has_sealed(sealed))
        finally:
            process.kill()
            await process.wait()

    def _far_enough(self, match_id: str) -> bool:
        return self.decided.get(match_id, 0) >= self.hang_after.get(match_id, 0)

    def _has_sealed(self, match_id: str) -> bool:
        with self.database.read() as session:
            return session.scalar(select(SealedAnswer.seat).where(SealedAnswer.match_id == match_id)) is not None

    async def _intercept(self, name: str, body: Json) -> web.Response | None:
        """Hang if that was requested, otherwise count the decision."""
        match_id = body["match"]["id"] if "decision" in body else ""
        group_id = body["group"]["id"] if body.get("step") == 2 else ""
        if match_id in self.hang_after and self._far_enough(match_id):
            return await self._hang(match_id)
        if group_id in self.hang_after:
            return await self._hang(group_id)
        if name in self.hanging_bots and (match_id or not self.hanging_bots[name]):
            return await self._hang(name)
        self.decided[match_id] = self.decided.get(match_id, 0) + 1
        return None

    async def _hang(self, what: str) -> web.Response:
        self.hanging.add(what)
        await self.server.closing.wait()
        return web.Response(status=503)


async def answer_nonsense(_name: str, body: Json) -> web.Response | None:
    """Answer a question with an action that no game has."""
    if "decision" not in body:
        return None
    return web.json_response({"decision": body["decision"]["id"], "action": {"type": "nonsense"}})


async def until(what: Callable[[], bool]) -> None:
    """Wait until this is true."""
    deadline = asyncio.get_running_loop().time() + LIMIT_S
    while not await asyncio.to_thread(what):
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.05)


async def fill_database(folder: Path, url: str, port: int, fill: Callable[[Filler], Awaitable[None]]) -> Filler:
    """Fill the database at this URL while its bots are served at this port."""
    settings = replace(settings_for(folder), database_url=url)
    database = Database(url, clock=FakeClock(BEGIN))
    upgrade(database)
    app = create_app(settings)
    app.extensions["referee.database"].dispose()
    app.extensions["referee.database"] = database
    server = await BotServer().open(port)
    try:
        filler = Filler(settings, database, app, server)
        await fill(filler)
    finally:
        await server.close()
    return filler


async def run_runner(url: str, folder: str, moment: str, seconds: str) -> None:
    """Run the runner that is going to be killed."""
    clock = FakeClock(datetime.fromisoformat(moment), seconds=float(seconds))
    settings = replace(settings_for(Path(folder)), database_url=url)
    await Runner(settings, Database(url, clock=clock), suite=QUICK).run()
