"""The match of the first page: one that can be followed, of a tournament first, then by the ratings of its players."""

from typing import Any

from sqlalchemy import update

from referee.ladders.tables import Ladder, Rating
from referee.matches.lists.match_filters import MatchFilter
from referee.matches.queue.claims import Claim
from referee.matches.states import MatchState
from referee.matches.tables import StoredMatch
from referee.workflows.publishing.featured import find_featured, find_finished, load_mean_ratings
from tests.database import tournaments
from tests.database.world import World

RATED: dict[str, Any] = {"rated": True, "options": {"rounds": 2}}


def running(world: World, *bots: str, **plan: object) -> Claim:
    """Create a match and claim it."""
    (claim,) = world.claim(match_id=world.match(list(bots) or None, **plan))
    return claim


def featured(world: World, shown: str | None = None) -> str | None:
    with world.database.read() as session:
        match = find_featured(session, shown)
        return match.id if match else None


def test_only_matches_that_everybody_can_follow_are_featured(world: World) -> None:
    running(world, rated=True)
    world.match(rated=False)
    assert featured(world) is None, "one hides its players, the other has not begun"

    friendly = running(world, rated=False)
    assert featured(world) == friendly.match_id
    world.finish(friendly)
    assert featured(world) is None


def test_a_match_whose_cards_are_played_at_other_tables_is_not_featured(world: World) -> None:
    tournaments.begun(world, 4, deal_sharing="common", anonymous=True)
    assert len(world.claim(2)) == 2

    assert featured(world) is None


def test_tournaments_come_first_then_the_highest_rated_players(world: World) -> None:
    strong, other, weak, weaker = world.bots(4)
    world.play([strong, other], **RATED)
    world.play([weak, weaker], **RATED)
    rate(world, {strong: 1700, other: 1600, weak: 1400, weaker: 1300})
    low = running(world, weak, weaker, rated=False)
    assert featured(world) == low.match_id
    high = running(world, strong, other, rated=False)
    assert featured(world) == high.match_id
    assert featured(world, shown=low.match_id) == low.match_id, "one that is watched stays"

    tournaments.begun(world, 2, anonymous=False)
    (claim,) = world.claim(1)
    assert featured(world) == claim.match_id

    assert world.read(load_mean_ratings, [low.match_id, high.match_id, claim.match_id]) == {
        low.match_id: 1350_000_000,
        high.match_id: 1650_000_000,
    }


def rate(world: World, ratings: dict[str, int]) -> None:
    """Give these bots ratings, in points, on the ladder of the game, which becomes the official one."""
    with world.database.write() as session:
        session.execute(update(Ladder).values(official=True))
        for bot, points in ratings.items():
            changed = session.execute(
                update(Rating).where(Rating.bot_id == bot).values(value=points * 1_000_000).returning(Rating.bot_id)
            )
            assert changed.all()


def good(world: World, game: str = "saint-poker") -> str | None:
    wanted = MatchFilter(status=MatchState.FINISHED, game=game, rated=True)
    match = world.read(find_finished, wanted, limit=50)
    return match.id if match else None


def test_the_finished_match_of_the_strongest_players_is_chosen_among_rated_ones_with_a_log(world: World) -> None:
    bots = world.bots(4)
    world.match(bots, rated=True)
    assert good(world) is None, "none is finished"
    strong, weak = (world.play(pair, rated=True).match_id for pair in (bots[:2], bots[2:]))
    world.play(bots[:2], rated=False)
    rate(world, dict(zip(bots, (1_900, 1_800, 1_000, 1_100), strict=True)))
    found = [good(world), good(world, "prisoners")]

    for match_id, change in ((strong, {"log_deleted_at": world.clock.utc_now()}), (weak, {"status": MatchState.VOID})):
        world.execute(update(StoredMatch).where(StoredMatch.id == match_id).values(change))
        found.append(good(world))

    assert found == [strong, None, weak, None]
