"""`referee admin`, `standings` and `audit` on the record of this machine."""

from pathlib import Path

from click.testing import CliRunner, Result

from referee.cli import main
from referee.store import accounts
from referee.store.db import Database


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner(env={"REFEREE_DATA": str(folder)}).invoke(main, arguments)


def test_the_first_organiser_is_opened_before_the_service_ever_ran(tmp_path: Path) -> None:
    made = run(tmp_path, "admin", "create", "Olga")

    token = made.stdout.strip()
    database = Database(f"sqlite:///{tmp_path / 'referee.db'}")
    with database.read() as session:
        account = accounts.account_of(session, token)
    database.dispose()
    assert account is not None
    assert (account.name, account.role) == ("Olga", "organiser")


def test_a_lost_token_is_replaced(tmp_path: Path) -> None:
    first = run(tmp_path, "admin", "create", "Olga").stdout

    second = run(tmp_path, "admin", "token", "olga").stdout

    assert second.startswith("ref_")
    assert second != first


def test_a_name_that_is_taken_or_unknown_is_said(tmp_path: Path) -> None:
    run(tmp_path, "admin", "create", "Olga")

    again, unknown = run(tmp_path, "admin", "create", "OLGA"), run(tmp_path, "admin", "token", "Otto")

    assert (again.exit_code, unknown.exit_code) == (1, 1)
    assert "an account has the name 'OLGA' or one that looks like it" in again.output
    assert "no account has the name 'Otto'" in unknown.output


def test_an_empty_record_holds_and_has_no_standings(tmp_path: Path) -> None:
    run(tmp_path, "admin", "create", "Olga")

    assert run(tmp_path, "audit").output == f"{tmp_path}: the record holds\n"
    assert run(tmp_path, "standings").output == "nothing has been played yet\n"


def test_where_there_is_no_record_none_is_made(tmp_path: Path) -> None:
    for command in (["audit"], ["standings"], ["admin", "token", "Olga"]):
        refused = run(tmp_path, *command)

        assert refused.exit_code == 1
        assert f"there is no record in {tmp_path}" in refused.output
    assert not list(tmp_path.iterdir())


def test_a_service_that_does_not_answer_is_said(tmp_path: Path) -> None:
    refused = run(tmp_path, "standings", "--url", "http://127.0.0.1:9")

    assert refused.exit_code == 1
    assert "http://127.0.0.1:9 does not answer" in refused.output


def test_only_a_stuck_match_is_made_due_again(tmp_path: Path) -> None:
    run(tmp_path, "admin", "create", "Olga")

    refused = run(tmp_path, "admin", "revive", "mat_0")

    assert refused.exit_code == 1
    assert "no match has the id mat_0" in refused.output
