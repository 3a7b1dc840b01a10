"""A host without usable certificate authorities: no bot is charged, and its matches wait until there are some."""

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

import pytest

from referee.botclient import connection
from referee.botclient.connection import system_tls
from referee.errors import NoAuthorities
from tests.botclient.test_addresses import CERTS, server_tls
from tests.workers.conftest import SHORT, Clock, First, World, until
from workers.connectivity import MAX_TOTAL_S, Connectivity

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


class Secure(First):
    """A bot that is called over TLS."""

    async def start(self, host: str, port: int) -> Self:
        await super().start(host, port)
        await self.stop_listening()
        await self.listen(server_tls("good"))
        self.url = self.url.replace("http:", "https:")
        return self


@pytest.mark.parametrize("is_repaired", [True, False])
async def test_K22_a_match_waits_ten_minutes_for_certificate_authorities(
    world: World, bundle: Path, is_repaired: bool
) -> None:
    """The bundle breaks in mid-match, for the next runner. Then it is repaired, or time passes."""
    clock, bots = Clock(), [Secure(), Secure()]

    def pass_time() -> bool:
        clock.now_s += 5.0  # less than separates two outages
        return clock.now_s > MAX_TOTAL_S

    async with world.houses(*bots, "first", "first"):
        match_id = world.arrange("pool-nap", world.bot_ids[:2])
        async with world.running():
            await until(lambda: all(bot.decisions > 2 for bot in bots))
        await asyncio.to_thread(bundle.write_text, GARBAGE)
        system_tls.cache_clear()

        uplink = Connectivity(clock, probe_s=0.01)
        async with world.running(connectivity=uplink, to_the_end=is_repaired) as runner:
            others = world.arrange("pool-nap", world.bot_ids[2:], options=SHORT)
            await world.until_finished(others)  # only the match concerned waits
            assert world.status(match_id) == "running"
            assert runner.counters.handed_over == 0
            if is_repaired:
                await asyncio.to_thread(bundle.write_text, AUTHORITY)
            else:
                await until(lambda: pass_time() and runner.counters.handed_over > 0)

    assert world.faults(match_id) == [0, 0]
    if is_repaired:
        assert world.status(match_id) == "finished"
        assert [world.bot(bot_id).unreachable_streak for bot_id in world.bot_ids] == [0] * 4
        assert world.differences() == []
    else:
        assert world.status(match_id) in ("due", "running")
