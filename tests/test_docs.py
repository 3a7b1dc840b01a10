"""The pages are true: what the README tells people to run is run, what they name exists, links lead somewhere."""

import re
import shlex
from pathlib import Path

import click
import pytest

from tests.cli.running import says
from tests.cli.test_help import COMMANDS

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


def run(line: str) -> str:
    """Run a command as a page has it, and return what it prints."""
    return says({}, *shlex.split(line, comments=True)[1:]).stdout


def test_the_bot_in_20_lines_plays_a_match_without_faults_and_passes_its_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bot = block("bot", PROTOCOL)
    Path("mybot.py").write_text(bot)
    command = re.search(r"`(referee play \S+ mybot\.py \S+)`", PROTOCOL)
    assert command

    played, checked = run(command[1]), run("referee check mybot.py --questions 20")

    assert len([line for line in bot.splitlines() if line.strip()]) <= 20
    assert re.search(r"mybot\.py.* 0$", played, re.MULTILINE), f"the bot had faults:\n{played}"
    assert "pass: 0 failures" in checked


def test_the_first_match_of_the_readme_is_played_told_and_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line for line in block("first-match").splitlines() if line.startswith("referee ")]

    _, played, told, verified = map(run, lines)

    assert re.search(r"mybot .* 0$", played, re.MULTILINE), f"the bot had faults:\n{played}"
    assert told
    assert "ok" in verified


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
