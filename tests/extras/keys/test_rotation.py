"""A rotation of the master key: what still needs the earlier key, and seeds that are sealed again."""

import pytest

from referee.master_keys import MasterKey
from referee.matches.deals import deal_groups
from referee.matches.tables import DealGroup, StoredMatch
from referee_extras.keys import rotation
from tests.database.world import World
from tests.surroundings import MASTER_KEY

NEW = bytes(range(100, 132))
OVERLAP = MasterKey(NEW, [MASTER_KEY])


def test_K34_ended_groups_are_sealed_again_and_unfinished_ones_keep_their_key(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotation, "GROUPS_PER_STEP", 2)
    bots = world.bots(2)
    over = [world.play(bots).match_id for _ in range(3)]
    open_match = world.match(bots)
    with world.database.read() as session:
        use, old = rotation.list_key_uses(session, OVERLAP)
    assert [(each.is_current, each.unfinished_groups, each.ended_groups) for each in (use, old)] == [
        (True, 0, 0),
        (False, 1, 3),
    ]

    report = rotation.reseal_ended_groups(world.database, OVERLAP)
    again = rotation.reseal_ended_groups(world.database, OVERLAP)

    assert (report.resealed, report.unreadable, again.resealed) == (3, 0, 0)
    with world.database.read() as session:
        use, old = rotation.list_key_uses(session, OVERLAP)
        for match_id in over:
            group = session.get_one(DealGroup, session.get_one(StoredMatch, match_id).group_id)
            assert deal_groups.unseal_seed_of_group(group, NEW)
        open_group = session.get_one(DealGroup, session.get_one(StoredMatch, open_match).group_id)
        with pytest.raises(deal_groups.WrongMasterKey):
            deal_groups.unseal_seed_of_group(open_group, NEW)
    assert (use.ended_groups, old.unfinished_groups, old.ended_groups) == (3, 1, 0)
    assert rotation.reseal_ended_groups(world.database, bytes(32)).unreadable == 3
