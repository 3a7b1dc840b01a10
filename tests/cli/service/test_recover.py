"""`referee recover` against a service that runs, with a bot that proves its secret."""

import json
from pathlib import Path

import pytest

from referee.cli.service import saved_tokens
from tests.cli.hall import RunningHall
from tests.cli.running import Service
from tests.cli.test_login import says, type_at_terminal


@pytest.fixture
def up(running_hall: RunningHall) -> Service:
    return running_hall.up


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config"


def opens(up: Service, token: str | None) -> bool:
    """Return whether the token is accepted."""
    return bool(up.get("/api/v1/accounts/me", token or "").get("id"))


def test_a_lost_token_is_replaced_with_the_recovery_code(up: Service, config: Path, tmp_path: Path) -> None:
    opened = says(up.url, "login", "--name", "Ada")
    lost = saved_tokens.load(up.url)
    file = tmp_path / "code.txt"
    file.write_text(opened.stdout.partition("recovery code: ")[2])

    kept = says(up.url, "api", "POST", "/accounts/me/recovery-code")
    outdated = says(up.url, "recover", "Ada", "--code-file", str(file), status=1)
    file.write_text(json.loads(kept.stdout)["recovery_code"])
    saved_tokens.delete(up.url)
    recovered = says(up.url, "recover", "Ada", "--code-file", str(file))

    assert "Keep it apart from the token" in opened.stderr
    assert "the recovery code is wrong" in outdated.output
    assert f"signed in to {up.url} as Ada\nrecovery code: rcv_" in recovered.stdout
    assert "ref_" not in recovered.output
    assert (opens(up, lost), opens(up, saved_tokens.load(up.url))) == (False, True)


def test_a_lost_token_is_replaced_with_the_secret_of_a_bot(running_hall: RunningHall, tmp_path: Path) -> None:
    url, name, account = running_hall.url, "Dora random", "Owner of Dora random"
    folder = tmp_path / "mybot"
    folder.mkdir()
    (folder / "secret.txt").write_text(f"{running_hall.secrets[name]}\n")
    saved_tokens.save(url, running_hall.tokens[name])
    way = ("--bot", name, "--secret-file")

    stranger = says(url, "recover", "Owner of Ada sound", *way, str(folder), status=1)
    empty = says(url, "recover", account, *way, str(tmp_path), status=2)
    recovered = says(url, "recover", account, *way, str(folder), "--json")

    assert "You are signed in" in stranger.output
    assert "has no secret" in empty.output
    assert json.loads(recovered.stdout)["account"]["recovery_code"].startswith("rcv_")
    assert "ref_" not in recovered.output
    tokens = (running_hall.tokens[name], saved_tokens.load(url))
    assert [opens(running_hall.up, token) for token in tokens] == [False, True]


def test_wrong_usage_of_recover_says_what_to_pass(up: Service) -> None:
    for options in (("--bot", "B"), ("--secret-file", "x"), ("--bot", "B", "--secret-file", "x", "--code-file", "-")):
        assert (
            "Pass --bot and --secret-file, or --code-file" in says(up.url, "recover", "Ada", *options, status=2).output
        )
    assert "Pass --code-file FILE" in says(up.url, "recover", "Ada", status=2).output


def test_on_a_terminal_recover_asks_for_the_code_and_does_not_show_it(up: Service, config: Path) -> None:
    code = json.loads(says(up.url, "login", "--name", "Lou", "--json").stdout)["account"]["recovery_code"].encode()
    saved_tokens.delete(up.url)

    said = type_at_terminal(
        ["recover", "Lou", "--url", up.url], [(b"Recovery code", code)], XDG_CONFIG_HOME=str(config)
    )

    assert b"as Lou" in said
    assert code not in said
