"""The first page plays a match by itself: live, or the last result."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from referee.db.engine import Database
from tests.browser.conftest import PageAt, axe
from tests.browser.poisoned import copied
from tests.browser.record import NAMES, Filled
from tests.browser.service import Served, served
from tests.browser.test_watching import quick, until
from tests.database.world import World

STAGE = "#featured .featured-table .felt"
SENTENCE = "#featured .sentence"
OVER = "The match is over"
REST_MS = 9_000


@dataclass
class Idle:
    """A service with a copy of the filled database in which no match is running."""

    site: Served
    filled: Filled


@pytest.fixture(scope="module")
def idle(filled: Filled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Idle]:
    path = tmp_path_factory.mktemp("idle") / "referee.db"
    with copied(filled.folder / "referee.db", path) as copy:
        copy.execute("UPDATE matches SET status = 'cancelled' WHERE status = 'running'")
    database = Database(f"sqlite:///{path}")
    with served(path.parent) as running:
        yield Idle(running, replace(filled, folder=path.parent, world=World(database)))
    database.dispose()


@pytest.fixture
def idle_page_at(browser: Browser, idle: Idle) -> Iterator[PageAt]:
    opened = PageAt(browser, idle.site.url)
    yield opened
    opened.close()
    assert opened.troubles == []


def opened(context: BrowserContext) -> Page:
    page = quick(context).new_page()
    page.goto("/")
    page.wait_for_selector(STAGE)
    return page


def watched(page: Page) -> str | None:
    return page.locator("#featured a").get_attribute("href")


def test_the_first_page_plays_the_last_result_until_it_is_paused(idle_page_at: PageAt) -> None:
    page = opened(idle_page_at.context(motion=True))
    before = page.locator(SENTENCE).inner_text()
    until(page, lambda: page.locator(SENTENCE).inner_text() != before)
    axe(page)

    page.get_by_role("button", name="Pause").click()
    paused = page.locator(SENTENCE).inner_text()
    page.clock.run_for(10_000)
    assert page.locator(SENTENCE).inner_text() == paused
    page.get_by_role("button", name="Play").click()
    until(page, lambda: page.locator(SENTENCE).inner_text() != paused)
    until(page, lambda: OVER in page.locator(SENTENCE).inner_text())
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_nothing_plays_for_readers_who_prefer_that(idle_page_at: PageAt) -> None:
    page = opened(idle_page_at.context())
    shown = page.locator(SENTENCE).inner_text()

    page.clock.run_for(10_000)

    assert OVER in shown
    assert page.locator(SENTENCE).inner_text() == shown
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_live_match_is_followed_to_its_end_and_then_the_next_is_shown(idle_page_at: PageAt, idle: Idle) -> None:
    filled = idle.filled
    made = filled.arrange("On the first page", NAMES[:3], begins=True, options={"rounds": 4})
    first, second, _ = filled.list_due(made)
    live = filled.claimed(first)
    live.go_on(5)
    page = opened(idle_page_at.context(motion=True))
    assert watched(page) == f"/matches/{live.id}"
    expect(page.locator("#featured .state")).to_have_text("running")
    before = page.locator(SENTENCE).inner_text()
    live.go_on(5)
    until(page, lambda: page.locator(SENTENCE).inner_text() != before)
    later = filled.claimed(second)
    later.go_on(3)
    live.finish()
    until(page, lambda: OVER in page.locator(SENTENCE).inner_text())
    page.clock.run_for(REST_MS)

    until(page, lambda: watched(page) == f"/matches/{later.id}")
    page.wait_for_selector(STAGE)
    later.finish()
    filled.play_due(made)


def test_every_seat_of_a_running_match_has_a_bar_with_or_without_a_name(page_at: PageAt) -> None:
    widths = """() => {
      for (const emblem of document.querySelectorAll(".live-match li:first-child .emblem")) emblem.remove();
      return [...document.querySelectorAll(".live-match meter")].map((bar) => bar.getBoundingClientRect().width);
    }"""

    found = page_at("/").evaluate(widths)
    assert len(found) >= 2
    assert min(found) > 40


def test_results_say_how_long_ago_they_were(page_at: PageAt, filled: Filled) -> None:
    filled.begin("pool-nap", rated=False).finish()

    page = page_at("/")

    expect(page.locator(".results time").first).to_have_text(re.compile(r"just now|ago|\d{4}"))
