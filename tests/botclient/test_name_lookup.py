"""Look-ups of names: fair turns of owners, shared look-ups, and silent name servers that delay nobody else."""

import asyncio
import resource
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from referee.botclient import name_lookup
from referee.botclient.name_lookup import (
    LATE_FOR_S,
    MAX_THREADS,
    MAX_THREADS_PER_OWNER,
    MAX_TURNS,
    LookUps,
    is_resolver_working,
)
from referee.errors import Unavailable
from referee.settings import Settings
from tests.botclient.hostile import called, caller

ADDRESS = "127.0.0.1"


class Resolver:
    """A resolver that answers immediately, except for names that begin with ``silent``, which wait for ``end``."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.silent = 0  # threads that wait
        self.most_silent = 0
        self.over = threading.Event()
        self._lock = threading.Lock()

    def __call__(self, host: str) -> Sequence[str]:
        with self._lock:
            self.asked.append(host)
        if host.startswith("silent"):
            with self._lock:
                self.silent += 1
                self.most_silent = max(self.most_silent, self.silent)
            self.over.wait(60)
            with self._lock:
                self.silent -= 1
        return [ADDRESS]

    async def until_silent(self, threads: int) -> None:
        while self.silent < threads:  # noqa: ASYNC110  # told by threads
            await asyncio.sleep(0.001)

    @asynccontextmanager
    async def waiting_for(
        self, ups: LookUps, *pairs: tuple[str, str]
    ) -> AsyncIterator[list[asyncio.Task[Sequence[str]]]]:
        """Look names up for owners while the block runs, then let all answers arrive."""
        tasks = [asyncio.create_task(ups.find(host, self, owner)) for owner, host in pairs]
        try:
            await asyncio.sleep(0)
            yield tasks
        finally:
            self.over.set()
            await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody give up by the clock of this machine."""
    monkeypatch.setattr(name_lookup, "LOOK_UP_SECONDS", 60.0)


async def test_A12_silent_names_of_one_owner_delay_nobody_else() -> None:
    resolver, ups = Resolver(), LookUps()
    async with resolver.waiting_for(ups, *(("evil", f"silent{number}.test") for number in range(40))):
        await resolver.until_silent(MAX_THREADS_PER_OWNER)

        assert await ups.find("good.test", resolver, "good") == [ADDRESS]

        assert resolver.most_silent == MAX_THREADS_PER_OWNER


async def test_A12_owners_take_turns() -> None:
    resolver, ups = Resolver(), LookUps(max_turns=1)
    names = [("a", "silent.test"), *(("a", f"a{number}.test") for number in range(9)), ("b", "b.test")]
    async with resolver.waiting_for(ups, *names):
        await resolver.until_silent(1)
    assert resolver.asked.index("b.test") <= 2


@pytest.mark.parametrize("waves", [1, 2, 3])
async def test_A12_silent_names_of_forty_accounts_do_not_keep_a_look_up_of_another_waiting(waves: int) -> None:
    accounts, names_each = 40, 6

    async def give_up(ups: LookUps, resolver: Resolver, account: int, host: str) -> None:
        with pytest.raises((TimeoutError, Unavailable)):
            await ups.find(host, resolver, f"evil{account}", until=asyncio.get_running_loop().time() + 0.05)

    resolver, ups = Resolver(), LookUps()
    for wave in range(waves - 1):  # they are late, and their threads stay
        names = [(account, f"silent-{wave}-{n}-{account}.test") for n in range(names_each) for account in range(40)]
        await asyncio.gather(*(give_up(ups, resolver, *name) for name in names))
    names_now = [(f"evil{a}", f"silent-{a}-{n}.test") for n in range(names_each) for a in range(accounts)]
    before = resolver.silent
    async with resolver.waiting_for(ups, *names_now) as tasks:
        await resolver.until_silent(before + 1 if before < 80 else before)

        for owner in ("fresh", "another", "fresh"):
            assert await ups.find(f"{owner}.test", resolver, owner) == [ADDRESS]

        assert not any(task.done() for task in tasks)
        assert ups._turns <= MAX_TURNS // 2 + 1
        assert ups._threads.total() <= MAX_THREADS - MAX_TURNS // 2  # others have room


async def make_late(resolver: Resolver, ups: LookUps, owner: str) -> None:
    """Let a look-up of the owner take too long, and then get its answer."""
    with pytest.raises(TimeoutError):
        await ups.find(f"silent-{owner}.test", resolver, owner, until=asyncio.get_running_loop().time() + 0.05)
    resolver.over.set()
    while ups._threads:  # noqa: ASYNC110  # told by threads
        await asyncio.sleep(0.001)
    resolver.over.clear()


async def test_A12_an_owner_who_was_late_goes_behind_and_is_forgiven_later() -> None:
    now_s = 1000.0
    resolver, ups = Resolver(), LookUps(max_turns=2, seconds=lambda: now_s)
    await make_late(resolver, ups, "forgiven")
    now_s += LATE_FOR_S
    await make_late(resolver, ups, "late")
    assert list(ups._late) == ["late"]  # the other was forgotten

    async with resolver.waiting_for(ups, ("a", "silent-a.test")):
        await resolver.until_silent(1)
        late = asyncio.create_task(ups.find("late.test", resolver, "late"))
        await asyncio.sleep(0)
        assert await ups.find("fresh.test", resolver, "fresh") == [ADDRESS]
        assert await ups.find("other.test", resolver, "forgiven") == [ADDRESS]
        assert not late.done()  # the place that is left is for others
    await late
    assert resolver.asked[-1] == "late.test"


async def test_A12_a_late_owner_gets_a_turn_before_late_owners_who_have_one() -> None:
    resolver, ups = Resolver(), LookUps(max_turns=2)
    for owner in ("evil", "unlucky"):
        await make_late(resolver, ups, owner)

    names = [("evil", f"silent-{number}.test") for number in range(5)]
    async with resolver.waiting_for(ups, *names, ("unlucky", "unlucky.test")) as tasks:
        await resolver.until_silent(1)
        tasks[0].cancel()  # ends its turn, while its thread goes on
        assert await tasks[-1] == [ADDRESS]
    assert resolver.asked.index("unlucky.test") == 3


async def test_A12_calls_to_one_name_share_a_look_up_whoever_makes_them() -> None:
    resolver, ups = Resolver(), LookUps()
    names = [("a", "silent.test"), ("a", "silent.test"), ("b", "silent.test")]
    async with resolver.waiting_for(ups, *names) as tasks:
        await resolver.until_silent(1)
    assert [task.result() for task in tasks] == [[ADDRESS]] * 3
    await ups.find("silent.test", resolver, "a")  # the next is another
    assert resolver.asked == ["silent.test"] * 2


async def test_A12_a_name_is_not_held_up_by_the_other_names_of_an_owner_who_asked_for_it_too() -> None:
    resolver, ups = Resolver(), LookUps(max_threads_per_owner=1)
    async with resolver.waiting_for(ups, ("evil", "silent.test"), ("evil", "good.test")):
        await resolver.until_silent(1)

        assert await ups.find("good.test", resolver, "good") == [ADDRESS]


async def test_A12_a_look_up_that_everybody_gave_up_keeps_no_turn_but_counts_for_its_owner() -> None:
    resolver, ups = Resolver(), LookUps(max_turns=1, max_threads_per_owner=1)
    async with resolver.waiting_for(ups, ("evil", "silent.test")) as tasks:
        await resolver.until_silent(1)
        tasks[0].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

        assert await ups.find("good.test", resolver, "good") == [ADDRESS]
        with pytest.raises(TimeoutError):  # its own names are in the way, which is nobody else's fault
            await ups.find("other.test", resolver, "evil", until=asyncio.get_running_loop().time())

    assert "other.test" not in resolver.asked
    assert await ups.find("other.test", resolver, "evil") == [ADDRESS]


async def test_A12_a_look_up_without_a_turn_is_our_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver, ups = Resolver(), LookUps(max_turns=1)
    monkeypatch.setattr("referee.botclient.address_guard.look_ups", lambda: ups)
    async with resolver.waiting_for(ups, ("evil", "silent.test")):
        await resolver.until_silent(1)
        with pytest.raises(Unavailable):
            await ups.find("good.test", resolver, "good", until=asyncio.get_running_loop().time())

        reply = await called(caller("http://good.test:9000", look_up=resolver), 50)

        assert (reply.fault, reply.unresolved) == ("uplink_down", True)


async def test_K24_a_process_without_threads_blames_no_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", full)
    reply = await called(caller("http://good.test:9000", look_up=Resolver()))
    assert (reply.fault, "thread" in reply.detail) == ("uplink_down", True)


async def test_K24_a_process_without_file_descriptors_blames_no_bot() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # open files remain open, and no number is free
    try:
        reply = await called(caller("http://nowhere.invalid:9000"), 3000)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert (reply.fault, "Too many open files" in reply.detail) == ("uplink_down", True)


async def test_K23_the_canary_shows_whether_the_resolver_answers() -> None:
    answers: dict[Exception | None, bool] = {
        None: True,
        socket.gaierror(socket.EAI_NONAME, "no such name"): True,  # an answer of the resolver
        socket.gaierror(socket.EAI_AGAIN, "no answer"): False,
        OSError("no descriptors"): False,
    }
    for error, is_working in answers.items():

        def look_up(host: str, error: Exception | None = error) -> list[str]:
            if error is not None:
                raise error
            return [ADDRESS]

        assert (await is_resolver_working("canary.test", look_up)) is is_working, error


async def test_a_reply_says_whether_the_call_ended_at_the_look_up() -> None:
    resolver = Resolver()
    silent = await called(caller("http://silent.test:9000", look_up=resolver), 50)
    resolver.over.set()
    refused = await called(caller("http://good.test:9001", look_up=resolver))
    assert (silent.unresolved, refused.unresolved) == (True, False)


def test_K23_the_canary_is_the_public_name_of_the_service_unless_another_is_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REFEREE_DATA", str(tmp_path))
    local = ("http://127.0.0.1:8000", "http://[::1]:8000", "http://localhost:8000")  # found without a resolver
    canaries = {"https://referee.example.org:8443/x": "referee.example.org", **dict.fromkeys(local, "")}
    for public_url, canary in canaries.items():
        monkeypatch.setenv("REFEREE_PUBLIC_URL", public_url)
        assert Settings.load().dns_canary == canary

    monkeypatch.setenv("REFEREE_DNS_CANARY", "example.net")
    assert Settings.load().dns_canary == "example.net"
    monkeypatch.setenv("REFEREE_DNS_CANARY", "")
    assert Settings.load().dns_canary == ""
