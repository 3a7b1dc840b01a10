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
from referee.house.players import find_player
from referee.house.server import House
from tests.workers.conftest import Scripted, World
from tests.workers.test_runner import seats_of, until
from workers.connectivity import MAX_TOTAL_S, WINDOW_S, Canary, Connectivity, has_route, is_unconnected
from workers.runner import Runner


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


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

    clock.now += MAX_TOTAL_S - 10
    in_the_outage = failing(uplink, "a", "b", "c")
    assert uplink.verdict(in_the_outage) == "down"
    clock.now += 1
    uplink.record_success()
    assert not uplink.is_down
    assert uplink.verdict(in_the_outage) == "down"  # asked again, since the outage is over
    clock.now += 1
    failed_at = failing(uplink, "a")
    clock.now += 1
    uplink.record_success()
    assert uplink.verdict(failed_at) == "fault"

    clock.now += 1
    assert uplink.verdict(failing(uplink, "a", "b", "c")) == "down"
    clock.now += 9
    assert uplink.verdict(failing(uplink, "a", "b", "c")) == "fault"  # the limit for all outages


def test_one_dead_bot_among_others_that_say_nothing_is_at_fault_after_a_while() -> None:
    clock = Clock()
    uplink = Connectivity(clock)
    uplink.record_call("b")
    uplink.record_call("c")
    failed_at = failing(uplink, "a")
    assert uplink.verdict(failed_at) == "unclear"

    clock.now += WINDOW_S
    uplink.record_call("b")
    uplink.record_call("c")

    assert uplink.verdict(failed_at) == "fault"


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
        self._ports: list[tuple[House, int]] = []

    async def fall(self, houses: Sequence[House]) -> None:
        """Break open connections and refuse new ones."""
        for house in houses:
            assert house._runner is not None
            self._ports.append((house, house._runner.addresses[0][1]))
            for site in list(house._runner.sites):
                await site.stop()
        self.cut.set()

    async def rise(self) -> None:
        self.is_up = True
        for house, port in self._ports:
            assert house._runner is not None
            await web.TCPSite(house._runner, "127.0.0.1", port).start()
        self._ports.clear()

    async def __call__(self, request: web.Request) -> web.Response | None:
        if self.is_up:
            return None
        self.under_way += 1
        await self.cut.wait()
        assert request.transport is not None
        request.transport.abort()
        return web.Response()


def test_K22_matches_wait_without_a_fault_until_the_bots_can_be_reached_again(world: World) -> None:
    async def story() -> list[str]:
        line = Line()
        async with world.houses(*(Scripted(line) for _ in range(6))) as houses:
            ids = [world.arrange("pool-nap", world.bot_ids[at : at + 2]) for at in (0, 2, 4)]
            uplink = Connectivity(probe_s=0.05)
            running = asyncio.create_task(Runner(world.settings, world.database, connectivity=uplink).run())
            await until(lambda: all(house.decisions > 3 for house in houses))
            line.is_up = False
            await until(lambda: line.under_way == 3)
            await line.fall(houses)
            await until(lambda: uplink.is_down)
            await line.rise()
            await running
            assert not uplink.is_down
        return ids

    ids = asyncio.run(story())

    assert [[seat.faults for seat in seats_of(world, match_id)] for match_id in ids] == [[0, 0]] * 3
    assert world.differences() == []


class Sly(House):
    """A bot that answers a question, reads the next, hangs up and refuses calls for a moment, repeatedly."""

    def __init__(self) -> None:
        super().__init__("first", find_player("first"))
        self.read = self.hung_up = 0

    async def _decide(self, request: web.Request) -> web.Response:
        if request.headers["Referee-Attempt"] == "1":
            self.read += 1
        if self.read % 2:
            return await super()._decide(request)
        if request.headers["Referee-Attempt"] == "1":
            self.hung_up += 1
            assert self._runner is not None
            for site in list(self._runner.sites):
                await site.stop()
            asyncio.get_running_loop().call_later(0.1, lambda: asyncio.ensure_future(self._listen_again()))
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def _listen_again(self) -> None:
        if self._runner is not None:
            await web.TCPSite(self._runner, "127.0.0.1", int(self.url.rpartition(":")[2])).start()


def test_bots_of_three_owners_that_read_a_question_and_hang_up_are_let_off_once(world: World) -> None:
    async def story() -> tuple[str, list[int]]:
        sly = [Sly(), Sly(), Sly()]
        async with world.houses(*sly):
            match_id = world.arrange("saint-poker", world.bot_ids, options={"rounds": 4})
            await asyncio.wait_for(
                Runner(world.settings, world.database, connectivity=Connectivity(probe_s=0.1)).run(), 60
            )
            return match_id, [house.hung_up for house in sly]

    match_id, hung_up = asyncio.run(story())

    assert min(hung_up) > 1
    assert all(seat.faults >= times - 1 for seat, times in zip(seats_of(world, match_id), hung_up, strict=True))


def test_bots_of_three_owners_that_hang_up_on_every_call_cut_nobodys_line(world: World) -> None:
    async def story() -> str:
        line = Line()
        line.cut.set()
        async with world.houses(*(Scripted(line) for _ in range(3))):
            match_id = world.arrange("saint-poker", world.bot_ids, options={"rounds": 1})
            line.is_up = False  # each question is read, then the connection is dropped; a new one is always taken
            await asyncio.wait_for(
                Runner(world.settings, world.database, connectivity=Connectivity(probe_s=0.05)).run(), 60
            )
        return match_id

    match_id = asyncio.run(story())

    assert all(seat.faults for seat in seats_of(world, match_id))


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


class Named(House):
    """A bot with a host name."""

    def __init__(self, host: str) -> None:
        super().__init__("first", find_player("first"))
        self.host = host

    async def start(self, host: str, port: int) -> Self:
        await super().start(host, port)
        self.url = self.url.replace("127.0.0.1", self.host)
        return self


def faults_with(world: World, names: Names, connectivity: Connectivity) -> list[int]:
    """Play a match of two bots whose names are looked up when the resolver is down, and count their faults."""

    async def story() -> str:
        async with world.houses(Named("bot1.test"), Named("bot2.test")):
            match_id = world.arrange("pool-nap", world.bot_ids, options={"rounds": 1})
            names.down = True
            await asyncio.wait_for(Runner(world.settings, world.database, connectivity=connectivity).run(), 60)
        return match_id

    match_id = asyncio.run(story())
    assert not names.failures
    return [seat.faults for seat in seats_of(world, match_id)]


def test_K23_a_name_that_is_not_found_while_the_canary_is_not_found_either_is_no_fault(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names("bot1.test", "canary.test")
    monkeypatch.setattr("referee.botclient.address_guard.system_look_up", names)
    canary = partial(is_resolver_working, "canary.test", names)

    assert faults_with(world, names, Connectivity(canary=canary, probe_s=0.01)) == [0, 0]


def test_K23_a_name_that_is_not_found_while_the_canary_is_found_is_a_fault(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names("bot1.test", failures=4)
    monkeypatch.setattr("referee.botclient.address_guard.system_look_up", names)
    canary = partial(is_resolver_working, "canary.test", names)

    charged, innocent = faults_with(world, names, Connectivity(canary=canary, probe_s=0.01))

    assert (charged > 0, innocent) == (True, 0)


def test_K23_a_handshake_during_an_outage_of_the_resolver_is_not_recorded(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names("bot1.test", "canary.test", failures=1000)
    names.down = True
    monkeypatch.setattr("referee.botclient.address_guard.system_look_up", names)
    monkeypatch.setattr("referee.botclient.name_lookup.system_look_up", names)
    bot = world.enlist("http://bot1.test:9000")

    asyncio.run(world.run(dns_canary="canary.test"))

    assert (world.bot(bot.id).handshake_state, world.bot(bot.id).handshake_report) == ("running", None)
    assert names.failures < 1000


def test_K22_K23_the_resolver_is_at_fault_for_ten_minutes_at_most() -> None:
    clock = Clock()

    async def is_found() -> bool:
        return False

    async def story() -> tuple[float, bool]:
        uplink = Connectivity(clock, canary=is_found)
        began = clock.now
        while await uplink.is_resolver_down():
            uplink.record_success()  # bots with open connections answer meanwhile
            clock.now += 5
        lasted = clock.now - began
        clock.now += 3600
        return lasted, await uplink.is_resolver_down()

    assert asyncio.run(story()) == (MAX_TOTAL_S, False)


def canary_of(answers: list[bool]) -> Canary:
    """Return a canary that is found or not, in this order, and then as at last."""

    async def is_found() -> bool:
        return answers.pop(0) if len(answers) > 1 else answers[0]

    return is_found


@pytest.mark.parametrize("owners", [("a",), ("a", "b")])
def test_K22_with_bots_of_few_owners_the_canary_decides(owners: Sequence[str]) -> None:
    async def story() -> list[bool]:
        clock = Clock()
        uplink = Connectivity(clock, canary=canary_of([True, False]))
        found = []
        for _ in range(2):
            failed_at = failing(uplink, *owners)
            assert uplink.verdict(failed_at) == "fault"
            found.append(await uplink.is_network_down(failed_at))
        clock.now += 1
        uplink.record_success()
        return [*found, await uplink.is_network_down(failed_at)]

    assert asyncio.run(story()) == [False, True, False]


def test_K22_with_bots_of_three_owners_the_canary_does_not_count() -> None:
    async def story() -> bool:
        clock = Clock()
        uplink = Connectivity(clock, canary=canary_of([False]))
        uplink.record_call("b")
        uplink.record_call("c")
        failed_at = failing(uplink, "a")
        assert uplink.verdict(failed_at) == "unclear"
        clock.now += WINDOW_S
        for owner in "abc":
            uplink.record_call(owner)
        assert uplink.verdict(failed_at) == "fault"
        return await uplink.is_network_down(failed_at)

    assert not asyncio.run(story())


@pytest.mark.parametrize("owners", [1, 2])
def test_K22_matches_of_few_owners_wait_while_the_canary_is_not_found(world: World, owners: int) -> None:
    found = [True]

    async def story() -> str:
        line = Line()
        async with world.houses(Scripted(line), Scripted(line)) as houses:
            if owners == 1:
                world.give_to_one_owner(world.bot_ids)
            match_id = world.arrange("pool-nap", world.bot_ids)
            uplink = Connectivity(canary=canary_of(found), probe_s=0.05)
            running = asyncio.create_task(Runner(world.settings, world.database, connectivity=uplink).run())
            await until(lambda: all(house.decisions > 3 for house in houses))
            line.is_up, found[0] = False, False
            await until(lambda: line.under_way == 1)
            await line.fall(houses)
            await until(lambda: uplink.waited_s > 0)
            await line.rise()
            found[0] = True
            await running
        return match_id

    match_id = asyncio.run(story())

    assert [seat.faults for seat in seats_of(world, match_id)] == [0, 0]
    assert world.match(match_id).status == "finished"
    assert world.differences() == []


def test_K23_without_a_canary_the_answers_of_other_bots_decide() -> None:
    assert not asyncio.run(Connectivity(Clock()).is_resolver_down())


@pytest.mark.parametrize("owners", [["a"], ["a", "b", "c", "d"]])
def test_K22_without_a_route_no_bot_is_charged_however_few_owners_there_are(owners: Sequence[str]) -> None:
    async def story() -> list[bool]:
        clock, routed = Clock(), [False]
        uplink = Connectivity(clock, has_route=lambda: routed[0])
        for owner in owners:
            uplink.record_call(owner)
        failed_at = uplink.record_failure(owners[0])
        found = [await uplink.is_network_down(failed_at)]
        routed[0] = True
        found.append(await uplink.is_network_down(failed_at))
        routed[0] = False
        clock.now += 1
        uplink.record_success()  # of a bot in a local network, for example
        found.append(await uplink.is_network_down(failed_at))
        return found

    assert asyncio.run(story()) == [True, False, False]


def test_K22_matches_wait_for_a_route_for_ten_minutes_at_most() -> None:
    async def story() -> int:
        clock = Clock()
        uplink = Connectivity(clock, has_route=lambda: False)
        uplink.record_call("a")
        waits = 0
        while await uplink.is_network_down(uplink.record_failure("a")):
            clock.now += 5
            waits += 1
        return waits

    assert asyncio.run(story()) == MAX_TOTAL_S // 5


@pytest.mark.parametrize(
    ("error", "routed"), [(errno.ENETUNREACH, False), (errno.ENETDOWN, False), (errno.EMFILE, True), (None, True)]
)
def test_K22_a_host_without_a_route_is_one_whose_kernel_says_so(
    error: int | None, routed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(sock: socket.socket, address: tuple[str, int]) -> None:
        if error is not None:
            raise OSError(error, "no")

    monkeypatch.setattr(socket.socket, "connect", connect)

    assert has_route() is routed
