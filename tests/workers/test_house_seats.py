"""House bots at a table of the service: asked in the runner's process, told nothing, and no part of the shuffling."""

import asyncio

from referee.match import Request
from referee.rows import parsed
from referee.store import house
from tests.surroundings import MASTER_KEY
from tests.workers.conftest import World
from workers.house_seats import HouseSeat


def test_a_bot_plays_house_bots_at_once_and_the_log_verifies(world: World) -> None:
    async def story() -> str:
        async with world.houses("first"):
            with world.database.write() as session:
                seated = [bot.id for bot in house.house_bots(session)]
            match_id = world.arrange("prince-albert", [*world.bot_ids, *seated])
            tally = await world.run()
            assert (tally.finished, tally.failed) == (1, 0)
            return match_id

    match_id = asyncio.run(story())

    rows = [parsed(line) for line in world.lines(match_id)]
    asked = [row for row in rows if row["type"] == "decision" and row["seat"] > 0]
    assert world.verified(match_id).ok
    assert not rows[0]["rated"]
    assert {(row["ms"], row.get("fault")) for row in asked} == {(0, None)}
    assert len([nonce for nonce in rows[-1]["nonces"] if nonce]) == 1
    assert world.differences() == []


def test_a_question_asked_again_is_answered_alike_and_another_by_other_dice() -> None:
    legal = [{"type": "take", "card": card} for card in ("2c", "3c", "4c", "5c")]

    def answer(n: int, match_id: str = "mat_1") -> object:
        request = Request(0, n, {"phase": "pickup"}, [], legal, legal[0], {})
        return asyncio.run(HouseSeat("random", "saint-poker", match_id, MASTER_KEY).ask(request)).action

    assert [answer(n) for n in range(20)] == [answer(n) for n in range(20)]
    assert len({str(answer(n)) for n in range(20)}) > 1
    assert [answer(n) for n in range(20)] != [answer(n, "mat_2") for n in range(20)]
