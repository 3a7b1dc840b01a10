"""`referee account`, `referee accounts` and `referee bots delete` against a running service."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.accounts import accounts
from referee.bots import bots
from referee.cli import main, saved_tokens
from referee.db.engine import Database
from tests.api.serving import serving

BOT = "https://bot.example.org/"


@dataclass
class Access:
    """Run commands against a service, each as one of its accounts."""

    url: str
    database: Database

    def account(self, name: str, role: str = "owner", bot: str = "") -> str:
        """Open an account, with a bot if it has a name, and return its token."""
        with self.database.write() as session:
            made = accounts.create_account(session, name, role)
            if bot:
                bots.register(session, made.id, bot, BOT)
            return accounts.create_token(session, made.id, "first")[1]

    def run(self, token: str, *arguments: str, status: int = 0) -> str:
        access = ["--url", self.url, *(["--token", token] if token else [])]
        done = CliRunner().invoke(main, [*arguments, *access])
        assert done.exit_code == status, f"{done.exit_code}\n{done.output}\n{done.exception!r}"
        return done.output


@pytest.fixture(scope="module")
def access(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Access]:
    folder = tmp_path_factory.mktemp("accounts")
    with serving(folder, 4) as server:
        database = Database(f"sqlite:///{folder / 'referee.db'}")
        yield Access(f"http://127.0.0.1:{server.port}", database)
        database.dispose()


def test_an_account_is_renamed_exported_and_deleted(access: Access, tmp_path: Path) -> None:
    token = access.account("Ada", bot="Engine")
    saved_tokens.save(access.url, token)
    file = tmp_path / "account.json"

    renamed = access.run("", "account", "rename", "Countess")
    access.run("", "account", "export", str(file))
    unasked = access.run("", "account", "delete", status=2)
    wrong = access.run("", "account", "delete", "--name", "Ada", status=1)
    deleted = access.run("", "account", "delete", "--name", "Countess")

    assert renamed == "Ada is now called Countess\n"
    exported = json.loads(file.read_text())
    assert (exported["accounts"][0]["name"], exported["bots"][0]["url"]) == ("Countess", BOT)
    assert "Pass --name NAME" in unasked
    assert "must be the present name: Countess" in wrong
    assert "shown as those of deleted account " in deleted
    assert saved_tokens.load(access.url) is None
    assert "not accepted" in access.run(token, "bots", status=1)


def test_a_bot_is_deleted_and_listed_as_that(access: Access) -> None:
    token = access.account("Brunel", bot="Bridge")

    unasked = access.run(token, "bots", "delete", "Bridge", status=2)
    deleted = access.run(token, "bots", "delete", "Bridge", "--yes")
    listed = access.run(token, "bots", "list", "--retired")

    assert "Pass --yes" in unasked
    assert "is deleted; its results are shown as those of deleted bot " in deleted
    assert listed.endswith("): deleted\n")
    assert "Bridge" not in listed


def test_an_operator_lists_renames_suspends_restores_and_deletes_accounts(access: Access) -> None:
    operator, token = access.account("Root", "admin"), access.account("Rude name")

    renamed = access.run(operator, "accounts", "rename", "rude name", "Calm name", "--reason", "Offensive")
    suspended = access.run(operator, "accounts", "suspend", "Calm name", "--reason", "Spam")
    listed = access.run(operator, "accounts", "list", "--name", "calm")
    refused = access.run(token, "bots", status=1)
    restored = access.run(operator, "accounts", "restore", "Calm name", "--reason", "Fine")
    (known,) = json.loads(access.run(operator, "accounts", "list", "--name", "Calm", "--json"))["items"]
    deleted = access.run(operator, "accounts", "delete", known["id"], "--reason", "On request", "--yes")
    unknown = access.run(operator, "accounts", "suspend", "Calm name", "--reason", "Spam", status=1)
    own = access.run(operator, "accounts", "delete", "Root", "--reason", "Bye", "--yes", status=1)
    forbidden = access.run(access.account("Curious"), "accounts", "list", status=1)

    assert renamed == "Rude name is now called Calm name\n"
    assert (suspended, restored) == ("Calm name is suspended\n", "Calm name is not suspended any longer\n")
    assert ": Spam" in " ".join(listed.split())
    assert "suspended: Spam" in refused
    assert f"{known['id']} is deleted and shown as deleted account {known['id'][-8:]}" in deleted
    assert "Unknown account 'Calm name'" in unknown
    assert "last operator" in own
    assert "Only the operator" in forbidden
