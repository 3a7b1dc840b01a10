"""Lists of matches by bots, result, rating and time of creation."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from referee.matches import matches
from referee.matches.lists.match_filters import BotResult, MatchFilter
from referee.matches.tables import MatchSeat, StoredMatch
from tests.database.world import World


def ids(world: World, wanted: MatchFilter) -> set[str]:
    return {match.id for match in world.read(matches.list_matches, wanted, limit=100).items}


def finished(world: World, placements: dict[str, int]) -> str:
    """Play a match of these bots, and give them these placements."""
    match_id = world.play(list(placements)).match_id
    with world.database.write() as session:
        for bot_id, placement in placements.items():
            seat = MatchSeat.match_id == match_id, MatchSeat.bot_id == bot_id
            session.execute(update(MatchSeat).where(*seat).values(placement=placement))
    return match_id


def test_every_named_bot_has_a_seat(world: World) -> None:
    ada, bob, cyd = world.bots(3)
    pair, other, trio = (
        finished(world, dict.fromkeys(seated, 1)) for seated in ([ada, bob], [ada, cyd], [ada, bob, cyd])
    )

    assert ids(world, MatchFilter(bot_ids=[ada])) == {pair, other, trio}
    assert ids(world, MatchFilter(bot_ids=[bob, ada])) == {pair, trio}
    assert ids(world, MatchFilter(bot_ids=[cyd, bob, ada])) == {trio}


def test_a_result_is_compared_with_the_table_or_with_the_named_opponents(world: World) -> None:
    ada, bob, cyd = world.bots(3)
    second = finished(world, {ada: 2, bob: 3, cyd: 1})
    shared = finished(world, {ada: 1, bob: 1, cyd: 3})
    first = finished(world, {ada: 1, bob: 2, cyd: 3})

    def found(result: BotResult, *bots: str) -> set[str]:
        return ids(world, MatchFilter(bot_ids=bots, result=result))

    assert found(BotResult.AHEAD, ada) == {first}
    assert found(BotResult.LEVEL, ada) == {shared}
    assert found(BotResult.BEHIND, ada) == {second}
    assert found(BotResult.AHEAD, ada, bob) == {second, first}
    assert found(BotResult.LEVEL, bob, ada) == {shared}
    assert found(BotResult.BEHIND, bob, ada) == {second, first}
    assert found(BotResult.BEHIND, bob, ada, cyd) == {second, first}
    with pytest.raises(ValueError, match="of a bot"):
        found(BotResult.AHEAD)
    world.execute(update(StoredMatch).where(StoredMatch.id == first).values(status="void", rated=False))
    assert found(BotResult.AHEAD, ada) == set()  # only matches that count have a result
    assert ids(world, MatchFilter(rated=True)) == {second, shared}
    assert ids(world, MatchFilter(rated=False)) == {first}


def test_a_house_player_in_two_seats_is_not_its_own_opponent(world: World) -> None:
    house, bob = world.bots(2)
    match_id = finished(world, {house: 1, bob: 3})
    with world.database.write() as session:
        seat = {"match_id": match_id, "seat": 2, "bot_id": house, "bot_name": "house", "rated": True}
        session.add(MatchSeat(**seat, faults=0, placement=2))

    assert ids(world, MatchFilter(bot_ids=[house], result="ahead")) == {match_id}
    assert ids(world, MatchFilter(bot_ids=[bob], result="behind")) == {match_id}


def test_times_are_inclusive_and_exclusive_bounds(world: World) -> None:
    seated = world.bots(2)
    early, late = (world.play(seated).match_id for _ in range(2))
    with world.database.write() as session:
        noon = matches.get_match(session, late).created_at
        before = noon - timedelta(hours=1)
        session.execute(update(StoredMatch).where(StoredMatch.id == early).values(created_at=before))

    assert ids(world, MatchFilter(created_since=noon)) == {late}
    assert ids(world, MatchFilter(created_before=noon)) == {early}
    assert ids(world, MatchFilter(created_since=before, created_before=noon)) == {early}
