"""The finished match of a game that is worth watching."""

from sqlalchemy import update

from referee.ladders.tables import Ladder, Rating
from referee.matches.lists.match_filters import MatchFilter
from referee.matches.states import MatchState
from referee.matches.tables import StoredMatch
from referee.workflows.publishing.featured import find_finished
from tests.database.world import World

GAME = "saint-poker"


def good(world: World, game: str = GAME) -> str | None:
    with world.database.read() as session:
        wanted = MatchFilter(status=MatchState.FINISHED, game=game, rated=True)
        match = find_finished(session, wanted, limit=50)
        return match.id if match else None


def change(world: World, match_id: str, **values: object) -> None:
    with world.database.write() as session:
        session.execute(update(StoredMatch).where(StoredMatch.id == match_id).values(**values))


def test_no_match_is_good_before_one_is_finished(world: World) -> None:
    world.match(world.bots(2), game=GAME, rated=True)

    assert good(world) is None


def test_the_match_of_the_strongest_players_is_chosen_among_rated_ones_with_a_log(world: World) -> None:
    bots = world.bots(4)
    strong, weak = (world.play(pair, game=GAME, rated=True).match_id for pair in (bots[:2], bots[2:]))
    world.play(bots[:2], game=GAME, rated=False)
    with world.database.write() as session:
        session.execute(update(Ladder).values(official=True))
        for bot, value in zip(bots, (1_900, 1_800, 1_000, 1_100), strict=True):
            session.execute(update(Rating).where(Rating.bot_id == bot).values(value=value * 1_000_000))

    assert good(world) == strong
    assert good(world, "prisoners") is None

    change(world, strong, log_deleted_at=world.clock.utc_now())
    assert good(world) == weak

    change(world, weak, status=MatchState.VOID)
    assert good(world) is None
