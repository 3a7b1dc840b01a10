"""The best recent rating of an owner: of all their bots, not provisional, and of the last 90 days."""

from datetime import timedelta

from sqlalchemy import select

from referee.ladders.best_ratings import find_best_rating
from referee.ladders.tables import LedgerEntry, RatingChange
from referee.ratings.elo import MICRO
from referee.workflows.bots import retirement
from tests.database.world import World


def rated(world: World, bot_id: str, other: str, points: int, games: int = 30) -> str:
    """Play a match and give its first bot this rating after ``games`` matches; return the id of the ladder."""
    result = world.play([bot_id, other])
    with world.database.write() as session:
        seq = session.scalars(select(LedgerEntry.seq).where(LedgerEntry.match_id == result.match_id)).one()
        change = session.get_one(RatingChange, (seq, bot_id))
        change.after, change.games = points * MICRO, games
    return str(result.ladder_id)


def best_of(world: World, ladder_id: str, owner_id: str) -> int | None:
    found = world.read(find_best_rating, ladder_id, owner_id)
    return None if found is None else found // MICRO


def test_F6_losing_on_purpose_does_not_lower_the_best_rating_of_the_owner(world: World) -> None:
    owner, other = world.account(), world.bot()
    strong = world.bot(owner)
    ladder_id = rated(world, strong, other, 1_720)
    world.clock.moment += timedelta(days=1)
    rated(world, strong, other, 1_300)

    assert best_of(world, ladder_id, owner) == 1_720
    world.clock.moment += timedelta(days=88)
    assert best_of(world, ladder_id, owner) == 1_720
    world.clock.moment += timedelta(days=1.5)
    assert best_of(world, ladder_id, owner) == 1_300
    world.clock.moment += timedelta(days=1)
    assert best_of(world, ladder_id, owner) is None


def test_F6_another_bot_of_the_owner_and_a_retired_one_count_but_no_provisional_rating(world: World) -> None:
    owner, other = world.account(), world.bot()
    strong, fresh = world.bot(owner), world.bot(owner)
    ladder_id = rated(world, fresh, other, 1_900, games=29)
    assert best_of(world, ladder_id, owner) is None
    rated(world, strong, other, 1_650)
    world.write(retirement.retire_bot, strong)

    assert best_of(world, ladder_id, owner) == 1_650
    assert best_of(world, "lad_" + "0" * 26, owner) is None
