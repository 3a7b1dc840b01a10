"""The file of a worker's claims: read when its work-horse or all of its processes have died, never before."""

import os
from pathlib import Path

from referee.db.engine import Database
from referee.matches.deals import openings
from referee.matches.matches import get_match
from referee.matches.queue.claims import Claim
from referee.matches.tables import DealGroup
from tests.database.world import World
from workers.claim_file import ClaimFile, expire_abandoned


def test_K1_only_files_whose_processes_have_all_died_are_abandoned(tmp_path: Path) -> None:
    file = ClaimFile.create(tmp_path)
    survivor = os.dup(file._descriptor)  # as in a work-horse: the lock belongs to both
    assert list(ClaimFile.open_abandoned(tmp_path)) == []

    os.close(file._descriptor)
    assert list(ClaimFile.open_abandoned(tmp_path)) == []
    os.close(survivor)

    (abandoned,) = ClaimFile.open_abandoned(tmp_path)
    abandoned.delete()
    assert list(tmp_path.iterdir()) == []


def test_K3_the_claims_in_the_file_end_and_all_others_last(database: Database, tmp_path: Path) -> None:
    world = World(database)
    ours, others = world.match(), world.match()
    first, second = world.claim(2)
    file = ClaimFile.create(tmp_path)
    file.add("match", [Claim(f"mat_{number}", 1) for number in range(1200)])
    file.add("match", [first, Claim(others, second.epoch + 1)])
    os.write(file._descriptor, f"match {others} {second.epoch}".encode())  # killed while it wrote

    file.expire(database)

    assert [claim.match_id for claim in world.claim(5)] == [ours]
    assert file._read()["match"] == []
    file.delete()


def test_K1_an_opening_by_dead_processes_ends_when_a_worker_starts(database: Database, tmp_path: Path) -> None:
    world = World(database)
    match_id = world.match()
    with database.write() as session:
        group_id = get_match(session, match_id).group_id
        opening = openings.claim_opening(session, group_id)
    assert opening is not None
    dead = ClaimFile.create(tmp_path)
    dead.add("deal_group", [(group_id, opening.epoch)])
    os.close(dead._descriptor)

    expire_abandoned(tmp_path, database)

    with database.write() as session:
        again = openings.claim_opening(session, group_id)
        assert session.get_one(DealGroup, group_id).epoch == opening.epoch + 1
        assert get_match(session, match_id).status == "due"
    assert again is not None
