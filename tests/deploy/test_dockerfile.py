"""The Dockerfile: what it copies exists, what it installs is pinned, what it starts runs. It is built elsewhere."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.settings import environment
from tests.database.databases import write_upgraded
from tests.deploy.compose import ROOT, filled_in, services

LINE_ENDS = re.compile(r"\\\n\s*")
KNOWN = {"FROM", "ENV", "WORKDIR", "COPY", "ARG", "RUN", "USER", "EXPOSE", "CMD"}


@pytest.fixture(scope="module")
def instructions() -> list[tuple[str, str]]:
    text = "\n".join(line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#"))
    lines = [line for line in LINE_ENDS.sub("", text).splitlines() if line]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def test_it_is_one_stage_of_a_slim_debian_with_a_version(instructions: list[tuple[str, str]]) -> None:
    assert {word for word, _ in instructions} <= KNOWN
    assert [rest for word, rest in instructions if word == "FROM"] == ["python:3.11-slim-trixie"]


def test_what_it_copies_exists_and_is_let_in(instructions: list[tuple[str, str]]) -> None:
    let_in = (ROOT / ".dockerignore").read_text().splitlines()
    assert let_in[0] == "*"

    copied = [source for word, rest in instructions if word == "COPY" for source in rest.split()[:-1]]

    assert sorted(copied) == sorted(line.removeprefix("!") for line in let_in if line.startswith("!"))
    assert all(list(ROOT.glob(source)) for source in copied)


def test_what_the_wheel_copies_is_copied_first(instructions: list[tuple[str, str]]) -> None:
    sources = [source for word, rest in instructions if word == "COPY" for source in rest.split()[:-1]]
    copied = {path for source in sources for path in ROOT.glob(source)}
    (patterns,) = re.findall(r"^COPIED = \((.*)\)$", (ROOT / "setup.py").read_text(), re.MULTILINE)

    for pattern in re.findall(r'"([^"]+)"', patterns):
        files = list(ROOT.glob(pattern))
        assert files
        assert all(file in copied or copied & set(file.parents) for file in files)


def test_what_it_installs_is_named_by_the_lock_file(instructions: list[tuple[str, str]]) -> None:
    installs = [rest for word, rest in instructions if word == "RUN" and "pip install" in rest]

    assert installs
    assert all("--no-deps" in rest for rest in installs)
    assert "--requirement requirements.lock" in installs[0]


def test_its_client_of_postgresql_has_the_version_of_the_server(instructions: list[tuple[str, str]]) -> None:
    (installed,) = [rest for word, rest in instructions if word == "RUN" and "apt-get install" in rest]
    client = re.search(r"postgresql-client-(\d+)", installed)
    server = re.match(r"postgres:(\d+)-", services_by_example()["postgres"]["image"])

    assert client is not None
    assert server is not None
    assert client[1] == server[1]


def test_it_runs_as_nobody_in_particular(instructions: list[tuple[str, str]]) -> None:
    (user,) = [rest for word, rest in instructions if word == "USER"]
    uid, gid = map(int, user.split(":"))

    assert uid == gid
    assert uid > 1000
    assert f"uid={uid},gid={gid}" in str(services_by_example()["api"]["tmpfs"])


def test_what_it_starts_is_an_api_that_gunicorn_accepts(instructions: list[tuple[str, str]], tmp_path: Path) -> None:
    word, rest = instructions[-1]
    program, *arguments = json.loads(rest)
    assert (word, program) == ("CMD", "gunicorn")

    # Only the folder for heartbeats may be missing on the machine of a developer.
    arguments = [str(tmp_path) if argument == "/dev/shm" else argument for argument in arguments]
    settings = environment(REFEREE_DATA=str(tmp_path), REFEREE_MASTER_KEY="ab" * 32)
    write_upgraded(tmp_path / "referee.db")
    command = [sys.executable, "-m", "gunicorn", "--check-config", *arguments]
    ran = subprocess.run(command, env=settings, cwd=ROOT, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr


def test_the_api_gets_more_time_to_end_than_it_takes(instructions: list[tuple[str, str]]) -> None:
    arguments = json.loads(instructions[-1][1])
    graceful_s = int(arguments[arguments.index("--graceful-timeout") + 1])

    assert int(services_by_example()["api"]["stop_grace_period"].removesuffix("s")) > graceful_s


def services_by_example() -> dict[str, Any]:
    return services(filled_in())
