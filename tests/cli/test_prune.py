"""`referee prune` and `referee audit --archive`: output, exit statuses and refusals."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import text

from referee.cli import main
from referee.db.engine import Database
from tests.database.databases import write_upgraded
from tests.database.world import FakeClock, World
from tests.surroundings import MASTER_KEY

HERE = {"DATABASE_URL": "", "REFEREE_MASTER_KEY": MASTER_KEY.hex(), "REFEREE_KEEP_LOGS": "30 days"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory with two matches that ended long ago."""
    folder = tmp_path / "data"
    database = Database(write_upgraded(folder / "referee.db"), clock=FakeClock())
    world = World(database)
    bots = world.bots(2)
    world.play(bots)
    world.clock.moment += timedelta(days=1)
    world.play(bots)
    database.dispose()
    return folder


def run(*words: str, **settings: str) -> Result:
    return CliRunner(env={**HERE, **settings}).invoke(main, words)


def test_a_dry_run_says_what_would_be_deleted_and_deletes_nothing(data: Path) -> None:
    result = run("prune", "--data", str(data), "--dry-run")

    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert lines[0] == ["kind", "to", "prune", "oldest", "MiB", "rule"]
    (logs,) = (line for line in lines if line[:2] == ["logs", "2"])
    assert logs[2] == "2026-01-01"
    assert "logs are kept for 30 days" in result.output
    assert "Nothing was deleted (--dry-run)." in result.output
    assert "signed, not replayable" not in run("audit", "--data", str(data)).output


def test_pruned_logs_are_counted_by_the_audit_and_replayed_from_the_archive(data: Path, tmp_path: Path) -> None:
    archive = str(tmp_path / "archive")

    pruned = run("prune", "--data", str(data), "--archive", archive, "--compact")
    again = run("prune", "--data", str(data))
    audited = run("audit", "--data", str(data))
    replayed = run("audit", "--data", str(data), "--archive", archive, "--json")

    assert (pruned.exit_code, again.exit_code, audited.exit_code) == (0, 0, 0), pruned.output
    assert "logs: 2 pruned" in pruned.output
    assert "were given back to the disk" in pruned.output
    assert "There was nothing to delete." in again.output
    assert audited.output == f"2 logs were pruned: signed, not replayable.\n{data}: no differences\n"
    told = json.loads(replayed.output)
    assert (told["holds"], told["not_replayable"], told["replayed_from_archive"]) == (True, 2, 2)


def test_an_archive_that_was_changed_makes_the_audit_fail(data: Path, tmp_path: Path) -> None:
    run("prune", "--data", str(data), "--archive", str(tmp_path / "archive"))
    for file in (tmp_path / "archive").glob("*/*.gz"):
        file.write_bytes(b"")

    result = run("audit", "--data", str(data), "--archive", str(tmp_path / "archive"))

    assert result.exit_code == 1
    assert "does not have the checksum of the index" in result.output
    assert result.output.endswith(f"{data}: 2 differences\n")


def test_a_service_that_uses_the_database_keeps_it_from_being_compacted(data: Path) -> None:
    database = Database(f"sqlite:///{data / 'referee.db'}")
    with database.read() as session:
        session.execute(text("SELECT count(*) FROM matches"))
        result = run("prune", "--data", str(data), "--compact", REFEREE_KEEP_LOGS="forever")
    database.dispose()

    assert result.exit_code == 1
    assert "Another process has" in result.output


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("LOGS", "6 days", "expected 7 to 36500 days, or forever"),
        ("LOGS", "0 MiB", "expected 1 to 1000000000 MiB, or forever"),
        ("LOGS", "30", "like 90 days, 2000 MiB"),
        ("FAULT_REPORTS", "3 days, 4 days", "like 90 days, 2000 MiB"),
        ("NOTIFICATIONS", "0 days", "expected 1 to 36500 days"),
        ("DELIVERIES", "1 day", "expected 2 to 36500 days"),
        ("TOKENS", "a week", "like 90 days, 2000 MiB"),
    ],
)
def test_an_impossible_setting_is_explained_in_a_sentence(data: Path, name: str, text: str, reason: str) -> None:
    result = run("prune", "--data", str(data), **{f"REFEREE_KEEP_{name}": text})

    assert result.exit_code == 1
    assert result.output.startswith(f"Error: REFEREE_KEEP_{name}: ")
    assert reason in result.output


@pytest.mark.parametrize("text", ["forever", "30 days", "1 day", "2000 MiB", "30 days, 2000 MiB", "2MiB,90days"])
def test_possible_settings_are_shown_as_rules(data: Path, text: str) -> None:
    result = run("prune", "--data", str(data), "--dry-run", REFEREE_KEEP_TOKENS=text)

    assert result.exit_code == 0, result.output
    assert "tokens are kept" in result.output


def test_a_dry_run_cannot_compact(data: Path) -> None:
    assert run("prune", "--data", str(data), "--dry-run", "--compact").exit_code == 2
