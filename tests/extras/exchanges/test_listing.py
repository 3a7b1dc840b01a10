"""The list of points exchanged between owners: order, what chance explains, pages."""

from datetime import UTC, date, datetime
from math import sqrt

import pytest
from sqlalchemy import select

from referee.bots.tables import Bot
from referee.errors import NotFound
from referee.ladders.owner_exchanges import SLACK
from referee.matches.tables import Result
from referee_extras.exchanges.listing import ExchangedPoints, list_exchanges
from tests.database.world import World

NOVEMBER = date(2026, 11, 1)


@pytest.fixture(autouse=True)
def in_november(world: World) -> None:
    world.clock.moment = datetime(2026, 11, 15, tzinfo=UTC)


def listed(world: World, result: Result, month: date = NOVEMBER, limit: int = 50) -> list[ExchangedPoints]:
    """Read all pages of this size."""
    found, cursor = [], None
    while True:
        with world.database.read() as session:
            page = list_exchanges(session, str(result.ladder_id), month, limit=limit, cursor=cursor)
        found += page.items
        cursor = page.next
        if cursor is None:
            return found


def test_F5_who_gains_from_whom_is_listed_with_what_chance_explains_least_first(world: World) -> None:
    one, other, third = world.bots(3)
    for number in range(6):
        result = world.play([one, other], choice=number % 2)
    world.play([other, third])
    owners = world_owners(world)

    found = listed(world, result)

    pairs = {frozenset([row.owner_id, row.loser_id]): row for row in found}
    assert pairs[frozenset([owners[one], owners[other]])].encounters == 6
    assert pairs[frozenset([owners[other], owners[third]])].encounters == 1
    assert all(row.points >= 0 for row in found)
    assert found == sorted(found, key=lambda row: -abs(row.deviation))
    assert found == listed(world, result, limit=1)
    for row in found:
        assert row.chance > sqrt(SLACK)
        assert row.deviation == pytest.approx(row.points / row.chance)
    assert listed(world, result, date(2026, 10, 1)) == []


def world_owners(world: World) -> dict[str, str]:
    with world.database.read() as session:
        return dict(session.execute(select(Bot.id, Bot.owner_id)).all())


def test_an_unknown_ladder_is_refused(world: World) -> None:
    with world.database.read() as session, pytest.raises(NotFound):
        list_exchanges(session, "lad_x", NOVEMBER)
