"""All pages: links, size, layout shifts, accessibility."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from referee.games import catalogue
from tests.browser.conftest import REDRAWN, PageAt, axe
from tests.browser.crawl import Crawl
from tests.browser.record import Filled
from tests.browser.service import Served

MOST_BYTES = 50 * 1024  # HTML, CSS and JavaScript of a first load, as they are sent
MOST_REQUESTS = 30
SHIFT = 0.02
NARROW, WIDE = 320, 1280
OWN_SHIFT = 0.1  # of one's own bot
MISSING = "/nothing/here"
KINDS = {  # what there must be, whatever else there is
    *("/", "/bots", "/owners/acc", "/search", "/ladders", "/ladders/lad", "/ladders/lad/months", "/bots/bot"),
    *("/tournaments", "/tournaments/trn", "/matches", "/matches/mat", "/replay", "/keys", "/games", "/games/…"),
    *("/guides", "/guides/…", "/register", "/account", "/organise"),
}
OBSERVE = """
window.shifts = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) shifts += one.value;
}).observe({type: "layout-shift", buffered: true});
"""
SETTLED = """async () => {
  const frames = async (count) => { while (count--) await new Promise(requestAnimationFrame); };
  await frames(2);
  const live = document.querySelector("[data-live]");
  for (let i = 0; i < 200 && live && !live.dataset.live; i++) await new Promise((done) => setTimeout(done, 20));
  const viewer = document.getElementById("viewer");
  const isShown = () => !viewer || viewer.querySelector(".controls, .notice");
  for (let i = 0; i < 200 && !isShown(); i++) await new Promise((done) => setTimeout(done, 20));
  await frames(2);
}"""
WEIGHED = """() => {
  const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const code = all.filter((one) => one.entryType === "navigation" || /[.](js|css)$/.test(one.name));
  return [code.reduce((sum, one) => sum + one.encodedBodySize, 0), all.length, shifts];
}"""
SIDEWAYS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
HEAD_LINES = "(header) => header.offsetHeight / header.querySelector('li a').offsetHeight"
FOCUSABLE = """() => {
  const all = document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']");
  window.reached = new Set();
  document.addEventListener("focusin", (event) => reached.add(event.target));
  window.wanted = [...all].filter((one) => !one.disabled && one.checkVisibility({visibilityProperty: true})
    && (one.type !== "radio" || one.checked));
  return wanted.length;
}"""
TOUCH_PX = 43.5  # 44 px, less what is lost by rounding
LOW = """(least) => [...document.querySelectorAll("a[href], button, select, summary, input:not([type=hidden])")]
  .filter((one) => !one.closest("svg, .skip, [hidden], .prose, label, .scrub, .track") && one.checkVisibility())
  .filter((one) => { // links within a sentence are as high as its lines
    const text = one.closest("p, dd, caption, .legs li, small");
    return !text || text.textContent.trim() === one.textContent.trim();
  })
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([one, {height, width}]) => width > 2 && height > 0 && height < least)
  .map(([one, {height}]) => `${Math.round(height)} px: ${one.outerHTML.slice(0, 100)}`)"""
MISSED = "() => wanted.filter((one) => !reached.has(one)).map((one) => one.outerHTML.slice(0, 120))"
ROUND = "['BODY', 'HTML'].includes(document.activeElement.tagName) || document.activeElement.className === 'skip'"


TAB = {"type": "rawKeyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}  # half of what a press costs


@pytest.fixture(scope="module")
def window(browser: Browser, site: Served) -> Iterator[Page]:
    """Return a window for all kinds of pages, since starting one takes longer than a page."""
    opened = PageAt(browser, site.url)
    context = opened.context(motion=True)
    context.add_init_script(OBSERVE)
    yield context.new_page()
    opened.close()
    assert [one for one in opened.troubles if MISSING not in one] == []


def problems(page: Page, path: str, *, width: int, dark: bool) -> Iterator[str]:
    """Load a page in one of four ways, wide or narrow, light or dark, and yield what is wrong with it."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.goto(path)
    page.evaluate(SETTLED)
    size, requests, shifts = page.evaluate(WEIGHED)
    if size > MOST_BYTES or requests > MOST_REQUESTS:
        yield f"it is heavy: {size} bytes, {requests} requests"
    if shifts >= SHIFT:
        yield f"it moves while it loads: {shifts}"
    try:
        axe(page)
    except AssertionError as error:
        yield f"it keeps somebody out: {error}"
    if width == NARROW:  # half of the pages, since it takes as long as all the rest
        yield from (f"Tab does not reach {one}" for one in missed(page))
    for other in (WIDE, NARROW):
        page.set_viewport_size({"width": other, "height": 900})
        page.evaluate(REDRAWN)
        if page.evaluate(SIDEWAYS):
            yield f"it is wider than {other} px"
    yield from (f"too low to be tapped: {one}" for one in page.evaluate(LOW, TOUCH_PX))


def missed(page: Page) -> list[str]:
    """Press Tab until the focus has passed through the page, including scrollable areas; return what it missed."""
    network = page.context.new_cdp_session(page)
    wanted = page.evaluate(FOCUSABLE)
    network.send("Input.dispatchKeyEvent", TAB)
    has_head = page.locator("header.top").count() > 0
    if has_head and page.evaluate("document.activeElement.className") != "skip":
        return ["the link past the head does not come first"]
    for pressed in range(wanted + 40):
        network.send("Input.dispatchKeyEvent", TAB)
        if pressed >= wanted - 2 and page.evaluate(ROUND):
            passed_by: list[str] = page.evaluate(MISSED)
            return passed_by
    return ["the focus does not get out again"]


def test_every_link_of_every_page_leads_somewhere(crawl: Crawl) -> None:
    assert set(crawl.kinds) >= KINDS
    assert {path: page.status for path, page in crawl.pages.items() if page.status != 200} == {}
    assert crawl.broken() == []


def test_every_kind_of_page_is_light_still_accessible_and_fits(crawl: Crawl, window: Page) -> None:
    found = {}
    for at, path in enumerate([*crawl.kinds.values(), MISSING]):
        found[path] = [*problems(window, path, width=NARROW if at % 4 < 2 else WIDE, dark=at % 2 == 0)]

    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    ("who", "path", "shown", "width"),
    [
        ("owner", "/bots/{own}", "#own-check:not(:empty)", 360),
        ("admin", "/operator", "[data-accounts] tr", 1280),
        ("organiser", "/organise", "form#terms", 360),
        ("organiser", "/tournaments/{tournament}", "[data-manage]", 1280),
        ("owner", "/register", '#my-name:not(:text("…"))', 360),
        ("owner", "/bots/{other}", "#challenge", 360),
    ],
)
def test_nothing_moves_when_a_page_knows_its_reader(
    page_at: PageAt, filled: Filled, who: str, path: str, shown: str, width: int
) -> None:
    bots = {"own": filled.bots["Ada"], "other": filled.bots["Deep Green"]}
    path = path.format(tournament=filled.tournaments["running"], **bots)
    page = page_at(path, width=width, token=filled.tokens[who], before=OBSERVE)
    expect(page.locator(shown).first).to_be_visible()
    page.evaluate(SETTLED)

    assert page.evaluate("shifts") < OWN_SHIFT
    assert page.locator("header.top").evaluate(HEAD_LINES) < 2


def test_the_link_past_the_head_leads_to_the_page(page_at: PageAt) -> None:
    page = page_at("/games")

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")

    assert page.url.endswith("#main")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_the_page_of_a_game_shows_a_table_and_leads_to_a_good_match(page_at: PageAt) -> None:
    page = page_at("/games/rummy-royal", width=390)
    page.locator("#still .felt").wait_for()

    assert page.locator("#still .seat:visible").count() == catalogue()["rummy-royal"].standard_seats
    assert page.locator("#still img.face").count() >= 5
    assert page.locator("#still .pile, #still .item").count() >= 1
    assert page.locator(".in-five li").count() == 5
    page.get_by_role("link", name="Watch a good match").click()
    page.locator(".felt .seat").first.wait_for()
    assert page.locator("h1").inner_text() == "Rummy Royal"
