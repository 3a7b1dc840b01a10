"""Checks by a runner: outcome, progress, and that nothing is lost when a runner ends half-way."""

import time
from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest
from aiohttp import web

from referee.bots import bots, certificates
from referee.bots.tables import Check
from referee.conformance.context import Pace
from referee.match.canonical import Json
from tests.workers.conftest import Holding, Scripted, World, until
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
BOTH = certificates.current_rules_versions(GAMES)


async def well(_request: web.Request) -> None:
    return None


class Modest(Scripted):
    """A house bot whose manifest names two games."""

    version = VERSION

    async def _manifest(self, request: web.Request) -> web.Response:
        of_bot = {"protocol": "2", "name": "modest", "version": self.version, "max_concurrent_requests": 2}
        return web.json_response(of_bot | {"games": GAMES})


class Restless(Modest):
    """A house bot whose manifest names another version every time but the first."""

    async def _manifest(self, request: web.Request) -> web.Response:
        shown = await super()._manifest(request)
        self.version = f"8.{time.monotonic_ns()}"
        return shown


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


async def errs_in_poker(request: web.Request) -> web.Response | None:
    """Bid and play correctly, but take cards that are not there."""
    asked = await request.json()
    if asked["match"]["game"] != "saint-poker":
        return None
    return web.json_response({"decision": asked["decision"]["id"], "action": {"type": "river", "card": "Zz"}})


async def check(world: World, bot: Modest, suite: CheckParameters = QUICK, **more: Any) -> RunnerCounters:
    """Register a bot and let a runner check it."""
    async with world.houses(bot, version=VERSION):
        world.request_check(world.bot_ids[0])
        return await Runner(world.settings, world.database, suite=suite, **more).run()


def row_of(world: World) -> Check:
    return world.get_one(Check, world.bot_ids[0])


def certified(world: World) -> tuple[Json | None, list[str]]:
    """Return (what is certified now, how earlier certificates ended)."""
    (bot_id,) = world.bot_ids
    with world.database.read() as session:
        present = certificates.current_certificate(session, bots.get_bot(session, bot_id))
        all_of_it = certificates.list_certificates(session, bot_id).items
    return present.rules if present else None, [one.ended_reason for one in all_of_it if one.ended_reason]


def report_of(world: World) -> Json:
    report = row_of(world).report
    assert report is not None
    return report


def failures(world: World) -> set[str]:
    return {finding["id"] for finding in report_of(world)["findings"] if finding["severity"] == "fail"}


@pytest.mark.parametrize("make", [lambda: Modest(well), Ahead], ids=["punctual", "an hour ahead"])
async def test_K19_a_registered_bot_is_checked_and_gets_a_certificate_for_its_games(world: World, make: Any) -> None:
    tally = await check(world, make())

    assert (tally.handshakes, tally.checks) == (1, 1)
    assert certified(world) == (BOTH, ["replaced"])
    report, row = report_of(world), row_of(world)
    assert report["verdict"] == "pass"
    assert report["latency"].keys() == {"total", "resolve", "connect", "wait", "read"}
    assert report["coverage"].keys() == {*GAMES}
    assert (row.state, row.version) == ("idle", VERSION)


async def test_K19_a_check_while_our_clock_is_wrong_is_not_recorded(world: World) -> None:
    wrong_s = 0.0

    async def jump(_request: web.Request) -> None:
        nonlocal wrong_s
        wrong_s = 3600.0

    clock = ClockWatch(lambda: time.monotonic() + wrong_s, time.monotonic)
    await check(world, Modest(jump), connectivity=Connectivity(clock=clock))

    assert wrong_s
    assert (row_of(world).state, row_of(world).report) == ("running", None)


async def test_a_bot_that_fails_in_one_game_is_certified_for_the_other_and_sees_why(world: World) -> None:
    bot = Modest(errs_in_poker)

    await check(world, bot)

    assert certified(world) == ({"pool-nap": BOTH["pool-nap"]}, ["replaced"])
    assert failures(world) == {"decision"}
    failed = [finding for finding in report_of(world)["findings"] if finding["severity"] == "fail"]
    assert all(finding["where"].startswith("saint-poker") for finding in failed)
    assert all(finding["came"] and finding["advice"] for finding in failed)
    assert any("REFEREE_BOT_SECRET" in finding["curl"] for finding in failed)
    assert bot.secret
    assert bot.secret not in str(report_of(world))


async def test_how_far_it_is_shows_while_it_goes_on_and_a_stop_gives_it_back(world: World) -> None:
    holding = Holding()

    def progress() -> tuple[str, int, int, str]:
        row = row_of(world)
        return row.state, row.questions_sent, row.questions_total, row.current_step

    async with world.houses(Modest(holding), version=VERSION):
        world.request_check(world.bot_ids[0])
        patient = replace(QUICK, pace=replace(QUICK.pace, budget_ms=60_000))
        async with world.running(suite=patient):
            await holding.until_asked()
            await until(lambda: progress() == ("running", 0, QUICK.questions, "saint-poker"))
            row = row_of(world)
            assert row.report is None
            before = row.lease_until or 0
            await until(lambda: (row_of(world).lease_until or 0) > before)
        row = row_of(world)
        assert (row.state, row.lost_claims, row.lease_until) == ("due", 0, None)
        holding.released.set()
        await Runner(world.settings, world.database, suite=QUICK).run()

    assert certified(world) == (BOTH, ["replaced"])


async def test_a_bot_that_is_too_slow_is_told_so_and_not_called_for_ever(world: World) -> None:
    holding = Holding()
    brief = replace(QUICK, pace=replace(QUICK.pace, time_limit_s=0.2, budget_ms=60_000))

    async with world.houses(Modest(holding), version=VERSION):
        world.request_check(world.bot_ids[0])
        await Runner(world.settings, world.database, suite=brief).run()
        holding.released.set()

    assert failures(world) == {"in_time"}
    assert certified(world) == (None, ["failed"])


async def test_a_bot_that_is_replaced_meanwhile_gets_no_certificate_and_is_not_checked_forever(world: World) -> None:
    tally = await check(world, Restless(well))

    assert (tally.handshakes, tally.checks) == (1, 1)
    assert certified(world)[0] is None
    assert failures(world) == {"same_version"}
    assert row_of(world).version == world.bot(world.bot_ids[0]).version
    assert row_of(world).rules == {}  # the new version is checked after its next handshake
