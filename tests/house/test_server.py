"""House bots over HTTP, called by the real client."""

import asyncio
import hashlib
import os
import signal
from pathlib import Path

import pytest

from referee.botclient import client
from referee.botclient.client import BotSeat, CallTarget
from referee.botclient.match_driver import drive
from referee.botclient.reply import Reply
from referee.house.server import run, serve
from referee.match.signature import ChainHead
from referee.protocol import messages
from referee.protocol.signing import bot_secret
from tests.botclient.hostile import LOOPBACK, PATIENCE_S, SECRET, caller
from tests.botclient.test_match_driver import begun, unrecorded
from tests.protocol.schemas import check


async def is_a_proper_bot(url: str, others_url: str) -> None:
    """Assert that a bot passes the handshake, refuses unsigned calls and plays a match without a fault."""
    bot = caller(url, now=None)
    proven = await client.challenge(bot)
    shown = await client.fetch_manifest(bot)
    assert (proven.fault, shown.fault) == ("", "")
    check("challenge_reply", proven.reply.body)
    check("manifest_reply", shown.reply.body)

    digest = "0" * 64
    first = await client.notify(bot, messages.group_start_body("grp_1", digest), "grp_1_start_1")
    promised = check("nonce_hash_reply", first.body)["nonce_hash"]
    second = await client.notify(bot, messages.group_start_body("grp_1", digest, [promised, ""]), "grp_1_start_2")
    nonce = check("nonce_reply", second.body)["nonce"]
    assert hashlib.sha256(nonce.encode()).hexdigest() == promised
    assert messages.read_nonce(second.body) == nonce
    for used, accepted in ((nonce, True), ("1" * 32, False), ("", False)):
        body = messages.group_start_body("grp_1", digest, [promised, ""], [used, ""])
        third = await client.notify(bot, body, f"grp_1_start_3_{used}")
        assert check("accepted_reply", third.body)["accepted"] is accepted

    ended = await client.notify(
        bot, messages.group_end_body("grp_1", digest, digest, [nonce, ""], ChainHead(1, digest)), "grp_1_end"
    )
    assert ended.ok

    stranger = client.BotCaller(CallTarget("bot_test", url, (bot_secret(b"x" * 32, "bot_x", 1),)), LOOPBACK)
    assert (await client.challenge(stranger)).fault == "bad_status"
    await plays([url, others_url])
    bot.close()
    stranger.close()


async def plays(urls: list[str]) -> None:
    match = begun(len(urls))
    seats = [BotSeat(caller(url, now=None), match.header, place) for place, url in enumerate(urls)]
    await drive(match, lambda request: seats[request.seat].ask(request), unrecorded)
    assert match.faults == [0] * len(urls)
    assert all(seat.last is not None for seat in seats)
    for seat in seats:
        body, reply = seat.last or (b"", Reply())
        check("decide_request", body)
        check("decide_reply", reply.body)
        seat.close()


async def test_a_house_player_is_a_proper_bot() -> None:
    async def served() -> None:
        house, other = await serve("sound", secret=SECRET), await serve("first")
        await is_a_proper_bot(house.url, other.url)
        await house.close()
        await other.close()

    await asyncio.wait_for(served(), PATIENCE_S * 3)


async def test_a_house_player_learns_its_secret_later_also_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret.txt"
    told, reading = await serve("random"), await serve("random", secret_file=file)
    bots = [caller(house.url, now=None) for house in (told, reading)]
    faults = [(await client.challenge(bot)).fault for bot in bots]
    file.write_text("password")
    faults.append((await client.challenge(bots[1])).fault)
    told.secret = SECRET
    file.write_text(SECRET + "\n")
    faults += [(await client.challenge(bot)).fault for bot in bots]
    for bot in bots:
        bot.close()
    await told.close()
    await reading.close()

    assert faults == ["bad_status"] * 3 + ["", ""]


async def test_a_wrong_proof_is_told_apart() -> None:
    house = await serve("random", secret=SECRET)
    other = bot_secret(b"m" * 32, "bot_test", 2)
    # Signed with both secrets, as during a rotation; the challenge uses a third.
    bot = client.BotCaller(CallTarget("bot_test", house.url, (SECRET,)), LOOPBACK)
    bot.target = CallTarget("bot_test", house.url, (other,))
    found = (await client.challenge(bot)).fault
    bot.close()
    await house.close()

    assert found == "wrong_proof"


async def test_latency_can_be_pretended() -> None:
    house = await serve("first", latency_ms=40)
    match = begun(2)
    seat = BotSeat(caller(house.url), match.header, 0)
    answer = await seat.ask(match.requests()[0])
    seat.close()
    await house.close()
    assert answer.trouble == ""
    assert seat.last is not None
    assert seat.last[1].timing.wait_ms >= 40


@pytest.mark.parametrize("word", [signal.SIGTERM, signal.SIGINT])
def test_a_house_bot_serves_until_it_is_told_to_stop(word: signal.Signals) -> None:
    urls: list[str] = []

    def stop(url: str) -> None:
        urls.append(url)
        os.kill(os.getpid(), word)

    run(serve("first"), stop)

    assert urls[0].startswith("http://127.0.0.1:")
