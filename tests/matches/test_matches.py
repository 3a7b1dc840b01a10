"""Creating, listing and cancelling matches."""

import pytest

from referee.errors import BadOption, Conflict, NoSuchGame, NotFound
from referee.matches import matches
from referee.workflows.voids import match_cancellation
from tests.database.world import World
from tests.surroundings import MASTER_KEY


def test_a_match_is_due_with_all_its_options_spelt_out(world: World) -> None:
    seated = world.bots(2)
    match_id = world.match(seated)
    loaded = world.load(match_id)

    assert (loaded.status, loaded.epoch, loaded.lines, loaded.group_state) == ("due", 0, [], "new")
    assert [player["bot"] for player in loaded.header["players"]] == seated
    assert loaded.header["group"]["entries"] == seated
    assert loaded.header["options"]
    assert world.read(matches.get_match, match_id).options == loaded.header["options"]


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        ({"game": "chess"}, NoSuchGame),
        ({"options": {"colour": "red"}}, BadOption),
        ({"bots": []}, BadOption),
        ({"bots": ["bot_" + "0" * 26] * 2}, NotFound),
        ({"game": "prisoners"}, BadOption),  # which the bots do not play
    ],
)
def test_what_cannot_be_played_is_refused(world: World, plan: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        world.match(world.bots(2), **plan)


def test_a_match_is_cancelled_once_and_never_after_its_end(world: World) -> None:
    match_id, other = world.match(), world.match()
    world.write(match_cancellation.cancel_match, match_id, "by hand", master_key=MASTER_KEY)
    with pytest.raises(Conflict, match="cancelled"), world.database.write() as session:
        match_cancellation.cancel_match(session, match_id, master_key=MASTER_KEY)

    (claim,) = world.claim(5)
    world.finish(claim)
    assert claim.match_id == other
    with pytest.raises(Conflict, match="finished"), world.database.write() as session:
        match_cancellation.cancel_match(session, other, master_key=MASTER_KEY)
    with pytest.raises(NotFound), world.database.write() as session:
        match_cancellation.cancel_match(session, "mat_" + "0" * 26, master_key=MASTER_KEY)
