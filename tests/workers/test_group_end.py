"""The notice at the end of a deal group, as bots receive it."""

import asyncio
import json

from aiohttp import web

from referee.house.players import find_player
from referee.house.server import House
from referee.match.canonical import Json
from referee.match.signature import head_after
from referee.matches.logs import chain
from tests.protocol.schemas import check
from tests.workers.conftest import World


class Notified(House):
    """A house bot that keeps the notices at the end of deal groups."""

    def __init__(self) -> None:
        super().__init__("first", find_player("first"))
        self.ends: list[Json] = []

    async def _notify(self, request: web.Request) -> web.Response:
        body = await request.read()
        if json.loads(body)["type"] == "group_end":
            self.ends.append(check("group_end_request", body))
        return await super()._notify(request)


def test_F14_bots_receive_the_head_of_the_chain_after_the_logs_of_their_match(world: World) -> None:
    notified = [Notified(), Notified()]

    async def play() -> None:
        async with world.houses(*notified):
            for _ in range(2):
                world.arrange("pool-nap", world.bot_ids, options={"rounds": 2})
                await world.run()

    asyncio.run(play())

    with world.database.read() as session:
        heads = [head_after(entry).to_json() for entry in chain.list_checked_entries(session, 0, 10)]
    assert [head["number"] for head in heads] == [1, 2]
    for bot in notified:
        assert [end["head"] for end in bot.ends] == heads
