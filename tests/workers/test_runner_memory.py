"""What a runner keeps of matches that have ended: nothing."""

import asyncio
import gc
from itertools import count

from aiohttp import web

from referee.botclient.client import BotCaller
from referee.botclient.connection import Connection
from referee.match.match import Match
from tests.workers.conftest import SHORT, Scripted, World, hang_up


def test_a_match_is_freed_when_it_ends_and_not_only_by_the_garbage_collector(world: World) -> None:
    """Its rows survive the young generations, so collecting them would take the runner until much later."""

    async def break_sometimes(request: web.Request) -> None:
        if next(requests) % 5 == 0:
            hang_up(request)

    async def story() -> None:
        async with world.houses("first", Scripted(break_sometimes)):
            for _ in range(3):
                world.arrange("saint-poker", world.bot_ids, options=SHORT)
            assert (await world.run()).finished == 3

    requests = count(1)
    gc.collect()
    gc.disable()
    try:
        asyncio.run(story())
        left = [thing for thing in gc.get_objects(generation=0) if isinstance(thing, Match | BotCaller | Connection)]
    finally:
        gc.enable()

    assert next(requests) > 6, "a connection broke"
    assert left == []
