"""Health of bots as counted by a runner's matches."""

import asyncio

from aiohttp import web

from tests.workers.conftest import Scripted, World


def test_A7_a_bot_given_up_in_three_matches_is_paused_and_its_rival_is_not(world: World) -> None:
    async def stale(request: web.Request) -> web.Response:
        return web.json_response({"decision": "another", "action": {}})

    async def story() -> None:
        async with world.houses("first", Scripted(stale)):
            for _ in range(3):
                world.arrange("saint-poker", world.bot_ids)
            await world.run()

    asyncio.run(story())

    well, sick = (world.bot(bot_id) for bot_id in world.bot_ids)
    assert (well.status, well.unreachable_streak) == ("verified", 0)
    assert (sick.status, sick.unreachable_streak) == ("paused", 3)
    assert "resume it" in (sick.status_reason or "")
