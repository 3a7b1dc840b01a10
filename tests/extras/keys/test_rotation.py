"""`referee admin keys`, and a rotation of the master key: what still needs the earlier one, and seeds sealed again."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.cli import main
from referee.db import sealing
from referee.db.engine import Database
from referee.master_keys import MasterKey
from referee.matches.deals import deal_groups
from referee.matches.tables import DealGroup, StoredMatch
from referee.runtime.data_dir import DataDir
from referee.settings import KEY_FILE, BadSettings, Settings
from referee.workflows.voids import voiding
from referee_extras.keys import rotation
from tests.database.databases import write_upgraded
from tests.database.world import World
from tests.surroundings import MASTER_KEY

NONE = {"DATABASE_URL": "", "REFEREE_MASTER_KEY": "", "REFEREE_ACCEPTED_MASTER_KEYS": ""}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with a match that ended and one that did not, and its key in a file."""
    folder = tmp_path / "data"
    database = Database(write_upgraded(folder / "referee.db"))
    world = World(database)
    world.play(world.bots(2))
    world.match()
    database.dispose()
    (folder / KEY_FILE).write_text(MASTER_KEY.hex())
    return folder


def run(*words: str, **settings: str) -> Result:
    return CliRunner(env={**NONE, **settings}).invoke(main, words)


def listed(data: Path) -> list[dict[str, object]]:
    shown = json.loads(run("admin", "keys", "list", "--data", str(data), "--json").output)
    items: list[dict[str, object]] = shown["items"]
    return items


def test_K34_a_key_in_the_data_directory_is_rotated_and_ended(data: Path) -> None:
    place = ("--data", str(data))
    (before,) = listed(data)

    rotated = run("admin", "keys", "rotate", *place)
    again = run("admin", "keys", "rotate", *place)
    too_early = run("admin", "keys", "end", *place)
    current, old = listed(data)
    resealed = run("admin", "keys", "reseal", *place)

    assert (before["id"], before["unfinished_groups"], before["ended_groups"]) == (sealing.key_id(MASTER_KEY), 1, 1)
    assert (rotated.exit_code, resealed.output) == (0, "1 seeds were sealed with the current key.\n"), rotated.output
    assert "still accepted" in again.output
    assert "needed for 1 unfinished and 1 ended deal groups" in too_early.output
    assert (current["is_current"], old["is_current"], old["id"]) == (True, False, before["id"])
    assert (data / KEY_FILE).stat().st_mode & 0o077 == 0
    assert run("admin", "audit", *place).exit_code == 0
    assert "current" in run("admin", "keys", "list", *place).output

    assert run("admin", "keys", "end", *place).exit_code == 1  # a match that began with the old key is not over
    assert run("admin", "keys", "end", "--force", *place).exit_code == 0
    (left,) = listed(data)
    assert left["id"] == current["id"]


def test_the_steps_of_a_rotation_print_json(tmp_path: Path) -> None:
    place = ("--data", str(tmp_path), "--json")
    run("admin", "upgrade", *place)

    told = [json.loads(run("admin", "keys", step, *place).output) for step in ("rotate", "reseal", "end")]

    assert told == [{"rotated": True}, {"resealed": 0, "unreadable": 0}, {"ended": 1, "set_by_environment": False}]


def test_K34_a_key_does_not_end_before_the_service_uses_the_new_one(data: Path) -> None:
    place = ("--data", str(data))
    service = DataDir(data)
    service.acquire()
    run("admin", "keys", "rotate", *place)
    database = Database(f"sqlite:///{data / 'referee.db'}")
    with database.write() as session:
        voiding.cancel_all_open(session, "over", master_key=MASTER_KEY)
    database.dispose()
    run("admin", "keys", "reseal", *place)

    too_early = run("admin", "keys", "end", *place)
    service.release()
    service.acquire()
    after_restart = run("admin", "keys", "end", *place)
    service.release()

    assert (too_early.exit_code, after_restart.exit_code) == (1, 0), after_restart.output
    assert "has not been restarted since the rotation" in too_early.output


def test_a_key_of_the_environment_is_not_changed_and_a_damaged_file_is_explained(data: Path) -> None:
    before = (data / KEY_FILE).read_text()

    result = run("admin", "keys", "rotate", "--data", str(data), REFEREE_MASTER_KEY=MASTER_KEY.hex())

    assert result.exit_code == 0
    assert "1. Add it to REFEREE_ACCEPTED_MASTER_KEYS on every host" in result.output
    assert (data / KEY_FILE).read_text() == before
    (data / KEY_FILE).write_text("no key")
    damaged = run("admin", "keys", "list", "--data", str(data))
    assert (damaged.exit_code, KEY_FILE in damaged.output) == (1, True)


@pytest.mark.parametrize(
    ("accepted", "reason"),
    [
        ("ab", "REFEREE_ACCEPTED_MASTER_KEYS must be 64 hex digits"),
        (MASTER_KEY.hex(), "REFEREE_ACCEPTED_MASTER_KEYS contains a key twice"),
        (",".join(f"{number:064x}" for number in range(4)), "REFEREE_ACCEPTED_MASTER_KEYS has more than 3"),
    ],
)
def test_impossible_keys_are_explained(
    tmp_path: Path, accepted: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFEREE_DATA", str(tmp_path))
    monkeypatch.setenv("REFEREE_MASTER_KEY", MASTER_KEY.hex())
    monkeypatch.setenv("REFEREE_ACCEPTED_MASTER_KEYS", accepted)

    with pytest.raises(BadSettings, match=reason):
        Settings.load()


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
