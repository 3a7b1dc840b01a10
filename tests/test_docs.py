"""The pages are true: what the README tells people to run is run, what they name exists, links lead somewhere."""

import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.cli.running import PATIENCE_S, service, surroundings
from tests.cli.test_help import COMMANDS
from tests.machine import require

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PROTOCOL = (ROOT / "docs/bot-protocol.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = r"^referee ([a-z][a-z-]*)(?: ([a-z][a-z-]*)\b)?"
named_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def block(name: str, page: str = README) -> str:
    """The code block of a page that follows ``<!-- test: name -->``."""
    found = re.search(rf"<!-- test: {name} -->\n```\w+\n(.*?)```", page, re.DOTALL)
    assert found, name
    return found[1]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def run(line: str, folder: Path, **environment: str) -> str:
    """Runs a line as the page has it, with this environment's commands first on PATH."""
    bin = Path(sys.executable).parent
    path = f"{bin}:{surroundings()['PATH']}"
    bash = require("bash", "the commands of the README")
    done = subprocess.run(
        [bash, "-ec", line], cwd=folder, env=surroundings(PATH=path, **environment), capture_output=True, text=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_bot_in_20_lines_plays_a_match_without_faults(tmp_path: Path) -> None:
    bot = block("bot", PROTOCOL)
    (tmp_path / "mybot.py").write_text(bot)
    command = re.search(r"`(referee play \S+ mybot\.py \S+)`", PROTOCOL)
    assert command

    played = run(command[1], tmp_path)

    assert len([line for line in bot.splitlines() if line.strip()]) <= 20
    assert re.search(r"mybot\.py.* 0$", played, re.MULTILINE), f"the bot had faults:\n{played}"


def test_the_first_match_of_the_readme_is_played_told_and_verified(tmp_path: Path) -> None:
    lines = [line for line in block("first-match").splitlines() if line.startswith("referee ")]

    _, played, told, verified = (run(line, tmp_path) for line in lines)

    assert re.search(r"mybot .* 0$", played, re.MULTILINE), f"the bot had faults:\n{played}"
    assert told
    assert "ok" in verified


def test_a_bot_is_registered_as_the_readme_says(tmp_path: Path) -> None:
    """The bot is that in 20 lines. The last command runs it until Ctrl-C; here it ends when it has its certificate."""
    login, register = block("register").replace("--start mybot", "--start mybot.py").strip().splitlines()
    allowed = re.search(r"export (REFEREE_EGRESS_ALLOW)=(\S+)", block("service"))
    assert allowed
    (tmp_path / "mybot.py").write_text(block("bot", PROTOCOL))
    with service(tmp_path / "data", **{allowed[1]: allowed[2]}) as up:
        own = {"REFEREE_URL": up.url, "XDG_CONFIG_HOME": str(tmp_path / "config")}
        run(login, tmp_path, **own)
        port = free_port()
        command = [sys.executable, "-m", *shlex.split(register), "--port", str(port)]
        hosted = subprocess.Popen(command, cwd=tmp_path, env=surroundings(**own), stderr=subprocess.PIPE, text=True)
        assert hosted.stderr is not None
        said = ""
        with hosted.stderr as lines:
            for line in lines:
                said += line
                if "Ctrl-C stops it" in line:
                    break
            assert "Ctrl-C stops it" in said, said
            (bot,) = [bot for bot in up.get("/api/v1/bots")["items"] if bot["name"] == "My bot"]
            hosted.send_signal(signal.SIGINT)
            assert hosted.wait(PATIENCE_S) == 0

    assert bot["status"] == "verified"
    assert sorted(bot["certified"]) == ["pool-nap", "saint-poker"]


@named_page
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text())

    missing = [target for target in targets if not (page.parent / target).exists()]

    assert not missing


@named_page
def test_commands_that_are_named_exist(page: Path) -> None:
    text = page.read_text()
    shell = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    named = {*re.findall(COMMAND, shell, re.MULTILINE), *re.findall(rf"`{COMMAND[1:]}", text)}

    assert [command for command in named if not exists(*command)] == []


def test_commands_that_the_program_and_its_pages_name_exist() -> None:
    files = [path for folder in ("api", "referee", "workers", "deploy") for path in (ROOT / folder).rglob("*.*")]
    texts = {path: path.read_text() for path in files if path.suffix in (".py", ".html", ".js", ".yml")}

    unknown = {
        f"{path.relative_to(ROOT)}: {' '.join(command)}"
        for path, text in texts.items()
        for command in re.findall(rf"[`>]{COMMAND[1:]}", text)
        if not exists(*command)
    }

    assert unknown == set()


def exists(command: str, following: str) -> bool:
    """Return whether there is such a command or, if it is a group, such a command of it."""
    if command not in COMMANDS:
        return False
    return not following or not isinstance(COMMANDS[command], click.Group) or f"{command} {following}" in COMMANDS


@named_page
def test_make_targets_that_are_named_exist(page: Path) -> None:
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text(), re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert named <= targets


@named_page
def test_files_of_ours_that_are_named_exist(page: Path) -> None:
    text = page.read_text()
    named = set(re.findall(r"`((?:referee|referee_extras|api|workers|tests|tools|bots|docs|deploy)/[\w./-]+)`", text))
    modules = set(re.findall(r"python -m ((?:api|bench|tests|tools|workers|referee)[\w.]*)", text))

    named = {name for name in named if not re.search(r"-v\d+$", name)}  # ids of environments, not files
    assert [name for name in named if not (ROOT / name).exists()] == []
    for module in modules:
        place = ROOT / Path(*module.split("."))
        assert place.with_suffix(".py").exists() or place.is_dir(), module


@named_page
def test_the_project_speaks_of_itself_alone(page: Path) -> None:
    words = re.compile(r"\bsession \d|issue #?\d|helper", re.IGNORECASE)

    assert not words.search(page.read_text())
