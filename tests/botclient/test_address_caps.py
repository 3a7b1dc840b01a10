"""Caps per address: how many connections are open there, whose turn is next, and that waits cost no thinking time."""

import asyncio
from ipaddress import ip_address

import pytest

from referee.botclient import address_caps
from referee.botclient.address_caps import AddressCaps, Place
from referee.botclient.client import CallLimits
from referee.errors import NoRoom
from referee.match.canonical import Json
from tests.botclient.hostile import (
    Hostile,
    Line,
    Script,
    after_request,
    called,
    caller,
    question,
    response,
    says,
    seat,
    until,
)

ADDRESS = ip_address("93.184.216.34")
LOOPBACK = ip_address("127.0.0.1")


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


async def take_many(caps: AddressCaps, count: int, address: str = str(ADDRESS), owner: str = "a") -> list[Place]:
    return [await caps.take(ip_address(address), owner) for _ in range(count)]


async def is_full(caps: AddressCaps, address: str = str(ADDRESS), owner: str = "a") -> bool:
    try:
        await caps.take(ip_address(address), owner)
    except NoRoom:
        return True
    return False


@pytest.mark.parametrize(
    ("address", "same", "other"),
    [("93.184.216.34", "93.184.216.34", "93.184.216.35"), ("2600:1:2:3::1", "2600:1:2:3:ffff::9", "2600:1:2:4::1")],
)
async def test_A13_an_address_or_a_64_has_places_and_another_has_its_own(address: str, same: str, other: str) -> None:
    caps = AddressCaps(2, wait_s=0)
    first, _ = await take_many(caps, 2, address)
    assert await is_full(caps, same, "another")
    await take_many(caps, 2, other)

    first.release()
    first.release()
    await take_many(caps, 1, same)
    assert await is_full(caps, address)


async def test_A13_no_more_than_so_many_handshakes_begin_in_any_second() -> None:
    clock = Clock()
    caps = AddressCaps(100, per_s=3, wait_s=0, seconds=clock)
    await take_many(caps, 1)
    clock.now_s += 0.5
    for place in await take_many(caps, 2):
        place.release()
    assert await is_full(caps)

    clock.now_s += 0.5  # the first is a second ago
    await take_many(caps, 1)
    assert await is_full(caps)


async def test_A13_who_waits_for_the_rate_is_admitted_when_the_second_is_over() -> None:
    caps = AddressCaps(100, per_s=1, wait_s=30)
    await take_many(caps, 2)


async def test_A13_the_owner_with_the_fewest_connections_is_next() -> None:
    caps = AddressCaps(2)
    places = await take_many(caps, 2, owner="greedy")
    order: list[str] = []

    async def wait(owner: str) -> None:
        await caps.take(ADDRESS, owner)
        order.append(owner)

    tasks = [asyncio.create_task(wait(owner)) for owner in ("greedy", "greedy", "modest")]
    await asyncio.sleep(0)
    places[0].release()
    await until(lambda: len(order) == 1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert order == ["modest"]


async def test_A13_who_gives_up_takes_no_place() -> None:
    caps = AddressCaps(1, wait_s=30)
    (place,) = await take_many(caps, 1)
    waits = asyncio.create_task(caps.take(ADDRESS, "a"))
    await asyncio.sleep(0)
    place.release()  # gives it the place
    waits.cancel()  # before it saw that
    await asyncio.gather(waits, return_exceptions=True)

    assert caps.count(ADDRESS) == 0


async def test_A13_addresses_without_connections_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address_caps, "_SWEPT_ABOVE", 5)

    clock = Clock()
    caps = AddressCaps(1, per_s=1, wait_s=0, seconds=clock)
    (kept,) = await take_many(caps, 1, "93.184.0.1")
    for number in range(2, 50):
        for place in await take_many(caps, 1, f"93.184.0.{number}"):
            place.release()
        clock.now_s += 2

    assert len(caps._states) <= 7
    assert await is_full(caps, "93.184.0.1")
    kept.release()


# -- with real servers --


def counting(answered: asyncio.Event) -> Script:
    """Return a script that answers once ``answered`` is set."""

    async def script(line: Line) -> None:
        while True:
            await line.request()
            await answered.wait()
            await line.send(response())

    return script


async def test_A13_bots_at_one_address_share_its_connections_and_the_wait_is_no_thinking_time() -> None:
    answered, caps = asyncio.Event(), AddressCaps(4)
    limits = CallLimits(caps)
    async with Hostile(counting(answered)) as one, Hostile(counting(answered)) as two:
        # Of many names, ports and bots, at one address.
        names = [f"http://bot{number}.test:{(one, two)[number % 2].port}" for number in range(20)]
        options: Json = {"limits": limits, "look_up": lambda _: ["127.0.0.1"], "max_concurrent_requests": 100}
        callers = [caller(name, **options) for name in names]
        calls = [asyncio.create_task(called(a_caller, 5_000)) for a_caller in callers]
        await until(lambda: one.connections + two.connections == 4)
        assert caps.count(LOOPBACK) == 4
        answered.set()
        assert all(reply.ok for reply in await asyncio.gather(*calls))
        assert caps.count(LOOPBACK) <= 4
        for a_caller in callers:
            a_caller.close()
        await until(lambda: caps.count(LOOPBACK) == 0)


async def test_A13_the_wait_for_a_place_moves_the_deadline_and_is_not_charged() -> None:
    answered, limits = asyncio.Event(), CallLimits(AddressCaps(1))
    async with Hostile(counting(answered)) as slow, Hostile(says(response())) as quick:
        holder, waiter = caller(slow.url, limits=limits), caller(quick.url, limits=limits)
        holding = asyncio.create_task(called(holder, 9_000))
        await until(lambda: len(slow.requests) == 1)
        waiting = asyncio.create_task(called(waiter, 200))
        due = asyncio.get_running_loop().time() + 0.3
        await until(lambda: asyncio.get_running_loop().time() > due)  # its deadline, without the wait
        assert not waiting.done()
        answered.set()

        assert (await waiting).ok
        assert (await holding).ok
        holder.close()
        waiter.close()


async def test_A13_an_idle_connection_gives_way_and_its_bot_is_called_again_later() -> None:
    limits = CallLimits(AddressCaps(1))
    async with Hostile(says(response())) as one, Hostile(says(response())) as two:
        first, second = caller(one.url, limits=limits), caller(two.url, limits=limits)
        for _ in range(3):
            assert (await called(first, 2_000)).ok
            assert (await called(second, 2_000)).ok

        assert (one.connections, two.connections) == (3, 3)
        assert (await called(second, 2_000)).ok
        assert two.connections == 3  # it was kept, since nobody wanted its place
        first.close()
        second.close()


async def test_A13_matches_that_hold_connections_and_want_more_do_not_block_each_other() -> None:
    """Each of ten matches has four seats, and there are fewer places than seats: idle connections give way."""
    limits = CallLimits(AddressCaps(6))

    async def match(url: str) -> bool:
        callers = [caller(url, limits=limits) for _ in range(4)]
        replies = [await called(bot, 5_000) for _ in range(3) for bot in callers]
        for bot in callers:
            bot.close()
        return all(reply.ok for reply in replies)

    async with Hostile(says(response())) as bot:
        assert all(await asyncio.gather(*(match(bot.url) for _ in range(10))))


async def test_A13_a_call_without_a_place_is_our_doing_and_not_a_fault() -> None:
    limits = CallLimits(AddressCaps(1, wait_s=0))
    async with Hostile(after_request(Line.silence)) as tarpit, Hostile(says(response())) as good:
        tarpitted = asyncio.create_task(called(caller(tarpit.url, limits=limits), 9_000))
        await until(lambda: len(tarpit.requests) == 1)

        reply = await called(caller(good.url, limits=limits), 500)
        assert (reply.fault, reply.sent) == ("uplink_down", False)
        with pytest.raises(NoRoom):
            await seat(caller(good.url, limits=limits)).ask(question())
        assert good.connections == 0
        tarpitted.cancel()
        await asyncio.gather(tarpitted, return_exceptions=True)


@pytest.mark.parametrize("script", ["refuses", "closes", "late"])
async def test_A13_failed_calls_return_their_places(script: str) -> None:
    async def closes(line: Line) -> None:
        line.reset()

    caps = AddressCaps(1, wait_s=0)
    async with Hostile(closes if script == "closes" else after_request(Line.silence)) as bot:
        url = "http://127.0.0.1:1024" if script == "refuses" else bot.url
        for _ in range(3):
            reply = await called(caller(url, limits=CallLimits(caps)), 100)
            assert reply.fault in ("unreachable", "deadline")
            await until(lambda: caps.count(LOOPBACK) == 0)
