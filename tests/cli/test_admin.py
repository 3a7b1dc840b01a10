"""`referee admin`, `standings` and `audit` on the database of this machine."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.accounts import accounts
from referee.cli import main
from referee.db.engine import Database
from tests.database.databases import write_upgraded


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner(env={"REFEREE_DATA": str(folder)}).invoke(main, arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a data directory with an empty database, as after the first start of `referee up`."""
    write_upgraded(tmp_path / "referee.db")
    return tmp_path


def test_an_organiser_is_opened_in_the_database_of_the_service(folder: Path) -> None:
    made = run(folder, "admin", "create", "Olga")

    token = made.stdout.strip()
    database = Database(f"sqlite:///{folder / 'referee.db'}")
    with database.read() as session:
        found = accounts.find_token(session, token)
    database.dispose()
    assert found is not None
    assert (found[1].name, found[1].role) == ("Olga", "organiser")


def test_a_lost_token_is_replaced(folder: Path) -> None:
    first = run(folder, "admin", "create", "Olga").stdout

    second = run(folder, "admin", "token", "olga").stdout

    assert second.startswith("ref_")
    assert second != first


def test_a_name_that_is_taken_or_unknown_is_said(folder: Path) -> None:
    run(folder, "admin", "create", "Olga")

    again, unknown = run(folder, "admin", "create", "OLGA"), run(folder, "admin", "token", "Otto")

    assert (again.exit_code, unknown.exit_code) == (1, 1)
    assert "An account has the name 'OLGA' or one that looks the same" in again.output
    assert "Unknown account 'Otto'" in unknown.output


def test_an_empty_record_holds(folder: Path) -> None:
    assert run(folder, "admin", "audit").output == f"{folder}: no differences\n"


def test_only_a_stuck_match_is_made_due_again(folder: Path) -> None:
    refused = run(folder, "admin", "retry", "mat_0")

    assert refused.exit_code == 1
    assert "no match has the id mat_0" in refused.output
