"""A question is sent only while the claim on its match is known to be valid, however long connecting took."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from referee.botclient.client import BotCaller
from referee.matches import matches
from tests.workers.conftest import Scripted, World
from tests.workers.test_runner import PATIENT, SHORT
from workers import match_runner


def test_K1_no_question_is_sent_when_another_runner_claimed_the_match_while_this_one_connected(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a host that is cut off from everything, and connects when the network is back."""
    asked: list[str] = []
    lost: list[str] = []
    get_connection = BotCaller._get_connection

    async def note(request: web.Request) -> None:
        asked.append(request.headers["webhook-id"])

    async def lose_claim_once(caller: BotCaller, call: Any) -> Any:
        connection = await get_connection(caller, call)
        if asked and not lost:
            with world.database.write() as session:
                matches.get_match(session, asked[0].rsplit("_s", 1)[0]).revoke_claim()
            lost.append(asked[-1])
        return connection

    async def story() -> str:
        async with world.houses("first", Scripted(note)):
            match_id = world.arrange("saint-poker", world.bot_ids, options=SHORT, limits=PATIENT)
            monkeypatch.setattr(match_runner, "CONFIRM_CLAIM_S", 0.0)
            monkeypatch.setattr(BotCaller, "_get_connection", lose_claim_once)
            await world.run()  # claims the match again
            return match_id

    match_id = asyncio.run(story())

    assert world.match(match_id).epoch == 3  # two claims and the loss between them
    assert world.verified(match_id).ok
    assert len(lost) == 1
    assert sorted(set(asked)) == sorted(asked)
