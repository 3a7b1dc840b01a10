"""``--open``: the page of what a command shows, in the browser that $BROWSER names."""

from collections.abc import Iterator
from pathlib import Path

import click
import httpx
import pytest
from click.testing import CliRunner, Result

from referee.cli import main
from tests.cli.hall import CAST, Hall, api_hall
from tests.cli.running import PATIENCE_S, comes_true
from tests.cli.test_help import COMMANDS

WITH_PAGES = {"watch", "bots show", "standings", "replay", "tournament show", "tournament standings"}


class Browser:
    """Be a browser that writes the URLs that it should open to a file."""

    def __init__(self, folder: Path) -> None:
        self._opened = folder / "opened"
        self._program = folder / "browser"
        self._program.write_text(f'#!/bin/sh\necho "$1" >> "{self._opened}"\n')
        self._program.chmod(0o755)

    def run(self, *arguments: str, **environment: str) -> tuple[Result, str]:
        """Run a command with ``--open``. Return its result and the URL that it opened."""
        self._opened.unlink(missing_ok=True)
        surroundings = {"BROWSER": f"{self._program} %s", **environment}
        done = CliRunner().invoke(main, [*arguments, "--open"], env=surroundings)
        assert done.exit_code == 0, done.output
        assert comes_true(lambda: self._opened.exists() and self._opened.read_text().endswith("\n"))
        return done, self._opened.read_text().strip()


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Browser:
    monkeypatch.setattr("webbrowser._tryorder", None)  # Python reads $BROWSER once; begin again for each test
    return Browser(tmp_path)


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    with api_hall(tmp_path_factory.mktemp("hall")) as opened:
        for name in ("Cup", "Later cup"):
            opened.says("create", name, "--game", "saint-poker", "--seats", "2", "--open")
            opened.says("enter", name, *CAST)
        opened.says("start", "Cup")
        yield opened


def test_commands_with_a_page_can_open_it() -> None:
    with_option = {
        name
        for name, command in COMMANDS.items()
        if any(isinstance(one, click.Option) and "the browser" in str(one.help) for one in command.params)
    }

    assert with_option == WITH_PAGES


@pytest.mark.parametrize(("command", "path"), [("show", ""), ("standings", "/standings")])
@pytest.mark.parametrize("name", ["Cup", "Later cup"])
def test_the_pages_of_a_tournament(cup: Hall, browser: Browser, name: str, command: str, path: str) -> None:
    tournament = cup.json("show", name)

    told, opened = browser.run("tournament", command, name, REFEREE_URL=cup.url, REFEREE_TOKEN=cup.token)

    assert opened == f"{cup.url}/tournaments/{tournament['id']}{path}"
    assert opened in told.stderr
    assert opened not in told.stdout
    assert httpx.get(opened, timeout=PATIENCE_S).status_code == 200


def test_the_page_of_a_bot(cup: Hall, browser: Browser) -> None:
    name, environment = "Ada sound", {"REFEREE_URL": cup.url, "REFEREE_TOKEN": cup.owner}

    shown = browser.run("bots", "show", name, **environment)[1]

    assert shown == f"{cup.url}/bots/{cup.bots[name]}"


def test_the_page_of_a_log_is_written_and_opened(browser: Browser, tmp_path: Path) -> None:
    log, page = tmp_path / "match.ndjson", tmp_path / "match.html"
    CliRunner().invoke(main, ["play", "saint-poker", "house:1", "house:2", "--log", str(log)])

    told, opened = browser.run("replay", str(log), "--html", str(page))
    _, temporary = browser.run("replay", str(log))

    assert opened == page.as_uri()
    assert page.stat().st_size > 0
    assert opened in told.stderr
    assert Path(temporary.removeprefix("file://")).read_text().startswith("<!doctype html>")
    Path(temporary.removeprefix("file://")).unlink()


def test_where_there_is_no_browser_the_url_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "match.ndjson"
    CliRunner().invoke(main, ["play", "saint-poker", "house:1", "house:2", "--log", str(log)])
    monkeypatch.setattr("webbrowser._tryorder", [])

    told = CliRunner().invoke(main, ["replay", str(log), "--html", str(tmp_path / "match.html"), "--open"])

    assert told.exit_code == 0
    assert (tmp_path / "match.html").as_uri() in told.stderr
    assert "No browser can be started here. Open this URL yourself" in told.stderr
