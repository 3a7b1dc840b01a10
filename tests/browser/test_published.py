"""A published tournament: a folder that opens from disk, with the network blocked."""

import csv
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner, Result
from playwright.sync_api import Browser, Page, expect

from referee.cli import main
from referee.cli.log_files import StoredLog, verify_stored_log
from tests.browser.conftest import PATIENCE_MS, Axe, PageAt
from tests.browser.record import Filled

LINK = re.compile(r'(?:href|src)="([^"]+)"')
expect.set_options(timeout=PATIENCE_MS)


def publish(page_at: PageAt, tournament: str, out: Path, *options: str) -> Result:
    arguments = ["tournament", "publish", tournament, "--out", str(out), "--url", page_at.url, *options]
    return CliRunner().invoke(main, arguments, env={"REFEREE_TOKEN": ""})


@pytest.fixture
def offline(browser: Browser) -> Iterator[Page]:
    """Yield a page without network. Fail if anything asks for it, or writes an error to the console."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    asked: list[str] = []
    troubles: list[str] = []
    context.on("request", lambda one: asked.append(one.url))
    context.on("console", lambda one: troubles.append(one.text))
    context.on("weberror", lambda one: troubles.append(str(one.error)))
    context.route("http*://**", lambda route: route.abort())
    yield context.new_page()
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:", "blob:"))] == []
    assert troubles == []


def test_a_published_tournament_opens_from_disk_and_replays_its_matches(
    page_at: PageAt, filled: Filled, offline: Page, tmp_path: Path
) -> None:
    done = publish(page_at, filled.tournaments["swiss"], tmp_path / "cup")
    assert done.exit_code == 0, done.output
    folder = tmp_path / "cup"

    offline.goto((folder / "index.html").as_uri())
    expect(offline.locator("h2").first).to_have_text("Final standings")
    rows = offline.locator("tbody tr").count()
    offline.get_by_role("link", name="Round 1").click()
    expect(offline.locator("h1")).to_have_text("Round 1")
    offline.locator('a[href^="matches/"]').first.click()
    expect(offline.locator(".badge:not([data-state=wait])").first).to_contain_text("Checked")
    before = offline.evaluate("location.hash")
    offline.keyboard.press("Home")
    offline.keyboard.press("ArrowRight")
    offline.wait_for_function("before => location.hash !== before", arg=before)
    with (folder / "standings.csv").open(newline="") as file:
        standings = list(csv.DictReader(file))
    assert len(standings) == rows > 1
    assert (folder / "standings.md").read_text().count("\n| ") == rows + 2
    for log in (folder / "logs").iterdir():
        assert verify_stored_log(StoredLog(log.stem, log.read_bytes().splitlines())).is_valid


@pytest.mark.parametrize(("width", "dark"), [(360, True), (1280, False)])
def test_published_pages_can_be_used_by_anybody(
    page_at: PageAt, filled: Filled, browser: Browser, axe: Axe, tmp_path: Path, width: int, dark: bool
) -> None:
    assert publish(page_at, filled.tournaments["knockout"], tmp_path / "cup").exit_code == 0
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True
    )  # the policy would stop the checks
    page = context.new_page()

    for file in ("index.html", "round-1.html", "crosstable.html"):
        page.goto((tmp_path / "cup" / file).as_uri())
        axe(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), file
    context.close()


def test_a_published_folder_is_whole_and_keeps_no_secret(page_at: PageAt, filled: Filled, tmp_path: Path) -> None:
    folder = tmp_path / "cup"
    for _ in range(2):  # the second one takes the place of the first
        assert publish(page_at, filled.tournaments["swiss"], folder, "--token", filled.tokens["admin"]).exit_code == 0
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    sums = dict(line.split("  ")[::-1] for line in files.pop("SHA256SUMS").decode().splitlines())

    assert {name: hashlib.sha256(content).hexdigest() for name, content in files.items()} == sums
    for name, content in files.items():
        assert not any(token.encode() in content for token in filled.tokens.values()), name
        assert page_at.url.encode() not in content, name
        for link in LINK.findall(content.decode()) if name.endswith(".html") else ():
            target = (folder / name).parent / unquote(urlsplit(link).path)
            assert target.is_file(), f"{name}: {link}"
    assert [path.name for path in tmp_path.iterdir()] == ["cup"]


def test_a_link_to_a_published_folder_stays_a_link(page_at: PageAt, filled: Filled, tmp_path: Path) -> None:
    (tmp_path / "disk" / "cup").mkdir(parents=True)
    (tmp_path / "web").symlink_to(tmp_path / "disk" / "cup")

    done = publish(page_at, filled.tournaments["swiss"], tmp_path / "web")

    assert done.exit_code == 0, done.output
    assert (tmp_path / "web").is_symlink()
    assert (tmp_path / "web" / "index.html").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk", "web"]


def test_only_what_is_finished_is_published_unless_asked_and_no_other_folder_is_replaced(
    page_at: PageAt, filled: Filled, tmp_path: Path
) -> None:
    running, other = filled.tournaments["running"], tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")

    refused = publish(page_at, running, tmp_path / "cup")
    kept = publish(page_at, running, other, "--so-far")
    done = publish(page_at, running, tmp_path / "cup", "--so-far")

    assert (refused.exit_code, "pass --so-far" in refused.output) == (1, True)
    assert (kept.exit_code, "contains other files" in kept.output) == (1, True)
    assert (other / "mine.txt").read_text() == "mine"
    assert done.exit_code == 0, done.output
    assert "Standings so far" in (tmp_path / "cup" / "index.html").read_text()
