"""Bots on a private network: forbidden settings, addresses inside and outside the ranges, and calls to them.

The ranges of these calls are on loopback, which no setting allows: real sockets need an address of this machine. Which
addresses count as those of this host is passed in. `tests/end_to_end/test_class.py` calls another host.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

from referee.botclient.address_guard import Policy, parse_url, resolve, vet
from referee.botclient.private_bots import (
    FRESH_S,
    PrivateBots,
    check_stores,
    hosts_of,
    is_address_of_this_host,
    private_bots_of,
)
from referee.errors import Unavailable, UrlRefused
from referee.private_ranges import AddressRange, parse_private_ranges
from referee.settings import BadSettings, Settings
from tests.botclient.hostile import Hostile, called, caller, response, says
from tests.surroundings import settings_for

RANGES = "10.20.0.0/24:8000-8010,[fd12:3456::/64]:8000"


def judge(ranges: str = RANGES, hosts: tuple[str, ...] = (), **more: object) -> PrivateBots:
    given = {"is_own": lambda address: str(address) in ("10.20.0.1", "fd12:3456::1"), **more}
    return PrivateBots(parse_private_ranges(ranges), hosts, **given)  # type: ignore[arg-type]  # passed on by name


PRIVATE = Policy(private=judge())


def refusal(url: str, policy: Policy = PRIVATE, answers: list[str] | None = None) -> str:
    try:
        endpoint = parse_url(url, policy)
        asyncio.run(resolve(endpoint, policy, lambda host: answers or []))
    except UrlRefused as refused:
        return refused.code
    return ""


FORBIDDEN = {
    "10.20.0.0/15:8000' is too wide": ["10.20.0.0/15:8000"],
    "too wide": ["fd12:3456::/48:8000"],
    "contains loopback addresses": ["0.0.0.0/0:8000", "127.0.0.0/24:8000", "[::1/128]:8000"],
    "contains link-local addresses": ["169.254.10.0/24:8000", "[fe80::/64]:8000", "169.254.169.254/32:80"],
    "contains cloud metadata addresses": [
        "[fd00:ec2::/64]:80", "[fd00:ec2::254/128]:80", "[fd20:ce::254/128]:80", "100.100.100.200/32:80",
    ],
    "is not inside a private network": [
        "100.64.0.0/24:8000", "8.8.8.0/24:8000", "[2001:db8::/64]:8000", "0.0.0.0/8:8000", "224.0.0.0/24:8000",
        "[::ffff:10.0.0.0/112]:8000",
    ],
    "is not a range of addresses and ports": [
        "10.20.0.0/24", "10.20.0.5/24:8000", "10.20.0.0/24:8010-8000", "10.20.0.0/24:all", "classroom:8000",
    ],
    "more than 1000 ports": ["10.20.0.0/24:1024-65535"],
    "ports that bots may not have": ["10.20.0.0/24:22", "10.20.0.0/24:80-443"],
    "at most 32": [",".join(["10.20.0.0/24:8000"] * 33)],
}  # fmt: skip


def test_A19_forbidden_ranges_are_refused_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_DATA", str(tmp_path))
    monkeypatch.setenv("REFEREE_SELF_SERVICE", "false")

    for said, text in [(said, text) for said, texts in FORBIDDEN.items() for text in texts]:
        monkeypatch.setenv("REFEREE_PRIVATE_BOTS", text)
        with pytest.raises(BadSettings) as refused:
            Settings.load()
        assert said in str(refused.value)
        assert str(refused.value).startswith("REFEREE_PRIVATE_BOTS: ")
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("production", [False, True])
def test_A19_good_ranges_are_taken_also_in_production_but_not_with_open_registration(
    production: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_DATA", str(tmp_path))
    monkeypatch.setenv("REFEREE_PRIVATE_BOTS", " 10.20.0.0/16:8000-8010, [fd12:3456::/64]:443 ,192.168.7.9/32:80")
    if production:
        monkeypatch.setenv("REFEREE_ENV", "production")
        monkeypatch.setenv("REFEREE_MASTER_KEY", "ab" * 32)
    with pytest.raises(BadSettings, match="needs REFEREE_SELF_SERVICE=false"):
        Settings.load()

    monkeypatch.setenv("REFEREE_SELF_SERVICE", "false")
    settings = Settings.load()

    assert settings.private_bots == "10.20.0.0/16:8000-8010,[fd12:3456::/64]:443,192.168.7.9/32:80"
    # It keeps what it looked up.
    assert Policy.from_settings(settings).private is Policy.from_settings(settings).private


STORES = [
    ("redis://:secret@10.20.0.5:6379/0", "", "Redis"),
    ("rediss://[fd12:3456::5]:6379/0", "", "Redis"),
    (None, "postgresql://user:password@10.20.0.5/name", "the database"),
    (None, "postgresql+psycopg://user@192.0.2.1,10.20.0.5:5433/name", "the database"),
    (None, "postgresql://user@/name?host=10.20.0.5", "the database"),
]  # fmt: skip


def test_A19_ranges_with_redis_or_the_database_are_refused_at_the_start(tmp_path: Path) -> None:
    settings = replace(settings_for(tmp_path), self_service=False, private_bots=RANGES)
    check_stores(replace(settings, redis_url="redis://127.0.0.1:6379/0"))

    for redis, database, name in STORES:
        with pytest.raises(BadSettings, match=f"an address of {name}; name a range without it"):
            check_stores(replace(settings, redis_url=redis, database_url=database or settings.database_url))


def test_hosts_of_urls() -> None:
    assert hosts_of("sqlite:////srv/10.20.0.5/referee.db") == []
    assert hosts_of("unix:///run/redis.sock") == []
    assert hosts_of("postgresql://user:p%40ss@/name?host=/run/postgresql") == []
    assert hosts_of("postgresql://u:p@one:5432,[fd00::1]:5433/name") == ["one", "fd00::1"]


URLS = {
    "": [
        "http://10.20.0.7:8000", "http://10.20.0.7:8010/mine", "https://10.20.0.7:8000", "http://[fd12:3456::7]:8000",
        "https://8.8.8.8:8000",
    ],
    "invalid_scheme": [
        "http://10.20.0.7:8011", "http://10.20.1.7:8000", "http://127.0.0.1:8000", "http://8.8.8.8:8000",
    ],
    "egress_denied": [
        "https://10.20.0.7:8011", "https://10.20.0.7", "https://10.20.1.7:8000", "https://[fd12:3457::7]:8000",
        "http://10.20.0.1:8000", "http://[fd12:3456::1]:8000",  # this host
        "https://127.0.0.1:8000", "https://169.254.169.254", "https://[fd00:ec2::254]:8000",
    ],
    "invalid_host": ["https://[::ffff:10.20.0.7]:8000"],
}  # fmt: skip


def test_A19_only_the_ports_of_the_ranges_are_open() -> None:
    assert [(code, url) for code, urls in URLS.items() for url in urls if refusal(url) != code] == []


def test_A19_names_never_lead_into_the_ranges() -> None:
    for answers in (["10.20.0.7"], ["8.8.8.8", "10.20.0.7"], ["fd12:3456::7"]):
        assert refusal("https://bot.test:8000", answers=answers) == "egress_denied"
        assert refusal("http://bot.test:8000", answers=answers) == "invalid_scheme"
        with pytest.raises(UrlRefused, match="written in the URL"):
            vet(ip_address(answers[-1]), 8000, PRIVATE)


def test_A19_webhooks_have_no_private_addresses() -> None:
    assert refusal("https://10.20.0.7:8000", PRIVATE.without_private()) == "egress_denied"
    assert refusal("http://10.20.0.7:8000", PRIVATE.without_private()) == "invalid_scheme"


async def test_A19_the_addresses_of_the_services_hosts_are_looked_up_again_and_stay_forbidden_if_that_fails() -> None:
    found, seconds = {"db": "10.20.0.9"}, 0.0

    def look_up(host: str) -> list[str]:
        if host not in found:
            raise OSError("no answer")
        return [found[host]]

    known = judge(hosts=("db",), look_up=look_up, seconds=lambda: seconds)
    await known.refresh()
    assert not known.allows(ip_address("10.20.0.9"), 8000)
    assert known.allows(ip_address("10.20.0.8"), 8000)

    found["db"] = "10.20.0.8"
    await known.refresh()  # what it knows is fresh
    assert known.allows(ip_address("10.20.0.8"), 8000)
    for answer in ("10.20.0.8", None):
        seconds += FRESH_S
        found = {"db": answer} if answer else {}
        await known.refresh()
        assert not known.allows(ip_address("10.20.0.8"), 8000)

    never_found = judge(hosts=("db.invalid",), look_up=look_up)
    for _ in range(2):  # the second one does not count as fresh
        with pytest.raises(Unavailable, match=r"db\.invalid"):
            await never_found.refresh()


def test_addresses_of_this_host_are_known() -> None:
    assert is_address_of_this_host(ip_address("127.0.0.1"))
    assert not is_address_of_this_host(ip_address("198.51.100.77"))
    assert not is_address_of_this_host(ip_address("2001:db8::77"))


async def test_the_hosts_of_the_service_include_its_public_url(tmp_path: Path) -> None:
    settings = replace(
        settings_for(tmp_path), private_bots=RANGES, redis_url="redis://10.1.1.1", public_url="http://10.20.0.3:8000"
    )
    known = private_bots_of(settings)
    assert known is not None
    await known.refresh()

    assert not known.allows(ip_address("10.20.0.3"), 8000)
    assert known.allows(ip_address("10.20.0.4"), 8000)


# -- calls --


def loopback(port: int, *, own: Sequence[object] = (), hosts: tuple[str, ...] = ()) -> Policy:
    """Return a policy in which a port of 127.0.0.2 is private, and in which this host has that address if ``own``."""
    ranges = [AddressRange.parse(f"127.0.0.2/32:{port}")]
    return Policy(private=PrivateBots(ranges, hosts, is_own=lambda address: bool(own)))


async def test_a_private_bot_is_called_and_everything_else_is_not() -> None:
    async with Hostile(says(response()), host="127.0.0.2") as bot:
        policy = loopback(bot.port)
        assert (await called(caller(bot.url, policy=policy), 5000)).fault == ""
        assert (await called(caller(bot.url, policy=Policy(allow_http=True)))).fault == "egress_denied"
        named = caller(f"https://bot.test:{bot.port}", policy=policy, look_up=lambda host: ["127.0.0.2"])
        assert (await called(named)).fault == "egress_denied"
        assert bot.connections == 1


async def test_A19_an_address_that_became_that_of_this_host_is_refused_at_the_next_connection() -> None:
    async with Hostile(says(response()), host="127.0.0.2") as bot:
        own: list[bool] = []
        one = caller(bot.url, policy=loopback(bot.port, own=own))
        assert (await called(one, 5000)).fault == ""
        one.close()
        own.append(True)
        assert (await called(one, 5000)).fault == "egress_denied"
        assert bot.connections == 1


async def test_A19_an_address_of_the_database_is_refused_before_any_packet() -> None:
    async with Hostile(says(response()), host="127.0.0.2") as bot:
        policy = loopback(bot.port, hosts=("127.0.0.2",))
        assert (await called(caller(bot.url, policy=policy), 5000)).fault == "egress_denied"
        unknown = loopback(bot.port, hosts=("db.invalid",))
        assert (await called(caller(bot.url, policy=unknown), 5000)).fault == "uplink_down"
        assert bot.connections == 0


async def test_A19_a_private_bot_redirects_to_nowhere() -> None:
    async with Hostile(says(response()), host="127.0.0.2") as target:
        sends = says(response(b"{}", "302 Found", f"Location: {target.url}"))
        async with Hostile(sends, host="127.0.0.2") as bot:
            reply = await called(caller(bot.url, policy=loopback(bot.port)), 5000)
            assert (reply.fault, target.connections) == ("redirect_refused", 0)
