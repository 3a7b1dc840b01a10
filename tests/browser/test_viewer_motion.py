"""The viewer plays by itself, moves cards, marks faults, and ends with the result."""

from playwright.sync_api import Page

from tests.browser.conftest import PATIENCE_MS, PageAt, axe, wait_for
from tests.browser.record import Filled
from tests.browser.test_viewer import faulty

AT = "Number(document.querySelector('.viewer').dataset.at)"
COUNT_FLIGHTS = """() => {
  window.flown = 0;
  const {animate} = Element.prototype;
  Element.prototype.animate = function (...given) {
    window.flown += this.className === "flying";
    return animate.apply(this, given);
  };
}"""
CLOSE = """() => {
  const close = document.querySelector(".ending .close");
  close.focus();
  close.click();
  return document.activeElement.tagName;
}"""
ENDING = ".ending:not([hidden])"


def last_of(page: Page) -> int:
    page.wait_for_selector(".felt")
    return int(page.locator(".scrub").get_attribute("max") or 0)


def near_the_end(page: Page, path: str) -> int:
    """Open a match two events before its end. Return the number of its last event, from 0."""
    last = last_of(page)
    page.goto(f"{path}#e{last - 1}")
    page.reload()
    page.wait_for_selector(".felt")
    return last


def test_a_match_plays_by_itself_until_the_reader_does_something_or_from_no_named_moment(
    page_at: PageAt, filled: Filled
) -> None:
    page = page_at(f"/matches/{filled.matches['saint-poker']}", motion=True)
    page.wait_for_selector(".felt")
    begun = page.evaluate(AT)
    wait_for(page, f"() => {AT} > {begun} + 2")
    page.keyboard.press("ArrowLeft")

    assert page.locator(".play").get_attribute("aria-label") == "Play"
    assert page.evaluate(AT) < last_of(page)

    page.evaluate("location.hash = '#e5'")
    page.reload()
    page.wait_for_selector(".felt")
    assert page.locator(".play").get_attribute("aria-label") == "Play"
    assert page.evaluate(AT) == 4


def test_nothing_plays_or_moves_for_readers_who_prefer_that(page_at: PageAt, filled: Filled) -> None:
    page = page_at(f"/matches/{filled.matches['saint-poker']}")
    page.wait_for_selector(".felt")

    assert page.locator(".play").get_attribute("aria-label") == "Play"
    begun = page.evaluate(AT)
    page.keyboard.press("Space")
    wait_for(page, f"() => {AT} > {begun} + 2")
    assert page.locator(".flights").count() == 0
    page.keyboard.press("End")
    assert page.evaluate(AT) == last_of(page)
    assert page.locator(".ending").count() == 0, "the table stays in view for who steps to the end"


def test_cards_fly_to_their_places(page_at: PageAt, filled: Filled) -> None:
    page = page_at("/replay", motion=True)
    page.evaluate(COUNT_FLIGHTS)
    log = page.request.get(f"{page_at.url}/api/v1/matches/{filled.matches['pool-nap']}/log").body()
    page.set_input_files("#log-file", {"name": "log.ndjson", "mimeType": "application/x-ndjson", "buffer": log})
    page.wait_for_selector(".felt")
    wait_for(page, "() => window.flown > 0")

    assert page.locator(".flights").get_attribute("aria-hidden") == "true"


def test_the_end_is_a_result_with_a_match_to_watch_next(page_at: PageAt, filled: Filled) -> None:
    path = f"/matches/{filled.matches['prisoners']}"
    page = page_at(path)
    last = near_the_end(page, path)
    page.keyboard.press("Space")
    page.wait_for_selector(ENDING, timeout=4 * PATIENCE_MS)  # the events before it are played in their time
    page.get_by_role("link", name="Watch next").wait_for()

    href = page.get_by_role("link", name="Watch next").get_attribute("href")
    offered = page.request.get(f"{page_at.url}/api/v1{href}").json()
    first = page.locator(".below tbody th").first.inner_text()
    assert page.evaluate(AT) == last
    assert page.locator(f"{ENDING} .places li").count() == 3
    assert first in page.locator(f"{ENDING} h2").inner_text()
    assert offered["status"] == "running"
    axe(page)
    assert page.evaluate(CLOSE) == "BODY"  # immediately: a hidden button would take the keys that follow
    assert page.locator(ENDING).count() == 0
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    page.wait_for_selector(ENDING, timeout=4 * PATIENCE_MS)  # the events before it are played in their time
    page.get_by_role("button", name="Watch again").click()
    assert page.locator(ENDING).count() == 0
    assert page.locator(".play").get_attribute("aria-label") == "Pause"


def test_faults_and_the_turning_point_are_marked_and_reached_by_a_key(page_at: PageAt, filled: Filled) -> None:
    page = page_at(f"/matches/{faulty(filled)}")
    page.wait_for_selector(".marks-along .fault")
    page.keyboard.press("Home")
    marks = page.locator(".marks-along i").count()
    places = []
    for _ in range(marks):
        page.keyboard.press("f")
        places.append(page.evaluate(AT))

    assert places == sorted(set(places))
    faults = page.evaluate("document.querySelectorAll('.marks-along .fault').length")
    assert faults >= 1
    assert marks - faults <= 1
