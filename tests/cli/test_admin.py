"""`referee admin` on the database of this machine."""

from pathlib import Path

import pytest

from referee.accounts import accounts
from referee.db.engine import Database
from tests.cli.running import says
from tests.cli.test_json import document
from tests.database.databases import write_upgraded


@pytest.fixture
def here(tmp_path: Path) -> dict[str, str | None]:
    """Return the environment of a data directory with an empty database, as after the first start of `referee up`."""
    write_upgraded(tmp_path / "referee.db")
    return {"REFEREE_DATA": str(tmp_path)}


def test_accounts_are_opened_and_get_other_tokens_and_roles(here: dict[str, str | None], tmp_path: Path) -> None:
    data = ("--data", str(tmp_path))

    first = says(here, "admin", "create", "Olga").stdout.strip()
    second = says(here, "admin", "token", "olga").stdout.strip()
    made = document("admin", "create", "Ada", "--role", "owner", *data)
    changed = document("admin", "role", "Ada", "organiser", *data)
    another = document("admin", "token", "Ada", *data)

    assert changed == {"name": "Ada", "role": "organiser"}
    tokens = {first: "Olga", second: "Olga", made["token"]: "Ada", another["token"]: "Ada"}
    assert len(tokens) == 4
    database = Database(f"sqlite:///{tmp_path / 'referee.db'}")
    with database.read() as session:
        for token, name in tokens.items():
            found = accounts.find_token(session, token)
            assert found is not None
            assert (found[1].name, found[1].role) == (name, "organiser")
    database.dispose()


def test_a_name_that_is_taken_or_unknown_and_a_match_that_is_not_stuck_are_said(here: dict[str, str | None]) -> None:
    says(here, "admin", "create", "Olga")

    assert "An account has the name 'OLGA' or one" in says(here, "admin", "create", "OLGA", status=1).output
    assert "Unknown account 'Otto'" in says(here, "admin", "token", "Otto", status=1).output
    assert "Unknown account 'Otto'" in says(here, "admin", "role", "Otto", "owner", status=1).output
    assert "o match has the id mat_0" in says(here, "admin", "retry", "mat_0", status=1).output
