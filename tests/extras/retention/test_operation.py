"""The pruning of each night, the use of the disk that operators see, the settings and the command."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from referee.cli import main
from referee.db.engine import Database, current_time
from referee.matches.tables import StoredMatch
from referee.settings import BadSettings, Settings
from referee_extras.retention import disk_use, pruning
from referee_extras.retention.nightly_pruner import LOOK_S, REST_S, NightlyPruner
from referee_extras.retention.rules import Keep, Kind, rules_of
from referee_extras.retention.tables import DiskUse, RetentionRun
from tests.api.conftest import Person, Service
from tests.database.databases import write_upgraded
from tests.database.world import FakeClock, World
from tests.extras.retention.pruning import prune
from tests.surroundings import MASTER_KEY, settings_for


@pytest.fixture
def world(sqlite_url: str) -> World:
    return World(Database(sqlite_url, clock=FakeClock()))


@pytest.fixture
def month(tmp_path: Path) -> Settings:
    return replace(settings_for(tmp_path), of_extras={"retention": {Kind.LOGS: Keep(days=30)}})


def pruned(world: World) -> int:
    with world.database.read() as session:
        return len(session.scalars(select(StoredMatch.id).where(StoredMatch.log_deleted_at.is_not(None))).all())


def finish(pruner: NightlyPruner) -> int:
    """Run steps until there is nothing more to do. Return their number."""
    steps = 1
    while pruner.step() == REST_S:
        steps += 1
    return steps


def test_old_logs_are_pruned_in_steps_once_a_day(
    world: World, month: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "ROWS_PER_PORTION", 2)
    bots = world.bots(2)
    for _ in range(3):
        world.play(bots)
    world.clock.moment += timedelta(days=40)
    pruner = NightlyPruner(world.database, month)
    early = world.clock.moment.replace(hour=3, minute=59)

    world.clock.moment = early
    assert pruner.step() == LOOK_S
    assert pruned(world) == 0
    world.clock.moment = early + timedelta(minutes=2)
    assert finish(pruner) > 3
    assert pruned(world) == 3
    assert finish(pruner) == 1

    with world.database.read() as session:
        (run,) = session.scalars(select(RetentionRun))
        (measured,) = session.scalars(select(DiskUse))
    assert (run.day, run.deleted["logs"][0], run.finished_at is not None) == (early.date(), 3, True)
    assert measured.parts["logs"]["rows"] == 3


def test_a_scheduler_prunes_also_without_a_data_directory(world: World, month: Settings, tmp_path: Path) -> None:
    world.play(world.bots(2))
    world.clock.moment += timedelta(days=40, hours=5)

    finish(NightlyPruner(world.database, replace(month, data_dir=tmp_path / "missing" / "data")))

    assert pruned(world) == 1
    with world.database.read() as session:
        assert session.scalars(select(DiskUse.free_bytes)).one() > 0


def test_the_parts_add_up_to_the_database_and_the_files(world: World, month: Settings) -> None:
    (month.data_dir / "logs").mkdir()
    (month.data_dir / "logs" / "api.log").write_bytes(b"x" * 100)
    (month.data_dir / "backup.tar").write_bytes(b"x" * 200)
    world.play(world.bots(2))

    with world.database.read() as session:
        measured = disk_use.measure(session, month.data_dir)
        assert disk_use.find_growth(session, measured) == disk_use.Growth(None, None)

    sizes = {name: part["bytes"] for name, part in measured.parts.items()}
    assert (sizes["process_logs"], sizes["backups"]) == (100, 200)
    assert sum(sizes.values()) == measured.database_bytes + 300
    assert sizes["logs"] > 100
    assert measured.free_bytes > 0


def test_before_the_first_night_only_the_rules_are_known(service: Service, admin: Person) -> None:
    use = admin.get("/disk-use").get_json()

    assert (use["measured_at"], use["days_left"], use["parts"], use["pruned_at"]) == (None, None, [], None)
    rules = {rule["kind"]: rule["rule"] for rule in use["rules"]}
    assert rules["logs"] == "forever"
    assert rules["ladder_logs"] == "90 days"
    assert rules.keys() >= {*Kind}  # and those of other extras


def test_the_last_measurement_its_growth_and_the_last_pruning_are_shown(service: Service, admin: Person) -> None:
    with service.database.write() as session:
        now = current_time(session)
        for age, used in ((8, 7), (2, 100), (0, 500)):  # the first is too old to count
            moment = now - timedelta(days=age)
            parts = {"logs": {"rows": 3, "bytes": used}, "queue": {"rows": None, "bytes": used * 2}}
            measured = DiskUse(day=moment.date(), measured_at=moment, database_bytes=used, free_bytes=6000, parts=parts)
            disk_use.store(session, measured)
    prune(service, Kind.TOKENS, days=1)

    use = admin.get("/disk-use").get_json()

    assert (use["database_bytes"], use["free_bytes"]) == (500, 6000)
    assert (use["growth_bytes_per_day"], use["days_left"]) == (600, 10)
    assert use["parts"] == [{"part": "queue", "bytes": 1000, "rows": None}, {"part": "logs", "bytes": 500, "rows": 3}]
    assert use["pruned_at"] is not None


def test_only_operators_see_the_use_of_the_disk(service: Service, owner: Person) -> None:
    assert owner.get("/disk-use").status_code == 403
    assert service.anonymous().get("/api/v1/disk-use").status_code == 401


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_DATA", str(tmp_path))


POSSIBLE: list[tuple[str, str, int | None]] = [  # variable, its text, days
    *(("LADDER_LOGS", "", 90), ("LADDER_LOGS", "7 days", 7), ("LADDER_LOGS", "36500 days", 36_500)),
    *(("TOKENS", "forever", None), ("TOKENS", "30 days", 30), ("TOKENS", "1 day", 1), ("TOKENS", "90days", 90)),
    ("LOGS", "", None),
]
IMPOSSIBLE = [
    *(("LADDER_LOGS", "6 days", "7 to 36500"), ("LADDER_LOGS", "36501 days", "7 to 36500")),
    ("LOGS", "6 days", "expected 7 to 36500 days, or forever"),
    ("LOGS", "30", "expected forever or days, like 90 days"),
    ("FAULT_REPORTS", "3 days, 4 days", "expected forever or days, like 90 days"),
    ("TOKENS", "0 days", "expected 1 to 36500 days"),
    ("TOKENS", "a week", "expected forever or days, like 90 days"),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("name", "text", "days"), POSSIBLE)
def test_a_setting_is_a_rule(name: str, text: str, days: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"REFEREE_KEEP_{name}", text)

    assert rules_of(Settings.load())[name.lower()].days == days


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("name", "text", "reason"), IMPOSSIBLE)
def test_an_impossible_setting_is_explained_in_a_sentence(
    name: str, text: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"REFEREE_KEEP_{name}", text)

    with pytest.raises(BadSettings, match=f"REFEREE_KEEP_{name}.*{reason}"):
        Settings.load()


HERE = {"DATABASE_URL": "", "REFEREE_MASTER_KEY": MASTER_KEY.hex(), "REFEREE_KEEP_LOGS": "30 days"}


def test_a_dry_run_deletes_nothing_and_pruned_logs_are_counted_by_the_audit(tmp_path: Path) -> None:
    database = Database(write_upgraded(tmp_path / "referee.db"), clock=FakeClock())
    world = World(database)
    bots = world.bots(2)
    for _ in range(2):
        world.play(bots)
        world.clock.moment += timedelta(days=1)
    database.dispose()

    def run(*words: str) -> str:
        ran = CliRunner(env=HERE).invoke(main, ["admin", *words, "--data", str(tmp_path)])
        assert ran.exit_code == 0, ran.output
        return ran.output

    dry = run("prune", "--dry-run")
    untouched = run("audit")
    pruned, again = run("prune", "--json"), run("prune")

    lines = [line.split() for line in dry.splitlines()]
    assert lines[0] == ["kind", "to", "prune", "oldest", "MiB", "rule"]
    assert [line[2:4] for line in lines if line[:2] == ["logs", "2"]] == [["2026-01-01", "0.0"]]
    assert "logs are kept for 30 days" in dry
    assert "Nothing was deleted (--dry-run)." in dry
    assert "signed, not replayable" not in untouched
    assert json.loads(pruned)["deleted"]["logs"]["rows"] == 2
    assert "There was nothing to delete." in again
    told = json.loads(run("audit", "--json"))
    assert (told["holds"], told["not_replayable"]) == (True, 2)
    said = "2 logs are signed, not replayable: pruned, or of a game that is not installed."
    assert run("audit") == f"{said}\n{tmp_path}: no differences\n"
