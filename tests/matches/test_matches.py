"""Creating, listing and cancelling matches."""

import pytest

from referee.errors import BadOption, Conflict, NoSuchGame, NotFound
from referee.matches import matches
from referee.matches.lists.match_filters import MatchFilter
from referee.workflows.voids import match_cancellation
from tests.database.world import GAME, World, manifest_of
from tests.surroundings import MASTER_KEY


def test_a_match_is_due_with_all_its_options_spelt_out(world: World) -> None:
    seated = world.bots(2)
    match_id = world.match(seated)
    loaded = world.load(match_id)

    assert (loaded.status, loaded.epoch, loaded.lines, loaded.group_state) == ("due", 0, [], "new")
    assert [player["bot"] for player in loaded.header["players"]] == seated
    assert loaded.header["group"]["entries"] == seated
    assert loaded.header["options"]
    with world.database.read() as session:
        assert matches.get_match(session, match_id).options == loaded.header["options"]


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        ({"game": "chess"}, NoSuchGame),
        ({"options": {"colour": "red"}}, BadOption),
        ({"bots": []}, BadOption),
        ({"bots": ["bot_" + "0" * 26] * 2}, NotFound),
    ],
)
def test_what_cannot_be_played_is_refused(world: World, plan: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        world.match(world.bots(2), **plan)


def test_only_bots_that_play_the_game_are_seated(world: World) -> None:
    with pytest.raises(BadOption, match="does not play"):
        world.match([world.bot(), world.bot(manifest=manifest_of("1", ["pool-nap"], 8))])


def test_lists_are_filtered_and_paged(world: World) -> None:
    one, other, third = world.bots(3)
    made = [world.match([one, other]) for _ in range(3)]
    nap = world.match([one, third, other], game="pool-nap")
    world.claim(2)

    with world.database.read() as session:
        everything = matches.list_matches(session, limit=2)
        rest = matches.list_matches(session, limit=2, cursor=everything.next)
        of_third = matches.list_matches(session, MatchFilter(bot_ids=[third]))
        running = matches.list_matches(session, MatchFilter(status="running", game=GAME))

    assert [match.id for match in everything.items + rest.items] == [nap, *made[::-1]]
    assert [match.id for match in of_third.items] == [nap]
    assert {match.id for match in running.items} == set(made[:2])


def test_a_match_is_cancelled_once_and_never_after_its_end(world: World) -> None:
    match_id, other = world.match(), world.match()
    with world.database.write() as session:
        match_cancellation.cancel_match(session, match_id, "by hand", master_key=MASTER_KEY)
    with pytest.raises(Conflict, match="cancelled"), world.database.write() as session:
        match_cancellation.cancel_match(session, match_id, master_key=MASTER_KEY)

    (claim,) = world.claim(5)
    world.finish(claim)
    assert claim.match_id == other
    with pytest.raises(Conflict, match="finished"), world.database.write() as session:
        match_cancellation.cancel_match(session, other, master_key=MASTER_KEY)
    with pytest.raises(NotFound), world.database.write() as session:
        match_cancellation.cancel_match(session, "mat_" + "0" * 26, master_key=MASTER_KEY)
