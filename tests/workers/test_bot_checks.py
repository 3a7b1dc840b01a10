"""Checks by a runner: outcome, progress, and that nothing is lost when a runner ends half-way."""

import asyncio
import time
from dataclasses import replace
from email.utils import formatdate
from typing import Any

from aiohttp import web

from referee.bots import bots, certificates
from referee.bots.tables import Check
from referee.conformance.context import Pace
from referee.match.canonical import Json
from tests.workers.conftest import Scripted, World
from tests.workers.test_runner import Holding, until
from workers.bot_checks import CheckParameters
from workers.clock_watch import ClockWatch
from workers.connectivity import Connectivity
from workers.runner import Runner
from workers.runner_counters import RunnerCounters

VERSION = "7"
GAMES = ["saint-poker", "pool-nap"]
QUICK = CheckParameters(
    questions=4, told_every_s=0.01, held_every_s=0.02, pace=Pace(idle_s=0.0, scenarios=2, time_limit_s=60.0)
)


class Modest(Scripted):
    """A house bot whose manifest names two games."""

    async def _manifest(self, request: web.Request) -> web.Response:
        manifest = {"protocol": "2", "name": "modest", "version": VERSION, "games": GAMES, "max_concurrent_requests": 2}
        return web.json_response(manifest)


class Restless(Modest):
    """A house bot whose manifest names another version every time but the first."""

    called = 0

    async def _manifest(self, request: web.Request) -> web.Response:
        self.called += 1
        version = VERSION if self.called == 1 else f"8.{self.called}"
        manifest = {"protocol": "2", "name": "modest", "version": version, "games": GAMES, "max_concurrent_requests": 2}
        return web.json_response(manifest)


async def well(_request: web.Request) -> None:
    return None


async def errs_in_poker(request: web.Request) -> web.Response | None:
    """Bid and play correctly, but take cards that are not there."""
    asked = await request.json()
    if asked["match"]["game"] != "saint-poker":
        return None
    return web.json_response({"decision": asked["decision"]["id"], "action": {"type": "river", "card": "Zz"}})


async def checked(world: World, suite: CheckParameters = QUICK) -> RunnerCounters:
    return await Runner(world.settings, world.database, suite=suite).run()


def row_of(world: World, bot_id: str) -> Check:
    with world.database.read() as session:
        return session.get_one(Check, bot_id)


def progress_of(row: Check) -> tuple[str, int, int, str]:
    return row.state, row.questions_sent, row.questions_total, row.current_step


def certified(world: World, bot_id: str) -> tuple[Json | None, list[str]]:
    """Return (what is certified now, how earlier certificates ended)."""
    with world.database.read() as session:
        present = certificates.current_certificate(session, bots.get_bot(session, bot_id))
        all_of_it = certificates.list_certificates(session, bot_id).items
    return present.rules if present else None, [one.ended_reason for one in all_of_it if one.ended_reason]


def ask(world: World, bot_id: str) -> None:
    with world.database.write() as session:
        bots.request_handshake(session, bot_id, with_check=True)


def report_of(world: World, bot_id: str) -> Json:
    report = row_of(world, bot_id).report
    assert report is not None
    return report


def test_a_registered_bot_is_checked_and_gets_a_certificate_for_its_games(world: World) -> None:
    async def story() -> RunnerCounters:
        async with world.houses(Modest(well), version=VERSION):
            await asyncio.to_thread(ask, world, world.bot_ids[0])
            return await checked(world)

    tally = asyncio.run(story())

    (bot_id,) = world.bot_ids
    assert (tally.handshakes, tally.checks) == (1, 1)
    assert certified(world, bot_id) == (certificates.current_rules_versions(GAMES), ["replaced"])
    report = report_of(world, bot_id)
    assert report["verdict"] == "pass"
    assert report["latency"].keys() == {"total", "resolve", "connect", "wait", "read"}
    assert report["coverage"].keys() == {*GAMES}
    row = row_of(world, bot_id)
    assert (row.state, row.version) == ("idle", VERSION)


class Ahead(Modest):
    """A bot whose clock, with its ``Date``, is an hour ahead, and which checks the time of signatures."""

    def __init__(self) -> None:
        super().__init__(well)
        self.now = lambda: time.time() + 3600

    async def _read_signed_body(self, request: web.Request) -> Any:
        try:
            return await super()._read_signed_body(request)
        except web.HTTPUnauthorized as refused:
            refused.headers["Date"] = formatdate(self.now(), usegmt=True)
            raise


def test_K19_a_bot_whose_clock_differs_passes_its_check(world: World) -> None:
    async def story() -> None:
        async with world.houses(Ahead(), version=VERSION):
            await asyncio.to_thread(ask, world, world.bot_ids[0])
            await checked(world)

    asyncio.run(story())

    (bot_id,) = world.bot_ids
    assert report_of(world, bot_id)["verdict"] == "pass"


def test_K19_a_check_while_our_clock_is_wrong_is_not_recorded(world: World) -> None:
    wrong_s = [0.0]
    clock = ClockWatch(lambda: time.monotonic() + wrong_s[0], time.monotonic)

    async def jump(_request: web.Request) -> None:
        wrong_s[0] = 3600.0

    async def story() -> Json | None:
        async with world.houses(Modest(jump), version=VERSION):
            before = row_of(world, world.bot_ids[0]).report
            await asyncio.to_thread(ask, world, world.bot_ids[0])
            uplink = Connectivity(clock=clock)
            await Runner(world.settings, world.database, connectivity=uplink, suite=QUICK).run()
            return before

    before = asyncio.run(story())

    row = row_of(world, world.bot_ids[0])
    assert wrong_s[0]
    assert (row.state, row.report) == ("running", before)


def test_a_bot_that_fails_in_one_game_is_certified_for_the_other_and_sees_why(world: World) -> None:
    async def story() -> str:
        async with world.houses(Modest(errs_in_poker), version=VERSION) as (house,):
            await asyncio.to_thread(ask, world, world.bot_ids[0])
            await checked(world)
            assert house.secret
            return house.secret

    secret = asyncio.run(story())

    (bot_id,) = world.bot_ids
    assert certified(world, bot_id) == (certificates.current_rules_versions(["pool-nap"]), ["replaced"])
    report = report_of(world, bot_id)
    failed = [finding for finding in report["findings"] if finding["severity"] == "fail"]
    assert {finding["id"] for finding in failed} == {"decision"}
    assert all(finding["where"].startswith("saint-poker") for finding in failed)
    assert all(finding["came"] and finding["advice"] for finding in failed)
    assert any("REFEREE_BOT_SECRET" in finding["curl"] for finding in failed)
    assert secret not in str(report)


def test_how_far_it_is_shows_while_it_goes_on_and_a_stop_gives_it_back(world: World) -> None:
    holding = Holding()

    async def story() -> None:
        async with world.houses(Modest(holding), version=VERSION):
            (bot_id,) = world.bot_ids
            await asyncio.to_thread(ask, world, bot_id)
            patient = replace(QUICK, pace=replace(QUICK.pace, budget_ms=60_000))
            runner = Runner(world.settings, world.database, suite=patient)
            running = asyncio.create_task(runner.run())
            await until(
                lambda: (
                    bool(holding.asked)
                    and progress_of(row_of(world, bot_id)) == ("running", 0, QUICK.questions, "saint-poker")
                )
            )
            row = row_of(world, bot_id)
            assert row.report is None
            before = row.lease_until or 0
            await until(lambda: (row_of(world, bot_id).lease_until or 0) > before)
            runner.stop()
            await running
            row = row_of(world, bot_id)
            assert (row.state, row.lost_claims, row.lease_until) == ("due", 0, None)
            holding.released.set()
            await checked(world)

    asyncio.run(story())

    assert certified(world, world.bot_ids[0]) == (certificates.current_rules_versions(GAMES), ["replaced"])


def test_a_bot_that_is_too_slow_is_told_so_and_not_called_for_ever(world: World) -> None:
    holding = Holding()

    async def story() -> None:
        async with world.houses(Modest(holding), version=VERSION):
            await asyncio.to_thread(ask, world, world.bot_ids[0])
            await checked(world, replace(QUICK, pace=replace(QUICK.pace, time_limit_s=0.2, budget_ms=60_000)))
            holding.released.set()

    asyncio.run(story())

    (bot_id,) = world.bot_ids
    report = report_of(world, bot_id)
    assert [finding["id"] for finding in report["findings"] if finding["severity"] == "fail"] == ["in_time"]
    assert certified(world, bot_id) == (None, ["failed"])


def test_a_bot_that_is_replaced_meanwhile_gets_no_certificate_and_is_not_checked_forever(world: World) -> None:
    async def story() -> RunnerCounters:
        async with world.houses(Restless(well), version=VERSION):
            await asyncio.to_thread(ask, world, world.bot_ids[0])
            return await checked(world)

    tally = asyncio.run(story())

    (bot_id,) = world.bot_ids
    assert (tally.handshakes, tally.checks) == (1, 1)
    assert certified(world, bot_id)[0] is None
    report = report_of(world, bot_id)
    assert [finding["id"] for finding in report["findings"] if finding["severity"] == "fail"] == ["same_version"]
    with world.database.read() as session:
        assert row_of(world, bot_id).version == bots.get_bot(session, bot_id).version
    assert row_of(world, bot_id).rules == {}  # the new version is checked after its next handshake
