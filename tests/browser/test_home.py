"""The first page plays a match by itself: live, or the last result."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import update

from referee.matches.states import MatchState
from referee.matches.tables import StoredMatch
from tests.browser.conftest import PageAt, axe, until
from tests.browser.record import NAMES, Filled

STAGE = "#featured .featured-table .felt"
SENTENCE = "#featured .sentence"
FEATURED, FEATURED_HEAD = 'id="featured"', 400  # characters with the state of the match
OVER = "The match is over"
REST_MS = 9_000


@pytest.fixture(scope="module")
def idle(filled: Filled) -> Iterator[None]:
    """Let none of the matches run that other tests have left in progress."""
    running = update(StoredMatch).where(StoredMatch.status == MatchState.RUNNING)
    with filled.database.write() as session:
        stopped = session.scalars(running.values(status=MatchState.CANCELLED).returning(StoredMatch.id)).all()
    yield
    with filled.database.write() as session:
        session.execute(update(StoredMatch).where(StoredMatch.id.in_(stopped)).values(status=MatchState.RUNNING))


def opened(page_at: PageAt, *, motion: bool, shows: str) -> Page:
    """Open the first page once it features a match like this; it is rendered again only every few seconds."""
    page = page_at.context(clocked=True, motion=motion).new_page()
    until(page, lambda: shows in page.request.get("/").text().partition(FEATURED)[2][:FEATURED_HEAD], advance_ms=0)
    page.goto("/")
    page.wait_for_selector(STAGE)
    return page


def watched(page: Page) -> str | None:
    return page.locator("#featured a").get_attribute("href")


def test_every_seat_of_a_running_match_has_a_bar_with_or_without_a_name(page_at: PageAt) -> None:
    widths = """() => {
      for (const emblem of document.querySelectorAll(".live-match li:first-child .emblem")) emblem.remove();
      return [...document.querySelectorAll(".live-match meter")].map((bar) => bar.getBoundingClientRect().width);
    }"""

    found = page_at("/").evaluate(widths)
    assert len(found) >= 2
    assert min(found) > 40


@pytest.mark.usefixtures("idle")
def test_the_first_page_plays_the_last_result_until_it_is_paused(page_at: PageAt) -> None:
    page = opened(page_at, motion=True, shows="Last result")
    before = page.locator(SENTENCE).inner_text()
    until(page, lambda: page.locator(SENTENCE).inner_text() != before)
    axe(page)

    page.get_by_role("button", name="Pause").click()
    paused = page.locator(SENTENCE).inner_text()
    page.clock.run_for(10_000)
    assert page.locator(SENTENCE).inner_text() == paused
    page.get_by_role("button", name="Play").click()
    until(page, lambda: page.locator(SENTENCE).inner_text() != paused)
    until(page, lambda: OVER in page.locator(SENTENCE).inner_text(), advance_ms=20_000)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.usefixtures("idle")
def test_nothing_plays_for_readers_who_prefer_that(page_at: PageAt) -> None:
    page = opened(page_at, motion=False, shows="Last result")
    shown = page.locator(SENTENCE).inner_text()

    page.clock.run_for(10_000)

    assert OVER in shown
    assert page.locator(SENTENCE).inner_text() == shown
    expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.usefixtures("idle")
def test_a_live_match_is_followed_to_its_end_and_then_the_next_is_shown(page_at: PageAt, filled: Filled) -> None:
    made = filled.arrange("On the first page", NAMES[:3], begins=True, options={"rounds": 4})
    first, second, _ = filled.list_due(made)
    live = filled.claimed(first)
    live.go_on(5)
    page = opened(page_at, motion=True, shows="running")
    assert watched(page) == f"/matches/{live.id}"
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


def test_results_say_how_long_ago_they_were(page_at: PageAt, filled: Filled) -> None:
    filled.begin("pool-nap", rated=False).finish()

    page = page_at("/")

    expect(page.locator(".results time").first).to_have_text(re.compile(r"just now|ago|\d{4}"))
