"""The egress guard: which addresses are called. The ids are those of the threat list."""

import asyncio
import os
import random
import ssl
import threading
from ipaddress import ip_address
from pathlib import Path

import pytest

from referee.botclient.address_guard import Policy, parse_url, resolve, vet
from referee.errors import UrlRefused
from referee.settings import BadSettings
from tests.botclient.hostile import LOOPBACK, PATIENCE_S, Hostile, Line, called, caller, response, says

PUBLIC = Policy()
HTTP = Policy(allow_http=True)
CERTS = Path(__file__).parent / "certs"


def refusal(url: str, policy: Policy = HTTP) -> str:
    """Return the code with which a URL is refused, before or after resolving it; empty if it is accepted."""
    try:
        endpoint = parse_url(url, policy)
        asyncio.run(resolve(endpoint, policy))
    except UrlRefused as refused:
        return refused.code
    return ""


def test_A1_this_host_is_refused() -> None:
    for host in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.255.255.254", "[::]"):
        assert refusal(f"http://{host}:8000") == "egress_denied"


async def test_A1_an_own_address_is_refused_even_where_it_looks_public(monkeypatch: pytest.MonkeyPatch) -> None:
    # No public address is available, so loopback substitutes for one: without its own rule, the check that both ends of
    # the connection have the same address must refuse it.
    monkeypatch.setattr("referee.botclient.address_guard._NOT_PUBLIC_V4", [])

    async with Hostile(says(response())) as bot:
        reply = await called(caller(bot.url, policy=HTTP))
        assert bot.requests == []
        assert (reply.fault, reply.detail) == ("egress_denied", "this is an address of the referee itself")


DISGUISED = [
    "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0x7f.0.0.1", "017700000001", "0177.0.0.1", "0177.1",
    "127.0.0.01", "00000127.0.0.1", "127.0.0.1.", "1", "0", "0x0", "256.1.1.1", "1.2.3", "1.2.3.4.5", "127.0.0.0x1",
    "127。0。0。1", "①②⑦.⓪.⓪.①", "１２７.0.0.1", "127.0.0.1%00", "example.0x7f", "example.127", "[::ffff:7f00:1",
    "example..com", "-a.example", "a-.example", "a_b.example", "localhost.", "%6cocalhost", "[0:0:0:0:0:0:0:1]",
    "[::1%lo]", "[::1%25lo]", "[::FFFF:127.0.0.1]", "[127.0.0.1]", "[v1.a]", "exämple.com", "ex*mple.com",
]  # fmt: skip


def test_A2_disguised_hosts_are_refused_unasked() -> None:
    for host in DISGUISED:
        with pytest.raises(UrlRefused) as refused:
            parse_url(f"http://{host}/", HTTP)
        assert refused.value.code in {"invalid_host", "invalid_url"}, host


def verdict(address: str) -> str:
    try:
        vet(ip_address(address), 443, PUBLIC)
    except UrlRefused as refused:
        return refused.code
    return ""


NOT_PUBLIC = [
    "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.100.100.200", "169.254.169.254",
    "169.254.0.1", "198.18.0.1", "192.0.2.1", "198.51.100.7", "203.0.113.9", "192.0.0.192", "192.31.196.1",
    "192.52.193.1", "192.88.99.1", "192.175.48.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "0.1.2.3", "fd00:ec2::254", "fe80::1", "fec0::1", "fc00::1", "ff02::1", "2001:db8::1", "3fff::1", "5f00::1",
    "100::1", "::", "::1",
    # An old address inside a new one.
    "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::8.8.8.8", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1",
    "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "fe80::5efe:7f00:1", "2001:20::1",
]  # fmt: skip
PUBLIC_ADDRESSES = [
    "8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255",
    "172.32.0.0", "192.0.1.1", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450::1",
    "2003::1", "2620:4f:7fff::1",
]  # fmt: skip


def test_A3_A4_public_unicast_is_taken_and_everything_else_is_refused() -> None:
    assert [address for address in NOT_PUBLIC if verdict(address) != "egress_denied"] == []
    assert [address for address in PUBLIC_ADDRESSES if verdict(address)] == []


def test_no_address_of_a_refused_block_gets_through() -> None:
    rng = random.Random(5)
    blocks = ["10.0.0.0", "127.0.0.0", "224.0.0.0", "240.0.0.0", "0.0.0.0"]
    for _ in range(300):
        first = int(ip_address(rng.choice(blocks))) >> 24
        with pytest.raises(UrlRefused):
            vet(ip_address((first << 24) | rng.getrandbits(24)), 443, PUBLIC)
        with pytest.raises(UrlRefused):
            vet(ip_address(rng.getrandbits(125)), 443, PUBLIC)  # below 2000::
        with pytest.raises(UrlRefused):
            vet(ip_address((1 << 126) | rng.getrandbits(126)), 443, PUBLIC)  # above 3fff:…


async def test_A5_one_private_answer_among_public_ones_refuses_the_name_and_is_not_told() -> None:
    endpoint = parse_url("https://bot.test", PUBLIC)

    assert await resolve(endpoint, PUBLIC, lambda host: ["8.8.8.8", "1.1.1.1"])
    with pytest.raises(UrlRefused, match="egress_denied") as refused:
        await resolve(endpoint, PUBLIC, lambda host: ["8.8.8.8", "10.0.0.1"])
    assert "10.0.0.1" not in str(refused.value)


async def test_A6_K23_the_address_checked_is_the_address_dialled() -> None:
    answers = ["127.0.0.1", "127.0.0.2"]
    asked: list[str] = []

    def rebinds(host: str) -> list[str]:
        asked.append(host)
        return [answers[min(len(asked), len(answers)) - 1]]

    async with Hostile(says(response())) as bot, Hostile(says(response()), host="127.0.0.2") as victim:
        policy = Policy.parse(f"127.0.0.1/32:{bot.port}")
        one = caller(f"http://bot.test:{bot.port}", policy=policy, look_up=rebinds)
        first = await called(one)
        one.close()
        second = await called(one)  # another connection, the same address
        assert (first.fault, second.fault) == ("", "")
        assert (bot.connections, victim.connections, asked) == (2, 0, ["bot.test"])


async def test_A7_a_name_that_turned_private_is_refused_when_it_is_looked_up_again() -> None:
    turned = False

    def turns(host: str) -> list[str]:
        return ["10.0.0.1"] if turned else ["127.0.0.1"]

    async def closes_soon(line: Line) -> None:
        await line.request()
        await line.send(response())

    async with Hostile(closes_soon) as bot:
        one = caller(f"http://bot.test:{bot.port}", look_up=turns)
        first = await called(one)
    turned = True  # and the old address no longer answers
    second = await called(one)
    assert (first.fault, second.fault) == ("", "egress_denied")


async def test_A8_a_redirect_is_refused_and_its_target_gets_no_packet() -> None:
    async with Hostile(says(response())) as target:
        for status in ("301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"):
            there = target.url if status < "308" else "file:///etc/passwd"
            async with Hostile(says(response(b"{}", status, f"Location: {there}"))) as bot:
                reply = await called(caller(bot.url))
                assert (reply.fault, target.connections) == ("redirect_refused", 0), status


def test_A9_plain_http_needs_the_policy() -> None:
    for policy, code in ((PUBLIC, "invalid_scheme"), (HTTP, ""), (LOOPBACK, "")):
        assert refusal("http://8.8.8.8", policy) == code
        assert refusal("https://8.8.8.8", policy) == ""


ODD_URLS = {
    "invalid_scheme": [
        "ftp://8.8.8.8", "file:///etc/passwd", "gopher://8.8.8.8", "unix:/run/x", "data:,x", "HTTPS://8.8.8.8", "",
        "8.8.8.8", "//8.8.8.8", "javascript:alert(1)", " https://8.8.8.8", "\thttps://8.8.8.8",
    ],
    "invalid_url": [
        "https:8.8.8.8", "https://user@8.8.8.8", "https://user:pw@8.8.8.8", "https://8.8.8.8\\@evil",
        "https://8.8.8.8#frag", "https://8.8.8.8#", "https://8.8.8.8/?", "https://8.8.8.8/?q=1",
        "https://8.8.8.8:443:80", "https://8.8.8.8:x", "https://8.8.8.8:-1", "https://8.8.8.8:", "https://8.8.8.8/\x00",
        "https://8.8.8.8/\r\nX: y", "https://8.8.8.8/a b", "https://8.8.8.8/\t", "https:///x", "https://8.8.8.8/../x",
        "https://8.8.8.8/./x", "https://8.8.8.8/%zz", "https://[8.8.8.8", "https://", "https://8.8.8.8/" + "a" * 2048,
        "https://8.8.8.8\n", "https://[2606:4700::1111]x/",
    ],
    "invalid_host": ["https://8.8.8.8:٤٤٣", "https://8.8.8.8/\u202e"],
    "port_denied": [
        f"https://8.8.8.8:{port}"
        for port in (0, 1, 22, 25, 79, 1023, 2375, 5432, 6379, 9200, 11211, 65536, 99999999999)
    ],
    "": [f"https://8.8.8.8:{port}" for port in (80, 443, 1024, 8080, 9000, 65535)],
}  # fmt: skip


def test_A9_A10_A11_odd_urls_and_ports_of_other_services_are_refused() -> None:
    assert [(code, url) for code, urls in ODD_URLS.items() for url in urls if refusal(url) != code] == []


def test_A10_what_is_used_is_rebuilt_from_the_parts() -> None:
    assert parse_url("https://Bot.Example.COM:443/a/b/", PUBLIC).url == "https://bot.example.com/a/b"
    assert parse_url("https://bot.example.com:8443", PUBLIC).url == "https://bot.example.com:8443"
    assert parse_url("https://[2606:4700::1111]:8443/", PUBLIC).url == "https://[2606:4700::1111]:8443"
    assert parse_url("https://xn--exmple-cua.com/%C3%A4", PUBLIC).url == "https://xn--exmple-cua.com/%C3%A4"


@pytest.mark.parametrize(("limit_s", "deadline_ms", "fault"), [(0.1, 5000, "dns_failed"), (60.0, 100, "deadline")])
async def test_A12_a_silent_name_server_ends_at_its_own_limit_and_at_the_deadline(
    monkeypatch: pytest.MonkeyPatch, limit_s: float, deadline_ms: int, fault: str
) -> None:
    monkeypatch.setattr("referee.botclient.name_lookup.LOOK_UP_SECONDS", limit_s)
    over = threading.Event()

    def silent(host: str) -> list[str]:
        over.wait(PATIENCE_S)
        return []

    reply = await called(caller("http://bot.test:9000", look_up=silent), deadline_ms)
    over.set()

    assert (reply.fault, reply.ms < 5000) == (fault, True)
    assert fault != "deadline" or reply.ms == deadline_ms


async def test_A12_odd_answers_of_a_name_server() -> None:
    async def ask(answers: list[str]) -> str:
        return (await called(caller("http://bot.test:9000", look_up=lambda host: answers))).fault

    for answers in ([], [f"8.8.{i}.8" for i in range(17)], ["not an address"], ["8.8.8.8", "bot.test"]):
        assert await ask(answers) == "dns_failed", answers


def test_A12_a_name_that_does_not_exist() -> None:
    with pytest.raises(UrlRefused, match="dns_failed"):
        asyncio.run(resolve(parse_url("https://nowhere.invalid", PUBLIC), PUBLIC))


async def test_A15_the_environment_names_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Hostile(says(response())) as trap, Hostile(says(response())) as bot:
        for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(variable, trap.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        reply = await called(caller(bot.url))
        assert (reply.ok, bot.connections, trap.connections) == (True, 1, 0)


def test_A15_the_environment_names_no_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    from referee.botclient.connection import system_tls

    system_tls.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTS / "authority.pem"))
    monkeypatch.setenv("SSLKEYLOGFILE", os.devnull)
    context = system_tls()
    system_tls.cache_clear()

    assert "test authority" not in str(context.get_ca_certs())
    assert context.keylog_filename is None


def server_tls(name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTS / f"{name}.pem")
    return context


def trusting() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(CERTS / "authority.pem"))


@pytest.mark.parametrize(
    ("certificate", "found"),
    [("good", ""), ("expired", "tls_failed"), ("wrong_name", "tls_failed"), ("self_signed", "tls_failed")],
)
@pytest.mark.parametrize("host", ["bot.test", "127.0.0.1"])
async def test_A16_certificates_are_verified_for_the_host(certificate: str, found: str, host: str) -> None:
    async with Hostile(says(response()), tls=server_tls(certificate)) as bot:
        one = caller(f"https://{host}:{bot.port}", tls=trusting(), look_up=lambda host: ["127.0.0.1"])
        replies = [await called(one, 2000), await called(one, 2000)]
        assert [reply.fault for reply in replies] == [found, found]
        assert bot.connections == (0 if found else 1)  # counted once the handshake is over
        one.close()


async def test_A16_by_default_only_the_system_s_authorities_count() -> None:
    async with Hostile(says(response()), tls=server_tls("good")) as bot:
        assert (await called(caller(f"https://127.0.0.1:{bot.port}"), 2000)).fault == "tls_failed"


async def test_A16_a_trickled_handshake_ends_at_the_deadline() -> None:
    async def trickles(line: Line) -> None:
        await line.reader.read(1)
        await line.send(b"\x16\x03\x03\x40\x00")
        await line.trickle(b"\x00")

    async with Hostile(trickles) as bot:
        reply = await called(caller(f"https://127.0.0.1:{bot.port}", tls=trusting()), 300)
        await bot.settled()
        assert (reply.fault, bot.finished) == ("deadline", 0)


async def test_A16_plain_http_where_tls_is_expected() -> None:
    async def plain(line: Line) -> None:
        await line.reader.read(1)
        await line.send(response())

    async with Hostile(plain) as bot:
        assert (await called(caller(f"https://127.0.0.1:{bot.port}", tls=trusting()), 2000)).fault == "tls_failed"


async def test_A17_a_bot_on_ipv6() -> None:
    async with Hostile(says(response()), host="::1") as bot:
        policy = Policy.parse(f"[::1/128]:{bot.port}")
        reply = await called(caller(f"http://[::1]:{bot.port}", policy=policy))
        assert f"Host: [::1]:{bot.port}\r\n".encode() in bot.requests[0]
        assert reply.fault == ""


async def test_a_dead_first_address_does_not_cost_the_second_its_chance() -> None:
    async with Hostile(says(response())) as bot:
        one = caller(f"http://bot.test:{bot.port}", look_up=lambda host: ["127.0.0.9", "127.0.0.1"])
        reply = await called(one, 2000)
        assert (reply.fault, reply.attempts) == ("", 1)


def test_the_list_of_extra_addresses_is_exact() -> None:
    policy = Policy.parse("127.0.0.1/32:9000-9999, [::1/128]:9000")

    vet(ip_address("127.0.0.1"), 9000, policy)
    vet(ip_address("::1"), 9000, policy)
    for address, port in [("127.0.0.1", 8999), ("127.0.0.1", 10000), ("127.0.0.2", 9000), ("::1", 9001)]:
        with pytest.raises(UrlRefused, match="egress_denied"):
            vet(ip_address(address), port, policy)


def test_a_bad_list_of_extra_addresses_is_refused_and_any_in_production() -> None:
    for text in ("127.0.0.1", "127.0.0.1/32", "127.0.0.1/8:80", "x:80", "10.0.0.0/8:0", "10.0.0.0/8:9-8"):
        with pytest.raises(BadSettings):
            Policy.parse(text)
    with pytest.raises(BadSettings):
        Policy.parse("127.0.0.1/32:9000", production=True)
    assert Policy.parse("", production=True).allow == Policy.parse("").allow == ()
