"""All pages: links, size, layout shifts, accessibility."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from referee.games import catalogue
from tests.browser.conftest import Axe, PageAt
from tests.browser.crawl import Crawl
from tests.browser.record import Filled
from tests.browser.service import Served

MOST_BYTES = 50 * 1024  # HTML, CSS and JavaScript of a first load, as they are sent
MOST_REQUESTS = 30
SHIFT = 0.02
NARROW = 320
OWN_SHIFT = 0.1  # of one's own bot
MISSING = "/nothing/here"
KINDS = {  # what there must be, whatever else there is
    *("/", "/bots", "/owners/acc", "/search"),
    *(
        "/ladders",
        "/ladders/lad",
        "/ladders/lad/months",
        "/bots/bot",
        "/tournaments",
        "/tournaments/trn",
        "/matches",
        "/matches/mat",
    ),
    *("/replay", "/keys", "/games", "/games/…", "/guides", "/guides/…", "/register", "/account", "/organise"),
}
OBSERVE = """
window.seen = {shift: 0, largest: ""};
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) seen.shift += one.value;
}).observe({type: "layout-shift", buffered: true});
new PerformanceObserver((list) => {
  const {element} = list.getEntries().at(-1);
  seen.largest = element ? [element.localName, ...element.classList].join(".") : "?";
}).observe({type: "largest-contentful-paint", buffered: true});
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
  const bytes = (some) => some.reduce((sum, one) => sum + one.encodedBodySize, 0);
  const root = document.documentElement;
  return {
    bytes: bytes(all),
    code: bytes(all.filter((one) => one.entryType === "navigation" || /[.](js|css)$/.test(one.name))),
    requests: all.length,
    sideways: Math.max(0, root.scrollWidth - root.clientWidth),
    ...window.seen,
  };
}"""
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


@dataclass
class Visit:
    """Results of a page: figures of a first load by width, violations found by axe, what Tab does not reach, and what
    is too low to be tapped in a narrow window."""

    loads: dict[int, dict[str, Any]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    low: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def visits(crawl: Crawl, browser: Browser, site: Served, filled: Filled, axe: Axe) -> Iterator[dict[str, Visit]]:
    """Visit one page of each kind, all in the same window, since starting one takes longer than a page."""
    opened = PageAt(browser, site.url)
    context = opened.context(motion=True)
    context.add_init_script(OBSERVE)
    page = context.new_page()
    network = context.new_cdp_session(page)
    yield {
        kind: visit(page, network, path, axe, swapped=at % 2 == 1, narrow=at % 4 < 2)
        for at, (kind, path) in enumerate([*crawl.kinds.items(), ("missing", MISSING)])
    }
    opened.close()
    assert [one for one in opened.troubles if MISSING not in one] == []


def visit(page: Page, network: CDPSession, path: str, axe: Axe, *, swapped: bool, narrow: bool) -> Visit:
    """Load a page wide and narrow, and look for faults in one of four ways: wide or narrow, light or dark."""
    found = Visit()
    for width, dark in ((NARROW, not swapped), (1280, swapped)):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if dark else "light")
        network.send("Network.clearBrowserCache")
        page.goto(path)
        page.evaluate(SETTLED)
        found.loads[width] = page.evaluate(WEIGHED)
        if width == NARROW:
            found.low = page.evaluate(LOW, TOUCH_PX)
        if (width == NARROW) == narrow:
            found.faults += faults_of(page, axe)
    found.missed = missed(page, network)
    return found


def faults_of(page: Page, axe: Axe) -> Iterator[str]:
    try:
        axe(page)
    except AssertionError as error:
        yield str(error)


def missed(page: Page, network: CDPSession) -> list[str]:
    """Press Tab until the focus has passed through the page, including scrollable areas; return what it missed."""
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


def test_a_first_load_is_light(visits: dict[str, Visit]) -> None:
    print(f"\n{'page':30} {'bytes':>7} {'code':>6} {'requests':>8} {'shift':>6} {'narrow':>6}  largest paint")
    for kind, found in visits.items():
        wide, narrow = found.loads[1280], found.loads[NARROW]
        figures = f"{wide['bytes']:7} {wide['code']:6} {wide['requests']:8} {wide['shift']:6.3f} {narrow['shift']:6.3f}"
        print(f"{kind:30} {figures}  {wide['largest']}")

    heavy = {kind: one.loads[1280] for kind, one in visits.items() if one.loads[1280]["code"] > MOST_BYTES}
    busy = {kind: one.loads[1280] for kind, one in visits.items() if one.loads[1280]["requests"] > MOST_REQUESTS}
    assert (heavy, busy) == ({}, {})


def test_nothing_moves_while_a_page_loads(visits: dict[str, Visit]) -> None:
    shifts = {(kind, width): load["shift"] for kind, one in visits.items() for width, load in one.loads.items()}

    assert {where: shift for where, shift in shifts.items() if shift >= SHIFT} == {}


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_moves_when_a_bot_turns_out_to_be_the_readers(page_at: PageAt, filled: Filled, width: int) -> None:
    context = page_at.context(token=filled.tokens["owner"])
    context.add_init_script(OBSERVE)
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 900})

    page.goto(f"/bots/{filled.bots['Ada']}")
    expect(page.get_by_role("link", name="Manage your bot")).to_be_visible()
    expect(page.locator("#own-check")).not_to_be_empty()

    assert page.evaluate("seen.shift") < OWN_SHIFT


@pytest.mark.parametrize(
    ("who", "path", "shown", "width"),
    [
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
    context = page_at.context(token=filled.tokens[who])
    context.add_init_script(OBSERVE)
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 900})

    page.goto(path.format(tournament=filled.tournaments["running"], other=filled.bots["Deep Green"]))
    expect(page.locator(shown).first).to_be_visible()
    page.evaluate(SETTLED)

    assert page.evaluate("seen.shift") < OWN_SHIFT


def test_no_page_is_wider_than_its_window(visits: dict[str, Visit]) -> None:
    wide = [(kind, width) for kind, one in visits.items() for width, load in one.loads.items() if load["sideways"]]

    assert wide == []


def test_everything_that_is_tapped_is_high_enough(visits: dict[str, Visit]) -> None:
    assert {kind: one.low for kind, one in visits.items() if one.low} == {}


def test_pages_keep_nobody_out(visits: dict[str, Visit]) -> None:
    assert {kind: one.faults for kind, one in visits.items() if one.faults} == {}


def test_the_reference_of_the_api_keeps_nobody_out(page_at: PageAt, axe: Axe) -> None:
    page = page_at("/docs", dark=True)

    expect(page.locator("#docs [role=group]")).to_be_visible()
    # Swagger UI has a main part of its own, and puts the button that copies a path into another one.
    axe(page, leave_out=("nested-interactive", "aria-allowed-role"))


def test_all_of_a_page_is_reached_by_keyboard_and_left_again(visits: dict[str, Visit]) -> None:
    assert {kind: one.missed for kind, one in visits.items() if one.missed} == {}


def test_the_link_past_the_head_leads_to_the_page(page_at: PageAt) -> None:
    page = page_at("/games")

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")

    assert page.url.endswith("#main")
    assert page.evaluate("document.activeElement.closest('main') !== null")


@pytest.mark.parametrize(("game", "width"), [("prisoners", 1280), ("rummy-royal", 390)])
def test_the_page_of_a_game_shows_a_table_and_leads_to_a_good_match(page_at: PageAt, game: str, width: int) -> None:
    page = page_at(f"/games/{game}", width=width)
    page.locator("#still .felt").wait_for()

    assert page.locator("#still .seat:visible").count() == catalogue()[game].standard_seats
    assert page.locator("#still img.face").count() >= 5
    assert page.locator("#still .pile, #still .item").count() >= 1
    assert page.locator(".in-five li").count() == 5
    page.get_by_role("link", name="Watch a good match").click()
    page.locator(".felt .seat").first.wait_for()
    assert page.locator("h1").inner_text() == game.replace("-", " ").title()
