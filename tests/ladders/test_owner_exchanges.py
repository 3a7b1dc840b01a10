"""Points exchanged between owners: sums that follow from the results, without what was voided."""

from datetime import UTC, date, datetime

import pytest
from sqlalchemy import select, update

from referee.audit import repairs
from referee.ladders.owner_exchanges import Exchanged, sums_of
from referee.ladders.rating_replay import RatedSeats
from referee.ladders.tables import OwnerExchange
from referee.ratings.elo import MICRO, START
from tests.database.world import World

NOVEMBER = date(2026, 11, 1)


@pytest.fixture(autouse=True)
def in_november(world: World) -> None:
    world.clock.moment = datetime(2026, 11, 15, tzinfo=UTC)


def stored(world: World) -> set[tuple[object, ...]]:
    with world.database.read() as session:
        rows = session.scalars(select(OwnerExchange).where(OwnerExchange.encounters > 0)).all()
        return {(r.month, r.party, r.owner_id, r.encounters, r.gain, r.variance, round(r.excess, 9)) for r in rows}


def test_F5_the_gain_of_an_owner_and_what_chance_explains() -> None:
    # Both have 1500, and K is 20: the winner gains 20 / 2 = 10 points, with a variance of 20² / 4 = 100.
    even = {"a": START, "b": START}
    seats = RatedSeats(["a", "b"], [2, 1], [True, True], ["ada", "bob"], ["1", "1"], [None, None])

    assert sums_of(seats, even) == {("ada", "bob"): Exchanged(1, 10 * MICRO, 100_000)}


def test_F5_house_players_are_one_party_and_seats_that_do_not_count_are_left_out() -> None:
    # Three of four seats count, so K is divided by 2. Two seats of anchors meet the bot.
    bots = ["house", "a", "house", "left out"]
    before = {"house": START, "a": START}
    anchors = [START, None, START, None]
    seats = RatedSeats(bots, [2, 1, 3, 4], [False, True, False, False], [None, "ada", None, "bob"], [None] * 4, anchors)

    assert sums_of(seats, before) == {("", "ada"): Exchanged(2, 10 * MICRO, 50_000)}
    assert sums_of(seats, {}) == {}


def test_F5_a_voided_result_is_subtracted_from_its_month(world: World) -> None:
    one, other, third = world.bots(3)
    world.play([one, other])
    before = stored(world)
    result = world.play([one, other], choice=1)
    unique = world.play([one, third])

    world.clock.moment = datetime(2026, 12, 2, tzinfo=UTC)
    for match in (unique, result):
        world.void(match.match_id)

    assert stored(world) == before


def test_F5_a_repair_counts_the_same_again(world: World) -> None:
    one, other, third = world.bots(3)
    for number in range(4):
        result = world.play([one, other, third][number % 2 : number % 2 + 2], choice=number % 2)
    world.void(result.match_id)
    before = stored(world)
    world.execute(update(OwnerExchange).values(gain=7))

    world.write(repairs.repair_ladder, str(result.ladder_id))

    assert before
    assert stored(world) == before
