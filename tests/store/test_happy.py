from tests.store.world import World


def test_a_match_is_played(world: World) -> None:
    result = world.play(world.bots(2))
    assert result.seq == 1
