"""Seats in matches of the service: house bots in the runner's process; what bots learn of opponents."""

import asyncio

from aiohttp import web

from referee.bots import house_bots
from referee.house.pool import shared_pool
from referee.house.seat import HouseSeat, match_random
from referee.match.match import Request
from tests.database.tournaments import create
from tests.database.world import World as DatabaseWorld
from tests.protocol.schemas import check
from tests.surroundings import MASTER_KEY
from tests.workers.conftest import Scripted, World


async def test_a_bot_plays_house_bots_at_once_and_the_log_verifies(world: World) -> None:
    async with world.houses("first"):
        seated = [bot.id for bot in world.write(house_bots.get_or_create_house_bots)]
        match_id = world.arrange("prince-albert", [*world.bot_ids, *seated])
        assert (await world.run()).finished == 1

    rows = world.rows(match_id)
    asked = [row for row in rows if row["type"] == "decision" and row["seat"] > 0]
    assert world.verified(match_id).ok
    assert not rows[0]["rated"]
    assert {(row["ms"], row.get("fault")) for row in asked} == {(0, None)}
    assert len([nonce for nonce in rows[-1]["nonces"] if nonce]) == 1
    assert world.differences() == []
    assert shared_pool().processes()  # house:4 has searched outside the event loop


def test_a_question_asked_again_is_answered_alike_and_another_by_other_dice() -> None:
    legal = [{"type": "take", "card": card} for card in ("2c", "3c", "4c", "5c")]

    def answer(n: int, match_id: str = "mat_1") -> object:
        request = Request(0, n, n, {"phase": "pickup"}, [], legal, legal[0], {})
        seat = HouseSeat("random", "saint-poker", match_random(match_id, MASTER_KEY))
        return asyncio.run(seat.ask(request)).action

    assert [answer(n) for n in range(20)] == [answer(n) for n in range(20)]
    assert len({str(answer(n)) for n in range(20)}) > 1
    assert [answer(n) for n in range(20)] != [answer(n, "mat_2") for n in range(20)]


async def test_bots_are_told_who_plays_unless_the_tournament_is_anonymous(world: World) -> None:
    told: dict[str, list[dict[str, str]]] = {}

    async def note(request: web.Request) -> None:
        question = check("decide_request", await request.read())
        told[question["match"]["id"]] = question["match"]["players"]

    events = DatabaseWorld(world.database)
    async with world.houses(Scripted(note), "first"):
        hidden, shown = create(events, anonymous=True), create(events, anonymous=False)
        pair = world.bot_ids
        plans = [(pair, hidden), (pair[::-1], hidden), (pair, shown), (pair, None)]
        ids = [world.arrange("saint-poker", seated, tournament_id=within) for seated, within in plans]
        ids.append(world.arrange("saint-poker", pair, rated=False))
        await world.run()

    first, second, *named = (told[match_id] for match_id in ids)
    assert len({one["id"] for one in first + second}) == 4  # an alias is valid for one match only
    assert {*first[0], *second[0]} == {"seat", "id"}
    for players in named:
        assert [one["id"] for one in players] == world.bot_ids
        assert [one["name"] for one in players] == ["Bot 1", "Bot 2"]
        assert all(one["version"] for one in players)
