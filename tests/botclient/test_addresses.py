"""The egress guard: which addresses are called. The ids are those of the threat list."""

import asyncio
import os
import random
import ssl
from ipaddress import ip_address
from pathlib import Path

import pytest

from referee.botclient.address_guard import Policy, parse_url, resolve, vet
from referee.botclient.name_lookup import system_look_up
from referee.errors import UrlRefused
from referee.private_ranges import AddressRange
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


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.255.255.254", "[::]"])
def test_A1_this_host_is_refused(host: str) -> None:
    assert refusal(f"http://{host}:8000") == "egress_denied"


def test_A1_an_own_address_is_refused_even_where_it_looks_public(monkeypatch: pytest.MonkeyPatch) -> None:
    # No public address is available, so loopback substitutes for one: without its own rule, the check that both ends of
    # the connection have the same address must refuse it.
    monkeypatch.setattr("referee.botclient.address_guard._NOT_PUBLIC_V4", [])

    async def calls_itself() -> tuple[str, str]:
        async with Hostile(says(response())) as bot:
            reply = await called(caller(bot.url, policy=HTTP))
            assert bot.requests == []
            return reply.fault, reply.detail

    assert asyncio.run(calls_itself()) == ("egress_denied", "this is an address of the referee itself")


@pytest.mark.parametrize("host", [
    "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1", "0x7f.0.0.1", "017700000001", "0177.0.0.1", "0177.1",
    "127.0.0.01", "00000127.0.0.1", "127.0.0.1.", "1", "0", "0x0", "256.1.1.1", "1.2.3", "1.2.3.4.5", "127.0.0.0x1",
    "127。0。0。1", "①②⑦.⓪.⓪.①", "１２７.0.0.1", "127.0.0.1%00", "example.0x7f", "example.127", "[::ffff:7f00:1",
    "example..com", "-a.example", "a-.example", "a_b.example", "localhost.", "%6cocalhost", "[0:0:0:0:0:0:0:1]",
    "[::1%lo]", "[::1%25lo]", "[::FFFF:127.0.0.1]", "[127.0.0.1]", "[v1.a]", "exämple.com", "ex*mple.com",
])  # fmt: skip
def test_A2_disguised_hosts_are_refused_unasked(host: str) -> None:
    with pytest.raises(UrlRefused) as refused:
        parse_url(f"http://{host}/", HTTP)

    assert refused.value.code in {"invalid_host", "invalid_url"}


@pytest.mark.parametrize("address", [
    "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.100.100.200", "169.254.169.254",
    "169.254.0.1", "198.18.0.1", "192.0.2.1", "198.51.100.7", "203.0.113.9", "192.0.0.192", "192.31.196.1",
    "192.52.193.1", "192.88.99.1", "192.175.48.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "0.1.2.3", "fd00:ec2::254", "fe80::1", "fec0::1", "fc00::1", "ff02::1", "2001:db8::1", "3fff::1", "5f00::1",
    "100::1", "::", "::1",
])  # fmt: skip
def test_A3_what_is_not_public_unicast_is_refused(address: str) -> None:
    with pytest.raises(UrlRefused, match="egress_denied"):
        vet(ip_address(address), 443, PUBLIC)


@pytest.mark.parametrize("address", [
    "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::8.8.8.8", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1",
    "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "fe80::5efe:7f00:1", "2001:20::1",
])  # fmt: skip
def test_A4_an_old_address_inside_a_new_one_is_refused(address: str) -> None:
    with pytest.raises(UrlRefused, match="egress_denied"):
        vet(ip_address(address), 443, PUBLIC)


@pytest.mark.parametrize("address", [
    "8.8.8.8", "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255",
    "172.32.0.0", "192.0.1.1", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450::1",
    "2003::1", "2620:4f:7fff::1",
])  # fmt: skip
def test_public_addresses_are_taken(address: str) -> None:
    vet(ip_address(address), 443, PUBLIC)


def test_no_address_of_a_refused_block_gets_through() -> None:
    rng = random.Random(5)
    blocks = ["10.0.0.0", "127.0.0.0", "224.0.0.0", "240.0.0.0", "0.0.0.0"]
    for _ in range(2_000):
        first = int(ip_address(rng.choice(blocks))) >> 24
        with pytest.raises(UrlRefused):
            vet(ip_address((first << 24) | rng.getrandbits(24)), 443, PUBLIC)
        with pytest.raises(UrlRefused):
            vet(ip_address(rng.getrandbits(125)), 443, PUBLIC)  # below 2000::
        with pytest.raises(UrlRefused):
            vet(ip_address((1 << 126) | rng.getrandbits(126)), 443, PUBLIC)  # above 3fff:…


def test_A5_one_private_answer_among_public_ones_refuses_the_name() -> None:
    endpoint = parse_url("https://bot.test", PUBLIC)

    assert asyncio.run(resolve(endpoint, PUBLIC, lambda host: ["8.8.8.8", "1.1.1.1"]))
    with pytest.raises(UrlRefused, match="egress_denied"):
        asyncio.run(resolve(endpoint, PUBLIC, lambda host: ["8.8.8.8", "10.0.0.1"]))


def test_A6_K23_the_address_checked_is_the_address_dialled() -> None:
    answers = ["127.0.0.1", "127.0.0.2"]
    asked: list[str] = []

    def rebinds(host: str) -> list[str]:
        asked.append(host)
        return [answers[min(len(asked), len(answers)) - 1]]

    async def two_questions() -> None:
        async with Hostile(says(response())) as bot, Hostile(says(response()), host="127.0.0.2") as victim:
            policy = Policy.parse(f"127.0.0.1/32:{bot.port}")
            one = caller(f"http://bot.test:{bot.port}", policy=policy, look_up=rebinds)
            first = await called(one)
            one.close()
            second = await called(one)  # another connection, the same address
            assert (first.fault, second.fault) == ("", "")
            assert (bot.connections, victim.connections, asked) == (2, 0, ["bot.test"])

    asyncio.run(two_questions())


def test_A7_a_name_that_turned_private_is_refused_when_it_is_looked_up_again() -> None:
    turned = False

    def turns(host: str) -> list[str]:
        return ["10.0.0.1"] if turned else ["127.0.0.1"]

    async def closes_soon(line: Line) -> None:
        await line.request()
        await line.send(response())

    async def two_questions() -> None:
        nonlocal turned
        async with Hostile(closes_soon) as bot:
            one = caller(f"http://bot.test:{bot.port}", look_up=turns)
            first = await called(one)
        turned = True  # and the old address no longer answers
        second = await called(one)
        assert (first.fault, second.fault) == ("", "egress_denied")

    asyncio.run(two_questions())


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See", "307 Temporary", "308 Permanent"])
@pytest.mark.parametrize("scheme", ["http", "file"])
def test_A8_a_redirect_is_refused_and_its_target_gets_no_packet(status: str, scheme: str) -> None:
    async def redirected() -> None:
        async with Hostile(says(response())) as target:
            there = target.url if scheme == "http" else "file:///etc/passwd"
            async with Hostile(says(response(b"{}", status, f"Location: {there}"))) as bot:
                reply = await called(caller(bot.url))
                assert (reply.fault, target.connections) == ("redirect_refused", 0)

    asyncio.run(redirected())


@pytest.mark.parametrize("url", [
    "ftp://8.8.8.8", "file:///etc/passwd", "gopher://8.8.8.8", "unix:/run/x", "data:,x", "HTTPS://8.8.8.8", "",
    "8.8.8.8", "//8.8.8.8", "https:8.8.8.8", "javascript:alert(1)", " https://8.8.8.8",
])  # fmt: skip
def test_A9_only_https_and_by_policy_http(url: str) -> None:
    assert refusal(url, HTTP) in ({"invalid_url"} if url.startswith("https:") else {"invalid_scheme"})


def test_A9_plain_http_needs_the_policy() -> None:
    assert refusal("http://8.8.8.8", PUBLIC) == "invalid_scheme"
    assert refusal("http://8.8.8.8", HTTP) == ""
    assert refusal("http://8.8.8.8", LOOPBACK) == ""
    assert refusal("https://8.8.8.8", PUBLIC) == ""


@pytest.mark.parametrize("url", [
    "https://user@8.8.8.8", "https://user:pw@8.8.8.8", "https://8.8.8.8\\@evil", "https://8.8.8.8#frag",
    "https://8.8.8.8#", "https://8.8.8.8/?", "https://8.8.8.8/?q=1", "https://8.8.8.8:443:80", "https://8.8.8.8:x",
    "https://8.8.8.8:-1", "https://8.8.8.8:", "https://8.8.8.8:٤٤٣", "https://8.8.8.8/\x00",
    "https://8.8.8.8/\r\nX: y", "https://8.8.8.8/a b", "https://8.8.8.8/\u202e", "https://8.8.8.8/\t",
    "\thttps://8.8.8.8", "https:///x", "https://8.8.8.8/../x", "https://8.8.8.8/./x", "https://8.8.8.8/%zz",
    "https://[8.8.8.8", "https://", "https://8.8.8.8/" + "a" * 2048, "https://8.8.8.8\n",
    "https://[2606:4700::1111]x/",
])  # fmt: skip
def test_A10_odd_urls_are_refused(url: str) -> None:
    assert refusal(url, HTTP) in {"invalid_url", "invalid_host", "invalid_scheme"}


def test_A10_what_is_used_is_rebuilt_from_the_parts() -> None:
    assert parse_url("https://Bot.Example.COM:443/a/b/", PUBLIC).url == "https://bot.example.com/a/b"
    assert parse_url("https://bot.example.com:8443", PUBLIC).url == "https://bot.example.com:8443"
    assert parse_url("https://[2606:4700::1111]:8443/", PUBLIC).url == "https://[2606:4700::1111]:8443"
    assert parse_url("https://xn--exmple-cua.com/%C3%A4", PUBLIC).url == "https://xn--exmple-cua.com/%C3%A4"


@pytest.mark.parametrize("port", [0, 1, 22, 25, 79, 1023, 2375, 5432, 6379, 9200, 11211, 65536, 99999999999])
def test_A11_ports_of_other_services_are_refused(port: int) -> None:
    assert refusal(f"https://8.8.8.8:{port}") == "port_denied"


@pytest.mark.parametrize("port", [80, 443, 1024, 8080, 9000, 65535])
def test_A11_other_ports_are_taken(port: int) -> None:
    assert refusal(f"https://8.8.8.8:{port}") == ""


def test_A12_a_silent_name_server_ends_at_its_own_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    monkeypatch.setattr("referee.botclient.name_lookup.LOOK_UP_SECONDS", 0.1)
    over = threading.Event()

    def silent(host: str) -> list[str]:
        over.wait(PATIENCE_S)
        return []

    reply = asyncio.run(called(caller("http://bot.test:9000", look_up=silent), 5000))
    over.set()

    assert reply.fault == "dns_failed"
    assert reply.ms < 5000


def test_A12_a_look_up_is_under_the_deadline_too() -> None:
    import threading

    over = threading.Event()

    def slow(host: str) -> list[str]:
        over.wait(1.0)
        return []

    reply = asyncio.run(called(caller("http://bot.test:9000", look_up=slow), 100))
    over.set()

    assert (reply.fault, reply.ms) == ("deadline", 100)


@pytest.mark.parametrize(
    "answers",
    [[], [f"8.8.{i}.8" for i in range(17)], ["not an address"], ["8.8.8.8", "bot.test"]],
    ids=["none", "too many", "no address", "a name among them"],
)
def test_A12_odd_answers_of_a_name_server(answers: list[str]) -> None:
    reply = asyncio.run(called(caller("http://bot.test:9000", look_up=lambda host: answers)))

    assert reply.fault == "dns_failed"


def test_A12_a_name_that_does_not_exist() -> None:
    with pytest.raises(UrlRefused, match="dns_failed"):
        asyncio.run(resolve(parse_url("https://nowhere.invalid", PUBLIC), PUBLIC))


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"])
def test_A15_the_environment_names_no_proxy(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def with_a_proxy() -> None:
        async with Hostile(says(response())) as trap, Hostile(says(response())) as bot:
            monkeypatch.setenv(variable, trap.url)
            monkeypatch.delenv("NO_PROXY", raising=False)
            reply = await called(caller(bot.url))
            assert (reply.ok, bot.connections, trap.connections) == (True, 1, 0)

    asyncio.run(with_a_proxy())


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
def test_A16_certificates_are_verified_for_the_host(certificate: str, found: str, host: str) -> None:
    async def over_tls() -> None:
        async with Hostile(says(response()), tls=server_tls(certificate)) as bot:
            one = caller(f"https://{host}:{bot.port}", tls=trusting(), look_up=lambda host: ["127.0.0.1"])
            replies = [await called(one, 2000), await called(one, 2000)]
            assert [reply.fault for reply in replies] == [found, found]
            assert bot.connections == (0 if found else 1)  # counted once the handshake is over
            one.close()

    asyncio.run(over_tls())


def test_A16_by_default_only_the_system_s_authorities_count() -> None:
    async def over_tls() -> str:
        async with Hostile(says(response()), tls=server_tls("good")) as bot:
            return (await called(caller(f"https://127.0.0.1:{bot.port}"), 2000)).fault

    assert asyncio.run(over_tls()) == "tls_failed"


def test_A16_a_trickled_handshake_ends_at_the_deadline() -> None:
    async def trickles(line: Line) -> None:
        await line.reader.read(1)
        await line.send(b"\x16\x03\x03\x40\x00")
        await line.trickle(b"\x00")

    async def over_tls() -> None:
        async with Hostile(trickles) as bot:
            reply = await called(caller(f"https://127.0.0.1:{bot.port}", tls=trusting()), 300)
            await bot.settled()
            assert (reply.fault, bot.finished) == ("deadline", 0)

    asyncio.run(over_tls())


def test_A16_plain_http_where_tls_is_expected() -> None:
    async def plain(line: Line) -> None:
        await line.reader.read(1)
        await line.send(response())

    async def over_tls() -> str:
        async with Hostile(plain) as bot:
            return (await called(caller(f"https://127.0.0.1:{bot.port}", tls=trusting()), 2000)).fault

    assert asyncio.run(over_tls()) == "tls_failed"


def test_A17_a_bot_on_ipv6() -> None:
    async def on_v6() -> str:
        async with Hostile(says(response()), host="::1") as bot:
            policy = Policy.parse(f"[::1/128]:{bot.port}")
            reply = await called(caller(f"http://[::1]:{bot.port}", policy=policy))
            assert f"Host: [::1]:{bot.port}\r\n".encode() in bot.requests[0]
            return reply.fault

    assert asyncio.run(on_v6()) == ""


def test_a_dead_first_address_does_not_cost_the_second_its_chance() -> None:
    async def two_addresses() -> None:
        async with Hostile(says(response())) as bot:
            one = caller(f"http://bot.test:{bot.port}", look_up=lambda host: ["127.0.0.9", "127.0.0.1"])
            reply = await called(one, 2000)
            assert (reply.fault, reply.attempts) == ("", 1)

    asyncio.run(two_addresses())


def test_the_list_of_extra_addresses_is_exact() -> None:
    policy = Policy.parse("127.0.0.1/32:9000-9999, [::1/128]:9000")

    vet(ip_address("127.0.0.1"), 9000, policy)
    vet(ip_address("::1"), 9000, policy)
    for address, port in [("127.0.0.1", 8999), ("127.0.0.1", 10000), ("127.0.0.2", 9000), ("::1", 9001)]:
        with pytest.raises(UrlRefused, match="egress_denied"):
            vet(ip_address(address), port, policy)


@pytest.mark.parametrize(
    "text", ["127.0.0.1", "127.0.0.1/32", "127.0.0.1/8:80", "x:80", "10.0.0.0/8:0", "10.0.0.0/8:9-8"]
)
def test_a_bad_list_of_extra_addresses_is_refused(text: str) -> None:
    with pytest.raises(BadSettings):
        Policy.parse(text)


def test_production_has_no_extra_addresses() -> None:
    with pytest.raises(BadSettings):
        Policy(allow=(AddressRange.parse("127.0.0.1/32:9000"),), production=True)
    assert Policy.parse("", production=True).allow == ()


def test_the_system_s_own_look_up_gives_addresses() -> None:
    assert "127.0.0.1" in [*system_look_up("localhost"), *system_look_up("127.0.0.1")]


def test_a_refusal_does_not_tell_where_a_name_leads_inside_our_network() -> None:
    with pytest.raises(UrlRefused) as refused:
        asyncio.run(resolve(parse_url("https://db.test", PUBLIC), PUBLIC, lambda host: ["10.1.2.3"]))

    assert "10.1.2.3" not in str(refused.value)
