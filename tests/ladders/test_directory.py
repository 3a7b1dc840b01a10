"""The directory lists bots by game, level and activity."""

from datetime import timedelta
from typing import Any

from sqlalchemy import update

from referee.db.engine import current_time
from referee.ladders import directory
from referee.ladders.kinds import Level
from referee.ladders.tables import Ladder, LedgerEntry, Rating
from referee.ratings.elo import MICRO
from tests.database.world import START, World, manifest_of


def listed(world: World, **filters: Any) -> list[str]:
    return [bot.id for bot in world.read(directory.list_bots, **filters).items]


def played(world: World) -> tuple[list[str], str]:
    """Return two rated bots on an official ladder, and one that has not played."""
    rated = world.bots(2)
    world.play(rated)
    with world.database.write() as session:
        session.execute(update(Ladder).values(official=True))
        for bot, points in zip(rated, (1_390, 1_600), strict=True):
            session.execute(update(Rating).where(Rating.bot_id == bot).values(value=points * MICRO))
    return rated, world.bot(manifest=manifest_of(games=["prisoners"]))


def test_bots_are_filtered_by_game_and_level(world: World) -> None:
    (weak, strong), fresh = played(world)

    assert listed(world) == [fresh, strong, weak]
    assert listed(world, game="prisoners") == [fresh]
    assert listed(world, game="saint-poker") == [strong, weak]
    levels = {level: set(listed(world, level=level)) for level in Level}
    assert levels == {
        Level.UNRATED: {fresh},
        Level.RATED: {weak, strong},
        Level.BELOW_1400: {weak},
        Level.FROM_1400_TO_1600: set(),
        Level.ABOVE_1600: {strong},
    }
    assert listed(world, game="pool-nap", level="unrated") == [strong, weak]
    assert listed(world, game="saint-poker", level="rated", status="paused") == []


def test_only_official_ladders_make_a_level(world: World) -> None:
    (weak, strong), fresh = played(world)
    world.execute(update(Ladder).values(official=False))

    assert set(listed(world, level="unrated")) == {weak, strong, fresh}


def test_bots_are_active_by_the_last_change_of_a_rating(world: World) -> None:
    (weak, strong), _ = played(world)
    assert listed(world, active_days=1) == [strong, weak]

    now = world.read(current_time)
    world.execute(update(LedgerEntry).values(created_at=now - timedelta(days=8)))

    assert (listed(world, active_days=7), listed(world, active_days=9)) == ([], [strong, weak])


def test_a_listing_has_owner_certificates_ratings_and_activity(world: World) -> None:
    (weak, _), fresh = played(world)

    with world.database.read() as session:
        (last, *_, first) = directory.load_listings(session, directory.list_bots(session).items)

    assert (last.bot.id, last.certified, last.ratings, last.rated_at) == (fresh, ["prisoners"], [], None)
    assert (first.bot.id, first.certified) == (weak, ["pool-nap", "saint-poker"])
    assert [(rating.game, rating.value, rating.games) for rating in first.ratings] == [
        ("saint-poker", 1_390 * MICRO, 1)
    ]
    assert first.owner_name.startswith("Account ")
    assert first.rated_at is not None
    assert first.rated_at > START


def test_a_page_takes_the_same_statements_however_many_bots_it_has(world: World, statements: list[str]) -> None:
    costs = []
    for more in (1, 20):
        world.bots(more)
        statements.clear()
        with world.database.read() as session:
            page = directory.list_bots(session, game="saint-poker", level="unrated", active_days=None)
            assert len(directory.load_listings(session, page.items)) >= more
        costs.append(len([one for one in statements if one.startswith("SELECT")]))

    assert costs[0] == costs[1] <= 6
