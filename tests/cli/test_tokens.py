"""`referee tokens` against a running service."""

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from referee.accounts import accounts
from referee.cli import main
from referee.db.engine import Database
from tests.api.serving import serving


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Return the options that select a running service, and a token of an account there."""
    folder = tmp_path_factory.mktemp("tokens")
    with serving(folder, 4) as server:
        database = Database(f"sqlite:///{folder / 'referee.db'}")
        with database.write() as session:
            _, text = accounts.create_token(session, accounts.create_account(session, "Ada").id, "first")
        database.dispose()
        yield ["--url", f"http://127.0.0.1:{server.port}", "--token", text]


def run(access: list[str], *arguments: str, status: int = 0) -> str:
    done = CliRunner().invoke(main, ["tokens", *arguments, *access])
    assert done.exit_code == status, f"{done.exit_code}\n{done.output}\n{done.exception!r}"
    return done.output


def test_a_token_is_created_with_its_scope_listed_and_revoked(access: list[str]) -> None:
    text = run(access, "create", "build server", "--scope", "read", "--days", "90").strip()
    limited = [*access[:2], "--token", text]

    listed = json.loads(run(access, "list", "--json"))["items"]
    (made,) = (token for token in listed if token["name"] == "build server")
    refused = run(limited, "create", "another", status=1)
    table = run(limited, "list")
    revoked = run(access, "revoke", made["id"])
    after = run(limited, "list", status=1)

    assert made["scopes"] == ["read"]
    assert made["expires_at"]
    assert "needs a token with the scope `all`; this token has read." in refused
    assert [line.split()[0] for line in table.splitlines()] == ["id", *(token["id"] for token in listed)]
    assert revoked.startswith(f"{made['id']} is revoked\n")
    assert "`referee account recovery-code` makes a new one" in revoked
    assert "not accepted" in after


def test_a_scope_that_does_not_exist_is_refused_with_those_that_do(access: list[str]) -> None:
    assert "'read', 'play', 'organise', 'all'" in run(access, "create", "laptop", "--scope", "write", status=2)
