"""docs/operations.md: its variables, commands, log lines and ranges are the program's, and its commands work."""

import http.client
import re
import shlex
import signal
import stat
from contextlib import ExitStack
from ipaddress import ip_network
from pathlib import Path

import click
import pytest
from redis import Redis
from rq import Worker
from sqlalchemy import select

from referee.accounts import accounts
from referee.accounts.tables import Account
from referee.botclient import address_guard
from referee.cli import main
from referee.db.engine import Database
from referee.matches.states import MatchState
from referee.settings import setting_defaults
from tests.cli.running import says
from tests.database.databases import write_upgraded
from tests.deploy.compose import ROOT
from tests.deploy.processes import PATIENCE_S, environment_here, free_ports, listens, process
from tests.end_to_end.processes import until

PAGE = (ROOT / "docs" / "operations.md").read_text()
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
RUN_HERE = re.findall(r"<!-- run by [^>]*-->\n```sh\n(.*?)```", PAGE, re.DOTALL)


def test_its_table_of_variables_is_that_of_the_settings() -> None:
    listed = set(re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE))

    own_names = {"data_dir": "REFEREE_DATA", "database_url": "DATABASE_URL", "redis_url": "REDIS_URL"}
    of_settings = {own_names.get(name, f"REFEREE_{name.upper()}") for name in setting_defaults()}
    assert listed == of_settings | {"REFEREE_ACCEPTED_MASTER_KEYS"}  # a part of the setting ``master_key``


def test_every_command_of_the_program_exists_with_its_options() -> None:
    lines = [line.partition("#")[0] for block in BLOCKS for line in block.splitlines() if line.startswith("referee ")]
    lines += re.findall(r"`(referee [a-z][^`]*)`", PAGE)
    assert len(lines) > 8

    for line in lines:
        accepted(main, [word for word in shlex.split(line)[1:] if word != "--version"])


def accepted(command: click.Command, words: list[str]) -> None:
    """Walks down to the subcommand and compares the options; arguments may be left out in prose."""
    context = click.Context(command)
    while isinstance(command, click.Group) and words:
        found = command.get_command(context, words[0])
        assert found is not None, words
        command, words = found, words[1:]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known, words


def test_every_line_of_a_log_is_one_that_is_written() -> None:
    table = PAGE[PAGE.index("| log message |") :]
    quoted = [
        text
        for first in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
        for text in re.findall(r"`([^`]+)`", first)
    ]
    source = "\n".join(
        path.read_text()
        for package in ("api", "workers", "referee", "referee_extras")
        for path in (ROOT / package).rglob("*.py")
    )

    lines = [text.strip("… ") for text in quoted if text != "referee up"]

    assert len(lines) >= 10
    assert [line for line in lines if line not in source] == []


def test_the_states_of_a_match_are_all_explained() -> None:
    table = PAGE[PAGE.index("| match is |") : PAGE.index("| log message |")]

    assert [state for state in MatchState if f"`{state}`" not in table] == []


def test_the_firewall_closes_what_the_guard_closes() -> None:
    rules = (ROOT / "deploy" / "egress.nft").read_text()

    def ranges(name: str) -> set[str]:
        found = re.search(rf"set {name} \{{.*?elements = \{{(.*?)\}}", rules, re.DOTALL)
        assert found
        return {str(ip_network(block.strip())) for block in found[1].split(",")}

    assert ranges("closed4") == set(map(str, address_guard._NOT_PUBLIC_V4))
    assert ranges("closed6") == set(map(str, address_guard._NOT_PUBLIC_V6))
    assert f"ip6 daddr != {address_guard._UNICAST_V6} reject" in rules


# -- run --


def test_K31_a_backup_of_a_live_record_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_upgraded(tmp_path / "referee-data" / "referee.db")
    _, backup, restore = RUN_HERE

    def run(block: str) -> str:
        clean: dict[str, str | None] = {"DATABASE_URL": None, "REDIS_URL": None, "REFEREE_DATA": None}
        return "".join(says(clean, *shlex.split(line)[1:]).stdout for line in block.splitlines())

    open_account(tmp_path, "Before")
    run(backup)
    assert stat.S_IMODE((tmp_path / "backup.tar").stat().st_mode) == 0o600
    open_account(tmp_path, "After")
    said = run(restore)

    names = open_account(tmp_path, "Later")
    assert "no differences" in said
    assert ("Before" in names, "After" in names) == (True, False)


def open_account(folder: Path, name: str) -> set[str]:
    """Open an account in the database of ``referee-data``, and return the names of all accounts."""
    database = Database(f"sqlite:///{folder}/referee-data/referee.db")
    with database.write() as session:
        accounts.create_account(session, name, "owner")
        names = set(session.scalars(select(Account.name)))
    database.dispose()
    return names


def test_the_processes_start_without_docker_and_end_when_told(tmp_path: Path) -> None:
    redis_port, api_port = free_ports(2)
    commands = [line for line in RUN_HERE[0].splitlines() if line and not line.startswith("export")]
    assert [line.split()[0] for line in commands] == ["redis-server", "referee", "gunicorn", "python", "python"]
    commands = [line.replace("6379", str(redis_port)).replace("8000", str(api_port)) for line in commands]
    settings = environment_here(
        REFEREE_ENV="production",
        REFEREE_MASTER_KEY="ab" * 32,
        DATABASE_URL=f"sqlite:///{tmp_path}/referee.db",
        REDIS_URL=f"redis://127.0.0.1:{redis_port}/0",
        REFEREE_TRUSTED_PROXIES="1",
    )
    redis = Redis(port=redis_port)

    with ExitStack() as stack:
        stack.enter_context(process(commands[0], settings, tmp_path))
        until(lambda: listens(redis_port), "Redis")
        says(settings, *shlex.split(commands[1])[1:])
        lasting = [stack.enter_context(process(command, settings, tmp_path)) for command in commands[2:]]
        until(lambda: listens(api_port) and '"status":"ok"' in ready(api_port), "the API")
        until(lambda: len(Worker.all(connection=redis)) == 1, "a worker")
        assert all(one.poll() is None for one in lasting)

        for one in lasting:
            one.send_signal(signal.SIGTERM)
        ended = [one.wait(PATIENCE_S) for one in lasting]

    assert ended == [0, 0, 0]


def ready(port: int) -> str:
    """What the API says of itself; nothing while it is still starting and drops the call."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/readyz")
        body = connection.getresponse().read().decode()
    except (OSError, http.client.HTTPException):
        return ""
    finally:
        connection.close()
    return body.replace(" ", "").replace("\n", "")
