"""A host without usable certificate authorities: no bot is charged, and its matches wait until there are some."""

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

import pytest
from aiohttp import web

from referee.botclient import connection
from referee.botclient.connection import system_tls
from referee.errors import NoAuthorities
from referee.house.players import find_player
from referee.house.server import House
from tests.botclient.test_addresses import CERTS, server_tls
from tests.workers.conftest import World
from tests.workers.test_runner import SHORT, seats_of, until
from workers.connectivity import MAX_TOTAL_S, Connectivity
from workers.runner import Runner

GARBAGE = "-----BEGIN CERTIFICATE-----\nnothing\n-----END CERTIFICATE-----\n"
AUTHORITY = (CERTS / "authority.pem").read_text()


class Paths(NamedTuple):
    """What ``ssl`` says about a system with one CA bundle."""

    openssl_cafile: str
    openssl_capath: str


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the only CA bundle of this host. It is read again after ``system_tls.cache_clear``."""
    path = tmp_path / "bundle.pem"
    path.write_text(AUTHORITY)
    paths = Paths(str(path), str(tmp_path / "authorities"))
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)
    monkeypatch.setattr(connection, "_CA_FILES", ())
    system_tls.cache_clear()
    yield path
    system_tls.cache_clear()


@pytest.mark.parametrize("content", ["", GARBAGE, None])
def test_K22_without_certificate_authorities_no_certificate_is_judged(bundle: Path, content: str | None) -> None:
    assert system_tls() is system_tls()
    system_tls.cache_clear()
    if content is None:
        bundle.unlink()
    else:
        bundle.write_text(content)

    with pytest.raises(NoAuthorities, match="no certificate authority could be loaded"):
        system_tls()
    bundle.write_text(AUTHORITY)
    assert system_tls().cert_store_stats()["x509_ca"] == 1


def test_K22_a_folder_of_authorities_replaces_a_broken_bundle(bundle: Path) -> None:
    (bundle.parent / "authorities").mkdir()
    (bundle.parent / "authorities" / "0a1b2c3d.0").write_text(AUTHORITY)
    bundle.write_text(GARBAGE)

    assert system_tls().verify_mode == ssl.CERT_REQUIRED


class Secure(House):
    """A bot that is called over TLS."""

    def __init__(self) -> None:
        super().__init__("first", find_player("first"))

    async def start(self, host: str, port: int) -> Self:
        await super().start(host, port)
        assert self._runner is not None
        port = self._runner.addresses[0][1]
        for site in list(self._runner.sites):
            await site.stop()
        await web.TCPSite(self._runner, host, port, ssl_context=server_tls("good")).start()
        self.url = f"https://{host}:{port}"
        return self


def pass_time(later_s: list[float]) -> bool:
    """Let five seconds pass, less than separates two outages."""
    later_s[0] += 5.0
    return later_s[0] > MAX_TOTAL_S


def play(world: World, bundle: Path, *, repair: bool) -> str:
    """Break the bundle in mid-match, for the next runner. Repair it, or let time pass. Return the id of the match."""
    later_s = [0.0]

    async def story() -> str:
        bots = [Secure(), Secure()]
        async with world.houses(*bots, "first", "first"):
            match_id = world.arrange("pool-nap", world.bot_ids[:2])
            runner = Runner(world.settings, world.database)
            running = asyncio.create_task(runner.run())
            await until(lambda: all(bot.decisions > 2 for bot in bots))
            runner.stop()
            await running
            await asyncio.to_thread(bundle.write_text, GARBAGE)
            system_tls.cache_clear()

            uplink = Connectivity(lambda: later_s[0], probe_s=0.01)
            runner = Runner(world.settings, world.database, connectivity=uplink)
            running = asyncio.create_task(runner.run())
            others = world.arrange("pool-nap", world.bot_ids[2:], options=SHORT)
            await until(lambda: world.match(others).status == "finished")  # only the match concerned waits
            assert world.match(match_id).status == "running"
            assert runner.counters.handed_over == 0
            if repair:
                await asyncio.to_thread(bundle.write_text, AUTHORITY)
            else:
                await until(lambda: pass_time(later_s) and runner.counters.handed_over > 0)
                runner.stop()
            await running
        return match_id

    return asyncio.run(story())


def test_K22_a_match_waits_while_the_host_has_no_certificate_authorities(world: World, bundle: Path) -> None:
    match_id = play(world, bundle, repair=True)

    assert world.match(match_id).status == "finished"
    assert [seat.faults for seat in seats_of(world, match_id)] == [0, 0]
    assert [world.bot(bot_id).unreachable_streak for bot_id in world.bot_ids] == [0] * 4
    assert world.differences() == []


def test_K22_after_ten_minutes_without_certificate_authorities_the_match_is_handed_over(
    world: World, bundle: Path
) -> None:
    match_id = play(world, bundle, repair=False)

    assert world.match(match_id).status in ("due", "running")
    assert [seat.faults for seat in seats_of(world, match_id)] == [0, 0]
