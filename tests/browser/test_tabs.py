"""Open tabs of one browser, which has six connections to a site: however many they are, they share one stream."""

from dataclasses import dataclass, field

from playwright.sync_api import BrowserContext, Page, Request

from tests.browser.conftest import PageAt, look, until
from tests.browser.record import Filled

TABS = 3
UNSEEN_MS = 21_000
SILENT_MS = 27_000
SETTLED_MS = 500  # of claims of two tabs that cross within 200 ms, the higher number wins
HIDDEN = """Object.defineProperty(document, "hidden", { value: true, configurable: true });
Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });"""


@dataclass
class Streams:
    """The streams that a browser asked for, and those of them that are open."""

    asked: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, context: BrowserContext) -> "Streams":
        streams = cls()
        context.on("request", streams._began)
        context.on("requestfailed", streams._ended)
        context.on("requestfinished", streams._ended)
        return streams

    def _began(self, request: Request) -> None:
        if "/stream" in request.url:
            self.asked.append(request.url)
            self.open.append(request.url)

    def _ended(self, request: Request) -> None:
        if "/stream" in request.url:
            self.open.remove(request.url)


def test_a_tab_that_was_never_seen_opens_no_stream(page_at: PageAt, filled: Filled) -> None:
    context = page_at.context()
    context.add_init_script(HIDDEN)
    streams = Streams.of(context)
    tabs = [context.new_page() for _ in range(TABS)]

    for tab in tabs[1:]:
        tab.goto(f"/tournaments/{filled.tournaments['bracket']}")
    tabs[0].goto(f"/matches/{filled.matches['open']}")
    tabs[0].wait_for_selector(".felt", state="attached")
    assert streams.asked == []

    look(tabs[0], hidden=False)
    tabs[0].wait_for_selector(".event-list button")
    assert len(streams.asked) == 1


def test_only_the_tab_that_was_looked_at_last_has_a_stream(page_at: PageAt, filled: Filled) -> None:
    context = page_at.context()
    streams = Streams.of(context)
    first, *others, last = (filled.tournaments[name] for name in ("open", *["bracket"] * (TABS - 2), "running"))
    tabs = [opened_live(context, f"/tournaments/{tournament}") for tournament in (first, *others, last)]

    until(tabs[0], lambda: len(streams.open) == 1, advance_ms=0)
    assert last in streams.open[0]
    assert len(streams.asked) == TABS
    for tab in tabs[:-1]:
        tab.wait_for_selector("[data-live=polling]")

    tabs[0].wait_for_timeout(SETTLED_MS)
    tabs[0].evaluate("() => window.dispatchEvent(new Event('focus'))")
    tabs[0].wait_for_selector("[data-live=live]")
    tabs[-1].wait_for_selector("[data-live=polling]")
    until(tabs[0], lambda: len(streams.open) == 1, advance_ms=0)
    assert first in streams.open[0]

    tabs[0].evaluate("() => window.dispatchEvent(new Event('pagehide'))")
    tabs[0].close()  # no tab is looked at: one of those in sight takes the turn
    until(tabs[1], lambda: sum(tab.locator("[data-live=live]").count() for tab in tabs[1:]) == 1, advance_ms=0)
    assert len(streams.asked) == TABS + 2


def test_a_tab_that_is_hidden_for_long_gives_its_turn_to_one_in_sight(page_at: PageAt, filled: Filled) -> None:
    context = page_at.context(clocked=True)
    streams = Streams.of(context)
    other, tab = (opened_live(context, f"/tournaments/{filled.tournaments['open']}") for _ in range(2))
    other.wait_for_selector("[data-live=polling]")

    look(tab, hidden=True)
    tab.clock.run_for(UNSEEN_MS)

    other.wait_for_selector("[data-live=live]")
    until(other, lambda: len(streams.open) == 1)
    look(tab, hidden=False)
    other.wait_for_selector("[data-live=polling]")
    tab.wait_for_selector("[data-live=live]")


def test_a_tab_that_vanished_loses_its_turn(page_at: PageAt, filled: Filled) -> None:
    context = page_at.context(clocked=True)
    other, tab = (opened_live(context, f"/tournaments/{filled.tournaments['open']}") for _ in range(2))
    other.wait_for_selector("[data-live=polling]")

    tab.close()  # which may not reach the others
    other.clock.run_for(SILENT_MS)

    other.wait_for_selector("[data-live=live]")


def opened_live(context: BrowserContext, path: str) -> Page:
    page = context.new_page()
    page.goto(path)
    page.wait_for_selector("[data-live=live]")
    return page
