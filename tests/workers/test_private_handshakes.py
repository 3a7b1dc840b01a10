"""Handshakes with addresses on a private network: reports contain nothing of a reply before the proof."""

import asyncio
import json
import socket

import pytest

from referee.botclient.address_caps import AddressCaps
from referee.botclient.address_guard import Policy
from referee.botclient.client import CallLimits
from referee.botclient.private_bots import PrivateBots
from referee.bots import handshakes
from referee.house.server import serve
from referee.match.canonical import Json
from referee.private_ranges import AddressRange
from tests.botclient.hostile import Hostile, Line, Script, response, says
from tests.surroundings import MASTER_KEY
from tests.workers.conftest import World
from workers import bot_checks
from workers.bot_checks import perform_handshake
from workers.connectivity import Connectivity
from workers.database_thread import DatabaseThread

HOST = "127.0.0.2"  # an address other than that of the calls, which are made from 127.0.0.1
SECRET_TEXT = b"s3cret-of-the-printer"


async def silent(line: Line) -> None:
    await line.request()
    await asyncio.Event().wait()


SERVICES: dict[str, Script] = {
    "JSON": says(response(b'{"proof": "' + SECRET_TEXT + b'"}')),
    "an error": says(response(SECRET_TEXT, "403 Forbidden", "Server: " + SECRET_TEXT.decode())),
    "a redirect": says(response(b"{}", "302 Found", "Location: http://" + SECRET_TEXT.decode())),
    "another protocol": says(b"SSH-2.0-" + SECRET_TEXT + b"\r\n"),
    "nothing": silent,
}


async def handshake_with(world: World, policy: Policy) -> tuple[Json, list[float]]:
    """Perform the handshake that is due. Return its report, and the waits before it, which take no time here."""
    waits: list[float] = []

    async def wait(wait_s: float) -> None:
        waits.append(wait_s)

    thread = DatabaseThread(world.database, master_key=MASTER_KEY)
    try:
        (claimed,) = await thread.write(handshakes.claim_due_handshakes)
        limits = CallLimits(AddressCaps.for_handshakes())
        await perform_handshake(claimed, thread, policy, limits, MASTER_KEY, Connectivity(), wait=wait)
    finally:
        thread.close()
    report = world.bot(claimed.bot_id).handshake_report
    assert report is not None
    return dict(report), waits


def private(port: int) -> Policy:
    return Policy(private=PrivateBots([AddressRange.parse(f"{HOST}/32:{port}")], is_own=lambda address: False))


@pytest.mark.parametrize("service", SERVICES)
async def test_A20_what_listens_at_a_private_address_is_not_told(world: World, service: str) -> None:
    async with Hostile(SERVICES[service], host=HOST) as other:
        world.enlist(other.url)
        report, waits = await handshake_with(world, private(other.port))

    assert SECRET_TEXT.decode() not in json.dumps(report)
    assert report == {"ok": False, "manifest": None, "challenge": EXPECTED}
    assert len(waits) == 1
    assert 0 < waits[0] <= bot_checks.PRIVATE_FAILURE_S
    assert world.bot(world.bot_ids[0]).status == "unverified"


EXPECTED: Json = {
    "ok": False,
    "code": "not_proven",
    "detail": "this address accepts connections, but did not prove that it is your bot; for addresses on the private "
    "network, nothing more is said before the proof",
    "status": None,
    "attempts": 1,
    "reply": "",
    **dict.fromkeys(("total_ms", "dns_ms", "connect_ms", "wait_ms", "read_ms"), 0),
}


async def test_A20_a_closed_port_is_told_without_its_time(world: World) -> None:
    with socket.socket() as bound:
        bound.bind((HOST, 0))  # nobody listens, and nobody else gets it
        port = int(bound.getsockname()[1])
        world.enlist(f"http://{HOST}:{port}")
        report, waits = await handshake_with(world, private(port))

    told = {"code": "unreachable", "detail": "no connection to this address and port"}
    assert report == {"ok": False, "manifest": None, "challenge": EXPECTED | told}
    assert len(waits) == 1


async def test_A20_outside_the_private_ranges_the_reply_is_told(world: World) -> None:
    async with Hostile(SERVICES["an error"], host=HOST) as other:
        world.enlist(other.url)
        policy = Policy.parse(f"{HOST}/32:{other.port}")
        report, waits = await handshake_with(world, policy)

    assert SECRET_TEXT.decode() in json.dumps(report)  # so the tests above have something to hide
    assert waits == []


async def test_a_private_bot_that_proves_itself_is_verified_and_what_is_wrong_afterwards_is_told(world: World) -> None:
    house = await serve("first", host=HOST)
    try:
        bot = world.enlist(house.url)
        house.secret = world.secret_of(bot)
        port = int(house.url.rpartition(":")[2])
        report, waits = await handshake_with(world, private(port))
    finally:
        await house.close()

    assert (report["ok"], waits) == (True, [])
    assert report["challenge"]["status"] == 200
    assert world.bot(world.bot_ids[0]).status == "verified"
