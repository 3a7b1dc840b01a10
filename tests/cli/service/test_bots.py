"""`referee bots` and `referee register --start` against a service that runs, with starter bots."""

import json
import os
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.cli.hall import LOOPBACK, RunningHall
from tests.cli.running import PATIENCE_S, comes_true, says, surroundings
from tests.deploy.processes import free_port, free_ports
from tests.test_docs import block


@pytest.fixture(scope="module")
def there(running_hall: RunningHall) -> dict[str, str]:
    """Return the environment of an author's commands."""
    return running_hall.as_author("Author of programs")


def starter(folder: Path) -> Path:
    says({}, "new-bot", str(folder))
    return folder


@contextmanager
def hosting(
    there: dict[str, str], *arguments: str, folder: Path | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run `referee register --start …` until it says that the bot runs; yield the process and what it said."""
    process = subprocess.Popen(
        [sys.executable, "-m", "referee", "register", *arguments], cwd=folder, env=surroundings(**there),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    said = b""
    try:
        while b"Ctrl-C stops it" not in said:
            assert select.select([process.stdout], [], [], PATIENCE_S)[0], said.decode()
            piece = os.read(process.stdout.fileno(), 65_536)
            assert piece, said.decode()
            said += piece
        yield process, said.decode()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_S)
        process.stdout.close()


def test_a_program_is_started_registered_kept_running_and_started_again(there: dict[str, str], tmp_path: Path) -> None:
    """The command is that of the README, with more options."""
    (folder, port), readme = (starter(tmp_path / "mybot"), free_port()), block("register")
    (command,) = re.findall(r"^referee register (.*)$", readme, re.MULTILINE)
    arguments = [{"My bot": "Hosted"}.get(word, word) for word in shlex.split(command)]
    assert re.search("^referee login --name ", readme)
    assert f"export REFEREE_EGRESS_ALLOW={LOOPBACK} " in block("service")

    with hosting(there, *arguments, "--port", str(port), "--language", "Python", folder=tmp_path) as (process, first):
        listed = json.loads(says(there, "bots", "--json").stdout)["items"]
        text = says(there, "bots").stdout
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
    assert not listens(port)
    with (folder / "bot.py").open("a") as program:
        program.write("\n# mended\n")
    with hosting(there, *arguments, folder=tmp_path) as (process, again):
        assert listens(port)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 128 + signal.SIGTERM
    assert not listens(port)

    assert "is certified: " in first
    assert f"answers on this machine, at http://127.0.0.1:{port}" in first
    assert f"runs at http://127.0.0.1:{port} and plays" in first
    assert (folder / "secret.txt").stat().st_mode & 0o777 == 0o600
    assert "already registered" in again
    mended = "mybot/bot.py changed since version 1 was checked, but calls itself version 1: raise `version`"
    assert mended in again
    assert "changed since" not in first
    assert "certificate of" in again
    (bot,) = [bot for bot in listed if bot["name"] == "Hosted"]
    assert (bot["url"], bot["language"]) == (f"http://127.0.0.1:{port}", "Python")
    assert len(bot["certified"]) == 5
    assert [ladder["game"] for ladder in bot["ladder_play"]["ladders"] if ladder["active"]]
    assert re.search(rf"^Hosted \(bot_\w+\): verified, version 1\n  url        http://127.0.0.1:{port}$", text, re.M)
    assert re.search(r"^  ladders    Pool Nap", text, re.M)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_program_that_cannot_be_started_registers_nothing(there: dict[str, str], tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_like_this\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        start = ("register", "--start", str(starter(tmp_path / "late")), "--name", "Late")

        assert (
            "nothing_like_this" in says(there, "register", "--start", str(broken), "--name", "Nobody", status=1).output
        )
        assert f"Port {port} is taken" in says(there, *start, "--port", port, status=1).output
    assert "neither a file" in says(there, "register", "--start", "absent", "--name", "Nobody", status=2).output
    assert "--start FILE" in says(there, "register", "--name", "Nobody", status=2).output
    names = [bot["name"] for bot in json.loads(says(there, "bots", "--json").stdout)["items"]]
    assert not {"Nobody", "Late"} & set(names)


def test_a_registered_bot_whose_secret_is_not_there_is_not_started(there: dict[str, str], tmp_path: Path) -> None:
    says(there, "register", "http://127.0.0.1:1024", "--name", "No secret", "--no-check")

    told = says(there, "register", "--start", str(starter(tmp_path / "here")), "--name", "No secret", status=1)

    assert "its secret is not in" in told.output
    refused = says(there, "bots", "move", "No secret", "http://127.0.0.1:9", status=1)
    assert "Error: URL: port_denied" in refused.output
    assert "--secret-file" in told.output


def test_a_mistyped_url_is_mended_and_the_bot_keeps_its_secret(there: dict[str, str], tmp_path: Path) -> None:
    folder, wrong, right = starter(tmp_path / "typo"), *free_ports(2)
    register = ("register", f"http://127.0.0.1:{wrong}", "--name", "Typo")

    failed = says(there, *register, "--secret-file", str(folder / "secret.txt"), status=1)
    other = says(there, "register", f"http://127.0.0.1:{right}", "--name", "Typo", status=1)
    (command,) = re.findall(r"referee (bots move Typo http://\S+)", other.output)
    process = subprocess.Popen([sys.executable, "bot.py", str(right)], cwd=folder, env=surroundings())
    try:
        assert comes_true(lambda: listens(right))
        moved = says(there, *command.split())
    finally:
        process.kill()
        process.wait()

    assert "referee bots move Typo URL" in failed.output
    assert "certificate of" in moved.stdout
    assert f"from http://127.0.0.1:{wrong} to http://127.0.0.1:{right}" in moved.stderr


def test_an_account_without_bots_is_told_how_to_register_one(running_hall: RunningHall) -> None:
    newcomer = running_hall.as_author("Newcomer")

    assert "referee register --start FILE --name NAME" in says(newcomer, "bots").stdout
    assert "you have no bots yet" in says(newcomer, "bots", "show", "X", status=1).output


def test_a_retired_bot_is_listed_on_demand_and_not_found_by_its_name(there: dict[str, str]) -> None:
    registered = says(there, "register", "http://127.0.0.1:1024", "--name", "Old bot", "--no-check", "--json")
    says(there, "api", "POST", f"/bots/{json.loads(registered.stdout)['id']}/retire")

    assert "Old bot" not in says(there, "bots").stdout
    assert "Old bot" in says(there, "bots", "list", "--retired").stdout
    assert "Unknown bot 'Old bot'" in says(there, "bots", "move", "Old bot", "http://127.0.0.1:1024", status=1).output
