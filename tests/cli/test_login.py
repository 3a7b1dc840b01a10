"""`referee login`, `whoami`, `logout` against a service that runs, and which token the other commands then send."""

import json
import os
import pty
import select
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import Result

from referee.cli.service import saved_tokens
from referee.cli.service.api_client import Api
from tests.api.in_thread import api_in_thread
from tests.cli import running
from tests.cli.running import PATIENCE_S, surroundings


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of a service."""
    with api_in_thread(tmp_path_factory.mktemp("login"), rate_limits=False) as (url, _):
        yield url


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("REFEREE_DATA", raising=False)  # commands with --data set it for their process
    return tmp_path / "config"


def says(up: str, *arguments: str, status: int = 0, **environment: str) -> Result:
    return running.says({"REFEREE_URL": up} | environment, *arguments, status=status)


def new_token(up: str, name: str) -> str:
    with Api(up) as anybody:
        return str(anybody.post("/accounts", {"name": name})["token"]["token"])


def test_an_account_is_opened_and_used_by_other_commands_until_logout(up: str, config: Path) -> None:
    before = says(up, "whoami", status=1)
    opened = says(up, "login", "--name", "Ada Lovelace")
    known = json.loads(says(up, "whoami", "--json").stdout)
    unasked = says(up, "logout", status=2)
    left = says(up, "logout", "--yes")
    again = says(up, "logout")
    after = says(up, "bots", status=1)

    assert list(config.rglob("http*")) == []
    assert "Run `referee login`" in before.output
    assert f"signed in to {up} as Ada Lovelace" in opened.stdout
    assert "ref_" not in opened.output
    assert (known["account"]["name"], known["account"]["role"]) == ("Ada Lovelace", "owner")
    assert known["token_source"].startswith(str(config))
    assert "--yes" in unasked.output
    assert "signed out" in left.stdout
    assert "No token is saved" in again.stdout
    assert "run `referee login`" in after.output


def test_the_token_is_in_a_file_that_only_the_user_can_read_or_is_shown(up: str, config: Path) -> None:
    config.write_text("a file where the folder belongs")
    refused = says(up, "login", "--name", "Kim", status=1)
    config.unlink()
    says(up, "login", "--name", "Blaise")

    assert "ref_" in refused.output.partition("It is not shown again: ")[2]
    path = saved_tokens.path_of(up)
    assert path.is_relative_to(config)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]
    path.chmod(0o644)
    assert f"chmod 600 {path}" in says(up, "whoami", status=1).output


def test_options_and_environment_take_precedence_over_the_saved_token(up: str, config: Path, tmp_path: Path) -> None:
    says(up, "login", "--name", "Carl")
    file = tmp_path / "token.txt"
    file.write_text(new_token(up, "Dora"))
    of_eve = new_token(up, "Eve")

    assert "Carl" in says(up, "whoami").stdout
    assert "Dora" in says(up, "whoami", "--token-file", str(file), REFEREE_TOKEN=of_eve).stdout
    assert "Dora" in says(up, "whoami", REFEREE_TOKEN_FILE=str(file)).stdout
    environment = says(up, "whoami", REFEREE_TOKEN=of_eve).stdout
    assert environment.startswith("Eve (")
    assert environment.endswith("token: $REFEREE_TOKEN\n")


def test_later_commands_use_the_service_that_the_user_is_signed_in_to(
    up: str, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    elsewhere = "https://two.example"

    def says_without_url(*arguments: str, status: int = 0) -> Result:
        return says(up, *arguments, status=status, REFEREE_URL="")

    says_without_url("login", "--name", "Mia", "--url", up)
    known = says_without_url("whoami")
    shown = says_without_url("standings")
    saved_tokens.save(elsewhere, "ref_2")
    unclear = [says_without_url(command, status=2) for command in ("whoami", "standings")]
    named = says(up, "whoami")
    says_without_url("logout", "--yes", "--url", elsewhere)

    assert f"at {up}\n" in known.stdout
    assert shown.stdout == "No matches have been played yet.\n"
    for refused in unclear:
        message = " ".join(refused.stderr.replace("│", "").split())
        assert f"several services: {up}, {elsewhere}. Pass one with --url or in $REFEREE_URL" in message
    assert up in named.output
    assert says_without_url("whoami").stdout == known.stdout


def test_tokens_of_several_services_do_not_mix(config: Path) -> None:
    saved_tokens.save("https://one.example", "ref_1")
    saved_tokens.save("http://one.example", "ref_2")
    saved_tokens.save("https://one.example:8443", "ref_3")

    assert saved_tokens.load("https://ONE.example/path") == "ref_1"
    assert saved_tokens.load("one.example") == "ref_2"
    assert saved_tokens.load("https://one.example:8443") == "ref_3"
    assert saved_tokens.load("https://one.example.org") is None
    assert len(list(config.rglob("http*"))) == 3


def test_a_valid_token_of_another_account_is_never_overwritten(up: str, config: Path, tmp_path: Path) -> None:
    says(up, "login", "--name", "Faye")
    mine = saved_tokens.load(up)
    file = tmp_path / "token.txt"
    file.write_text(new_token(up, "Gus"))

    assert "as Faye" in says(up, "login", "--name", "Hal", status=1).output
    assert "referee logout" in says(up, "login", "--token-file", str(file), status=1).output
    assert saved_tokens.load(up) == mine
    saved_tokens.save(up, "ref_of_a_service_that_was_deleted")
    assert "as Gus" in says(up, "login", "--token-file", str(file)).stdout
    assert saved_tokens.load(up) == file.read_text()


def test_wrong_usage_and_refusals_of_login_say_what_to_do(up: str, config: Path, tmp_path: Path) -> None:
    assert "--name NAME" in says(up, "login", status=2).output
    assert "not both" in says(up, "login", "--name", "Ida", "--token", "ref_x", status=2).output
    assert "not accepted" in says(up, "login", "--token", "ref_x", status=1).output
    assert "does not answer" in says(up, "login", "--name", "Ida", "--url", "http://127.0.0.1:1", status=3).output
    with api_in_thread(tmp_path / "closed", self_service=False) as (closed, _):
        refused = says(closed, "login", "--name", "Jan", status=1).output
    assert "Ask the operator for one. Then run `referee login --token-file FILE`." in refused
    assert list(config.rglob("http*")) == []


def test_on_a_terminal_login_asks_for_the_name(up: str, config: Path) -> None:
    said = type_at_terminal(
        ["login", "--url", up],
        [(b"open a new account", b""), (b"Name of the new account", b"Lou")],
        XDG_CONFIG_HOME=str(config),
    )

    assert b"as Lou" in said


def type_at_terminal(command: list[str], dialogue: list[tuple[bytes, bytes]], **environment: str) -> bytes:
    """Run a command on a terminal of its own, type each answer after its question, and return all that is shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "referee", *command],
        stdin=theirs, stdout=theirs, stderr=theirs, env=surroundings(**environment), start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    said = b""
    for question, answer in dialogue:
        while question not in said:
            assert select.select([ours], [], [], PATIENCE_S)[0], said
            said += os.read(ours, 4096)
        os.write(ours, answer + b"\n")
    with suppress(OSError):  # Linux reports the end of a terminal as an error
        while select.select([ours], [], [], PATIENCE_S)[0]:
            said += os.read(ours, 4096)
    os.close(ours)
    assert process.wait(PATIENCE_S) == 0, said
    return said
