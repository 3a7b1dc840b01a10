"""A wrong clock of ours: what proves it, and that matches wait for its end without a fault."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any, NoReturn

import pytest
from aiohttp import web
from sqlalchemy import select

from referee.botclient.reply import Reply
from referee.matches.tables import Fault
from tests.workers.conftest import SHORT, First, World, until
from workers.clock_watch import MAX_WRONG_S, ClockWatch
from workers.connectivity import Connectivity
from workers.runner import Runner

HOUR_S = 3600.0
BOOTED_AT_S = time.time() - time.monotonic()


@dataclass
class Host:
    """A host whose wall clock can be set. Bots live elsewhere and know the time."""

    later_s: float = 0.0  # added to both clocks
    wrong_s: float = 0.0
    server_ahead_s: float | None = None

    def boot_s(self) -> float:
        return time.monotonic() + self.later_s

    def watch(self) -> ClockWatch:
        return ClockWatch(lambda: BOOTED_AT_S + self.boot_s() + self.wrong_s, self.boot_s, lambda: self.server_ahead_s)


REFUSAL = Reply("bad_status", status=401)


@pytest.mark.parametrize("wrong_s", [HOUR_S, -HOUR_S])
def test_K19_a_jump_of_the_clock_is_noticed_for_ten_minutes_and_forgotten_when_it_is_undone(wrong_s: float) -> None:
    host = Host()
    clock = host.watch()
    assert clock.ahead_s() == 0

    host.wrong_s = wrong_s
    assert clock.ahead_s() == pytest.approx(wrong_s)
    host.later_s += MAX_WRONG_S - 1
    assert clock.ahead_s() == pytest.approx(wrong_s)
    host.wrong_s = 0.0
    assert clock.ahead_s() == 0
    host.wrong_s = wrong_s
    assert clock.ahead_s() == pytest.approx(wrong_s)
    host.later_s += MAX_WRONG_S
    assert clock.ahead_s() == 0  # from now on, the clock is taken as it is
    host.later_s += 100 * MAX_WRONG_S
    assert clock.ahead_s() == 0


def test_K19_a_server_that_disagrees_shows_that_the_clock_was_wrong_from_the_start() -> None:
    host = Host(server_ahead_s=-HOUR_S)
    clock = host.watch()

    assert clock.ahead_s() == -HOUR_S
    host.later_s += MAX_WRONG_S
    assert clock.ahead_s() == 0
    host.later_s += MAX_WRONG_S
    assert clock.ahead_s() == 0


def test_K19_a_bot_that_accepts_the_clock_as_it_is_does_not_refuse_because_of_it() -> None:
    host = Host()
    uplink = Connectivity(clock=host.watch())
    right = uplink.clock.read()
    host.wrong_s = HOUR_S
    wrong = uplink.clock.read()

    uplink.clock.record_accepted("lazy", wrong)
    uplink.clock.record_accepted("strict", right)  # asked before the jump, answered after it

    assert [uplink.is_our_clock(bot, REFUSAL, right) for bot in ("lazy", "strict", "unknown")] == [False, True, True]
    assert not uplink.is_our_clock("strict", Reply("bad_status", status=403), wrong)
    host.wrong_s = 0.0
    assert uplink.is_our_clock("strict", REFUSAL, wrong)  # the call was made when the clock was still wrong
    assert not uplink.is_our_clock("strict", REFUSAL, uplink.clock.read())


def test_K19_K22_a_certificate_that_is_not_valid_now_is_no_fault_while_the_clock_is_wrong() -> None:
    host = Host()
    uplink = Connectivity(clock=host.watch())
    expired, unknown = Reply("tls_failed", untimely=True), Reply("tls_failed")
    right = uplink.clock.read()

    assert not uplink.is_our_clock("bot", expired, right)
    host.wrong_s = HOUR_S
    assert uplink.is_our_clock("bot", expired, right)
    assert not uplink.is_our_clock("bot", unknown, right)
    host.later_s += MAX_WRONG_S
    assert not uplink.is_our_clock("bot", expired, uplink.clock.read())


def test_two_owners_whose_bots_agree_about_the_time_make_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    clock = Host().watch()

    for owner, ahead_s in (("a", -HOUR_S), ("a", -HOUR_S), ("b", 7.0 * HOUR_S), ("c", -HOUR_S + 2)):
        clock.record_bot_clock(owner, ahead_s)

    assert [(record.levelname, vars(record)["owners"]) for record in caplog.records] == [
        ("INFO", 1),
        ("INFO", 1),
        ("WARNING", 2),
    ]


class Strict(First):
    """A bot that checks the time of signatures. A refusal has no valid ``Date`` unless ``date`` gives one."""

    def __init__(self, date: Callable[[], str] = lambda: "today") -> None:
        super().__init__()
        self.refused = 0
        self.date = date

    async def _read_signed_body(self, request: web.Request) -> Any:
        try:
            return await super()._read_signed_body(request)
        except web.HTTPUnauthorized:
            self.refuse()

    def refuse(self) -> NoReturn:
        self.refused += 1
        raise web.HTTPUnauthorized(headers={"Date": self.date()})


def date_in(seconds: float) -> Callable[[], str]:
    return lambda: formatdate(time.time() + seconds, usegmt=True)


def no_faults(world: World) -> None:
    assert world.scalars(select(Fault)) == []
    assert {(bot.status, bot.unreachable_streak) for bot in map(world.bot, world.bot_ids)} == {("verified", 0)}


@pytest.mark.parametrize(("owners", "wrong_s"), [(1, HOUR_S), (2, -HOUR_S)])
async def test_K19_when_the_clock_jumps_in_mid_match_the_match_waits_and_nobody_is_charged(
    world: World, owners: int, wrong_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    host, bots = Host(), [Strict(), Strict()]

    async with world.houses(*bots, "first", "first"):
        if owners == 1:
            world.give_to_one_owner(world.bot_ids[:2])
        ids = [world.arrange("pool-nap", world.bot_ids[:2]) for _ in range(2)]
        async with world.running(connectivity=Connectivity(clock=host.watch(), probe_s=0.01), to_the_end=True):
            await until(lambda: all(bot.decisions > 3 for bot in bots))
            host.wrong_s = wrong_s
            await until(lambda: bots[0].refused + bots[1].refused > 8)
            others = world.arrange("pool-nap", world.bot_ids[2:], options=SHORT)
            await world.until_finished(others)  # only the matches concerned wait
            assert {world.status(match_id) for match_id in ids} == {"running"}
            host.wrong_s = 0.0

    assert {world.status(match_id) for match_id in ids} == {"finished"}
    no_faults(world)
    assert [record.levelname for record in caplog.records if record.getMessage() == "host_clock_wrong"] == ["WARNING"]


class Jumping(Strict):
    """A strict bot after whose promise of a nonce the clock of the host jumps."""

    def __init__(self, host: Host) -> None:
        super().__init__()
        self.host = host

    async def _notify(self, request: web.Request) -> web.Response:
        answer = await super()._notify(request)
        if b'"step":1' in await request.read():
            self.host.wrong_s = HOUR_S
        return answer


async def test_K19_an_opening_during_which_the_clock_jumps_waits_and_no_bot_withheld_its_nonce(world: World) -> None:
    host = Host()
    jumping = Jumping(host)

    async with world.houses(jumping, Strict()):
        match_id = world.arrange("pool-nap", world.bot_ids, options=SHORT)
        async with world.running(connectivity=Connectivity(clock=host.watch(), probe_s=0.01), to_the_end=True):
            await until(lambda: jumping.refused > 1)
            host.wrong_s = 0.0

    assert world.status(match_id) == "finished"
    reveal = world.rows(match_id)[-1]
    assert (reveal["openings"], reveal["accepted"]) == ([], [True, True])
    no_faults(world)


async def test_K19_a_bot_with_a_date_plays_on_whichever_clock_is_wrong_and_from_the_start(world: World) -> None:
    host, bots = Host(), [Strict(date_in(0)) for _ in range(2)]

    async with world.houses(*bots):
        match_id = world.arrange("pool-nap", world.bot_ids, options=SHORT)
        host.wrong_s = HOUR_S
        uplink = Connectivity(clock=host.watch())  # no witness: the clock was wrong before
        await Runner(world.settings, world.database, connectivity=uplink).run()

    assert world.status(match_id) == "finished"
    # The first call of the opening; all later calls were signed with the time of the bot.
    assert [bot.refused for bot in bots] == [1, 1]
    no_faults(world)


async def test_K19_a_handshake_that_is_refused_while_the_clock_is_wrong_is_not_recorded(world: World) -> None:
    host, stranger = Host(), Strict()
    await stranger.start("127.0.0.1", 0)
    stranger.secret = world.secret_of(world.enlist(stranger.url))
    uplink = Connectivity(clock=host.watch())
    host.wrong_s = HOUR_S

    await Runner(world.settings, world.database, connectivity=uplink).run()
    await stranger.close()

    (bot,) = map(world.bot, world.bot_ids)
    assert stranger.refused == 1
    assert (bot.handshake_state, bot.handshake_report) == ("running", None)


class Liar(Strict):
    """A bot that refuses every question, with the same false date as its accomplices."""

    async def _decide(self, request: web.Request) -> web.Response:
        self.refuse()


async def test_K19_bots_of_many_accounts_that_refuse_signatures_with_false_dates_are_charged_as_usual(
    world: World,
) -> None:
    liars = [Liar(date_in(HOUR_S)) for _ in range(10)]

    async with world.houses("first", "first", *liars):
        ids = [world.arrange("pool-nap", world.bot_ids[at : at + 2], options=SHORT) for at in range(2, 12, 2)]
        mixed = [world.arrange("pool-nap", [bot, world.bot_ids[2]], options=SHORT) for bot in world.bot_ids[:2]]
        uplink = Connectivity(clock=Host().watch(), probe_s=1000.0)  # a match that waited would never end
        await asyncio.wait_for(Runner(world.settings, world.database, connectivity=uplink).run(), 120)

    assert all(all(world.faults(match_id)) for match_id in ids)
    assert all((innocent, liar > 0) == (0, True) for innocent, liar in map(world.faults, mixed))
