"""Outages of our own network: distinguished from failing bots, with a fake clock; matches wait for its end."""

import asyncio
import errno
import socket
from collections.abc import Sequence
from functools import partial
from typing import Self

import pytest
from aiohttp import web

from referee.botclient.name_lookup import is_resolver_working
from referee.botclient.reply import Reply, Timing
from tests.workers.conftest import Clock, First, Scripted, World, hang_up, until
from workers.connectivity import MAX_TOTAL_S, WINDOW_S, Canary, Connectivity, has_route, is_unconnected
from workers.runner import Runner


def failing(uplink: Connectivity, *owners: str) -> float:
    for owner in owners:
        uplink.record_call(owner)
        failed_at = uplink.record_failure(owner)
    return failed_at


def test_K22_the_line_is_down_when_bots_of_three_owners_fail_and_nobody_answers() -> None:
    clock = Clock()
    uplink = Connectivity(clock)

    failed_at = failing(uplink, "a", "b")
    assert uplink.verdict(failed_at) == "fault"  # two owners: too few to decide
    uplink.record_call("c")
    assert uplink.verdict(failed_at) == "unclear"
    uplink.record_failure("c")
    assert uplink.verdict(failed_at) == "down"

    clock.now_s += MAX_TOTAL_S - 10
    in_the_outage = failing(uplink, "a", "b", "c")
    assert uplink.verdict(in_the_outage) == "down"
    clock.now_s += 1
    uplink.record_success()
    assert not uplink.is_down
    assert uplink.verdict(in_the_outage) == "down"  # asked again, since the outage is over
    clock.now_s += 1
    failed_at = failing(uplink, "a")
    clock.now_s += 1
    uplink.record_success()
    assert uplink.verdict(failed_at) == "fault"

    clock.now_s += 1
    assert uplink.verdict(failing(uplink, "a", "b", "c")) == "down"
    clock.now_s += 9
    assert uplink.verdict(failing(uplink, "a", "b", "c")) == "fault"  # the limit for all outages


def test_K22_K23_only_what_never_had_a_connection_tells_of_the_line() -> None:
    assert is_unconnected(Reply("unreachable"))
    assert is_unconnected(Reply("dns_failed"))
    assert is_unconnected(Reply("deadline", timing=Timing(connect_ms=900.0)))
    assert is_unconnected(Reply("deadline", timing=Timing(wait_ms=900.0), sent=True))  # on the connection before
    assert not is_unconnected(Reply("deadline", timing=Timing(wait_ms=900.0), connected=True))
    assert not is_unconnected(Reply("bad_status", status=500))
    assert is_unconnected(Reply("unreachable", sent=True))  # on a connection that was open before
    assert not is_unconnected(Reply("unreachable", sent=True, dialled=True))


class Line:
    """The network to all bots: cut once three questions are pending, and restored later."""

    def __init__(self) -> None:
        self.is_up = True
        self.under_way = 0
        self.cut = asyncio.Event()

    async def fall(self, bots: Sequence[Scripted]) -> None:
        """Break open connections and refuse new ones."""
        for bot in bots:
            await bot.stop_listening()
        self.cut.set()

    async def rise(self, bots: Sequence[Scripted]) -> None:
        self.is_up = True
        for bot in bots:
            await bot.listen()

    async def __call__(self, request: web.Request) -> web.Response | None:
        if self.is_up:
            return None
        self.under_way += 1
        await self.cut.wait()
        return hang_up(request)


@pytest.mark.parametrize(("matches", "is_one_owner"), [(3, False), (1, False), (1, True)])
async def test_K22_matches_wait_without_a_fault_until_the_bots_can_be_reached_again(
    world: World, matches: int, is_one_owner: bool
) -> None:
    """With bots of fewer than three owners, the canary decides."""
    found, line = [True], Line()
    bots = [Scripted(line) for _ in range(2 * matches)]
    uplink = Connectivity(canary=canary_of(found) if matches == 1 else None, probe_s=0.05)

    async with world.houses(*bots):
        if is_one_owner:
            world.give_to_one_owner(world.bot_ids)
        ids = [world.arrange("pool-nap", world.bot_ids[at : at + 2]) for at in range(0, len(bots), 2)]
        async with world.running(connectivity=uplink, to_the_end=True):
            await until(lambda: all(bot.decisions > 3 for bot in bots))
            line.is_up, found[0] = False, False
            await until(lambda: line.under_way == matches)
            await line.fall(bots)
            await until(lambda: uplink.is_down if matches > 1 else uplink.waited_s > 0)
            await line.rise(bots)
            found[0] = True
        assert not uplink.is_down

    assert {world.status(match_id) for match_id in ids} == {"finished"}
    assert [world.faults(match_id) for match_id in ids] == [[0, 0]] * matches
    assert world.differences() == []


class Sly(First):
    """A bot that answers a question, reads the next, hangs up and refuses calls for a moment, repeatedly."""

    def __init__(self) -> None:
        super().__init__()
        self.read = self.hung_up = 0

    async def _decide(self, request: web.Request) -> web.Response:
        is_first = request.headers["Referee-Attempt"] == "1"
        self.read += is_first
        if self.read % 2:
            return await super()._decide(request)
        if is_first:
            self.hung_up += 1
            await self.stop_listening()
            asyncio.get_running_loop().call_later(0.1, lambda: asyncio.ensure_future(self.listen()))
        return hang_up(request)


async def test_bots_of_three_owners_that_read_a_question_and_hang_up_are_let_off_once(world: World) -> None:
    sly = [Sly(), Sly(), Sly()]

    async with world.houses(*sly):
        match_id = world.arrange("saint-poker", world.bot_ids, options={"rounds": 4})
        await asyncio.wait_for(run_with(world, Connectivity(probe_s=0.1)), 60)

    assert min(house.hung_up for house in sly) > 1
    assert all(faults >= bot.hung_up - 1 for faults, bot in zip(world.faults(match_id), sly, strict=True))


async def run_with(world: World, uplink: Connectivity) -> None:
    await Runner(world.settings, world.database, connectivity=uplink).run()


class Names:
    """A resolver that finds every name on loopback. While it is ``down``, ``failures`` questions fail."""

    def __init__(self, *lost: str, failures: int = 20) -> None:
        self.lost = lost
        self.failures = failures
        self.down = False

    def __call__(self, host: str) -> list[str]:
        if self.down and host in self.lost:
            self.failures -= 1
            self.down = self.failures > 0
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return ["127.0.0.1"]


class Named(First):
    """A bot with a host name."""

    def __init__(self, host: str) -> None:
        super().__init__()
        self.host = host

    async def start(self, host: str, port: int) -> Self:
        await super().start(host, port)
        self.url = self.url.replace("127.0.0.1", self.host)
        return self


@pytest.mark.parametrize(
    ("names", "is_charged"),
    [(Names("bot1.test", "canary.test"), False), (Names("bot1.test", failures=4), True)],
    ids=["the canary is not found either", "the canary is found"],
)
async def test_K23_a_name_that_is_not_found_is_a_fault_only_while_the_canary_is_found(
    world: World, monkeypatch: pytest.MonkeyPatch, names: Names, is_charged: bool
) -> None:
    monkeypatch.setattr("referee.botclient.address_guard.system_look_up", names)
    canary = partial(is_resolver_working, "canary.test", names)

    async with world.houses(Named("bot1.test"), Named("bot2.test")):
        match_id = world.arrange("pool-nap", world.bot_ids, options={"rounds": 1})
        names.down = True
        await asyncio.wait_for(run_with(world, Connectivity(canary=canary, probe_s=0.01)), 60)

    assert not names.failures
    charged, innocent = world.faults(match_id)
    assert (charged > 0, innocent) == (is_charged, 0)


async def test_K23_a_handshake_without_a_resolver_is_not_recorded(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names("bot1.test", "canary.test", failures=1000)
    names.down = True
    monkeypatch.setattr("referee.botclient.address_guard.system_look_up", names)
    monkeypatch.setattr("referee.botclient.name_lookup.system_look_up", names)
    bot = world.enlist("http://bot1.test:9000")

    await world.run(dns_canary="canary.test")

    assert (world.bot(bot.id).handshake_state, world.bot(bot.id).handshake_report) == ("running", None)
    assert names.failures < 1000


def canary_of(answers: list[bool]) -> Canary:
    """Return a canary that is found or not, in this order, and then as at last."""

    async def is_found() -> bool:
        return answers.pop(0) if len(answers) > 1 else answers[0]

    return is_found


async def test_K22_K23_the_resolver_is_at_fault_for_ten_minutes_at_most() -> None:
    clock = Clock()
    uplink = Connectivity(clock, canary=canary_of([False]))

    while await uplink.is_resolver_down():
        uplink.record_success()  # bots with open connections answer meanwhile
        clock.now_s += 5
    assert clock.now_s == MAX_TOTAL_S

    clock.now_s += 3600
    assert not await uplink.is_resolver_down()
    assert not await Connectivity(Clock()).is_resolver_down()  # without a canary, the answers of other bots decide


@pytest.mark.parametrize("owners", [("a",), ("a", "b")])
async def test_K22_with_bots_of_few_owners_the_canary_decides(owners: Sequence[str]) -> None:
    clock = Clock()
    uplink = Connectivity(clock, canary=canary_of([True, False]))

    for is_down in (False, True):
        failed_at = failing(uplink, *owners)
        assert uplink.verdict(failed_at) == "fault"
        assert await uplink.is_network_down(failed_at) is is_down
    clock.now_s += 1
    uplink.record_success()
    assert not await uplink.is_network_down(failed_at)


async def test_K22_with_bots_of_three_owners_the_canary_does_not_count() -> None:
    clock = Clock()
    uplink = Connectivity(clock, canary=canary_of([False]))
    uplink.record_call("b")
    uplink.record_call("c")
    failed_at = failing(uplink, "a")
    assert uplink.verdict(failed_at) == "unclear"

    clock.now_s += WINDOW_S
    for owner in "abc":
        uplink.record_call(owner)

    assert uplink.verdict(failed_at) == "fault"
    assert not await uplink.is_network_down(failed_at)


@pytest.mark.parametrize("owners", [["a"], ["a", "b", "c", "d"]])
async def test_K22_without_a_route_no_bot_is_charged_for_ten_minutes_however_few_owners_there_are(
    owners: Sequence[str],
) -> None:
    clock, routed = Clock(), False
    uplink = Connectivity(clock, has_route=lambda: routed)
    for owner in owners:
        uplink.record_call(owner)
    failed_at = uplink.record_failure(owners[0])

    assert await uplink.is_network_down(failed_at)
    routed = True
    assert not await uplink.is_network_down(failed_at)
    routed = False
    clock.now_s += 1
    uplink.record_success()  # of a bot in a local network, for example
    assert not await uplink.is_network_down(failed_at)

    clock = Clock()
    uplink = Connectivity(clock, has_route=lambda: False)
    uplink.record_call("a")
    while await uplink.is_network_down(uplink.record_failure("a")):
        clock.now_s += 5
    assert clock.now_s == MAX_TOTAL_S


@pytest.mark.parametrize(
    ("error", "routed"), [(errno.ENETUNREACH, False), (errno.ENETDOWN, False), (errno.EMFILE, True), (None, True)]
)
def test_K22_the_kernel_says_which_host_has_no_route(
    error: int | None, routed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(sock: socket.socket, address: tuple[str, int]) -> None:
        if error is not None:
            raise OSError(error, "no")

    monkeypatch.setattr(socket.socket, "connect", connect)

    assert has_route() is routed
