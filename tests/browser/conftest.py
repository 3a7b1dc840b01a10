"""The pages in a real Chromium, with a database filled beforehand.

A test takes ``page_at`` and goes where it wants:

    def test_a_ladder_fits_a_phone(page_at: PageAt, filled: Filled) -> None:
        page = page_at(f"/ladders/{filled.ladders['saint-poker']}", width=360, dark=True)

        assert page.get_by_role("heading", level=1).is_visible()
        axe(page)

Problems of a page fail its test at the end: errors on the console, exceptions, violations of the content
policy, failed or redirected requests. A test forgives the problems that it expects.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    WebError,
    expect,
    sync_playwright,
)
from playwright.sync_api import Error as PlaywrightError

from tests.browser.chromium import LEAST_CHROMIUM, found
from tests.browser.crawl import Crawl
from tests.browser.record import Filled, fill
from tests.browser.service import Served, served
from tests.machine import require

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
PATIENCE_MS = 30_000
STEP_MS = 100  # between two looks at a condition
SWITCHES = ["--disable-background-networking", "--disable-dev-shm-usage", "--disable-gpu"]
TOKEN_KEY = "referee.token"  # of sessionStorage, see static/site/session.js
FORGET = "() => { try { sessionStorage.clear(); localStorage.clear() } catch { /* it may store nothing */ } }"
SIGN_IN = """if (location.protocol.startsWith("http") && !sessionStorage.getItem("signed in once")) {
    sessionStorage.setItem("%s", "%s");
    sessionStorage.setItem("signed in once", "yes");
}"""
REDRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
AT_ONCE = "Math.random = () => 0"  # who would wait a while before asking asks now

expect.set_options(timeout=PATIENCE_MS)

Kind = tuple[bool, bool, bool]  # script, policy, motion


@dataclass
class PageAt:
    """Open pages of the service. Used windows are kept, without stored data, since starting one takes longer than most
    tests."""

    browser: Browser
    url: str
    troubles: list[str] = field(default_factory=list)
    _contexts: list[BrowserContext] = field(default_factory=list)
    _free: dict[Kind, list[Page]] = field(default_factory=dict)
    _used: list[tuple[Kind, Page]] = field(default_factory=list)

    def __call__(
        self,
        path: str,
        *,
        width: int = 1280,
        dark: bool = False,
        script: bool = True,
        policy: bool = True,
        motion: bool = False,
        token: str = "",
        before: str = "",
    ) -> Page:
        """A page that has loaded; see ``context``. It stores nothing of pages before it but what may be cached.

        ``before`` is a script that runs before those of the page.
        """
        kind = (script, policy, motion)
        if not self._free.get(kind):
            self._free[kind] = [self.context(script=script, policy=policy, motion=motion).new_page()]
            self._contexts.pop()
        page = self._free[kind].pop()
        self._used.append((kind, page))
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if dark else "light")
        with ExitStack() as stack:
            for early in filter(None, (before, token and SIGN_IN % (TOKEN_KEY, token))):
                stack.enter_context(page.add_init_script(early))
            page.goto(self.url + path)
        return page

    def clocked(self, path: str, beside: Page | None = None, **options: Any) -> Page:
        """A page in a fresh browser, or in that of another page, whose clock tests advance, without random delays.

        Reloading it loses ``still``.
        """
        context = beside.context if beside else self.context(clocked=True, **options)
        page = context.new_page()
        page.goto(path)
        page.evaluate("window.still = true")
        return page

    def context(
        self,
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        script: bool = True,
        policy: bool = True,
        motion: bool = False,
        token: str = "",
        clocked: bool = False,
        **more: Any,
    ) -> BrowserContext:
        """A fresh browser as far as the service can tell. ``policy=False`` takes the content security policy away,
        ``motion`` lets things move; ``token`` is signed in with; ``more`` are options of Playwright's contexts."""
        context = self.browser.new_context(
            base_url=self.url,
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="no-preference" if motion else "reduce",
            java_script_enabled=script,
            bypass_csp=not policy,
            **more,
        )
        context.set_default_timeout(PATIENCE_MS)
        self._contexts.append(context)
        if token:
            context.add_init_script(SIGN_IN % (TOKEN_KEY, token))
        if clocked:
            context.clock.install()
            context.add_init_script(AT_ONCE)
        context.on("console", self._heard)
        context.on("weberror", self._stopped)
        context.on("request", self._asked)
        context.on("requestfailed", self._failed)
        return context

    def close(self) -> None:
        """Close windows that are not as they were taken."""
        while self._contexts:
            self._contexts.pop().close()
        while self._used:
            kind, page = self._used.pop()
            try:
                page.evaluate(FORGET)
                page.goto("about:blank")  # ends its streams
                page.mouse.move(0, 0)
                self._free[kind].append(page)
            except PlaywrightError:
                page.context.close()

    def forgive(self, *signs: str) -> None:
        """Remove the troubles that have one of these signs."""
        self.troubles[:] = [trouble for trouble in self.troubles if not any(sign in trouble for sign in signs)]

    def _stopped(self, one: WebError) -> None:
        self.troubles.append(f"a script stopped: {getattr(one.error, 'message', one.error)}")

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:", "about:")):
            self.troubles.append(f"led elsewhere: {request.url}")

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # left by the page itself: a stream, or the page before
            self.troubles.append(f"failed: {request.method} {request.url}: {request.failure}")


def until(page: Page, holds: Callable[[], Any], *, advance_ms: int = 2_000) -> None:
    """Advance the clock of the page until the condition is true."""
    for _ in range(PATIENCE_MS // STEP_MS):
        if advance_ms:
            page.clock.run_for(advance_ms)
        if holds():
            return
        page.wait_for_timeout(STEP_MS)
    raise AssertionError("it never came to that")


def wait_for(page: Page, expression: str, arg: Any = None) -> None:
    """Wait until a JavaScript expression is true, or the value of a function of ``arg``.

    Playwright's ``wait_for_function`` may evaluate it in the page, where the content policy forbids that.
    """
    until(page, lambda: page.evaluate(expression, arg), advance_ms=0)


def look(page: Page, *, hidden: bool) -> None:
    """Hide this tab behind another one, or show it."""
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        hidden,
    )


def submit(place: Page | Locator, button: str, fields: Mapping[str, str]) -> None:
    """Fill the fields with these labels and press the button."""
    for label, text in fields.items():
        place.get_by_label(label).fill(text)
    place.get_by_role("button", name=button).click()


def confirm(page: Page, button: str, *, reason: str = "") -> None:
    """Press a button, give the reason that it asks for, if any, and press the button that confirms it."""
    page.get_by_role("button", name=button).click()
    submit(page, "Yes, do it", {"Reason": reason} if reason else {})


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-event", action="store_true", help="look at the table of the viewer at every event")


@pytest.fixture(scope="package")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """Return the database that is served. What a test adds stays there for later tests."""
    filled = fill(tmp_path_factory.mktemp("pages"))
    yield filled
    filled.database.dispose()


@pytest.fixture(scope="package")
def site(filled: Filled) -> Iterator[Served]:
    """Run the service with that database."""
    with served(filled.folder) as running:
        yield running


@pytest.fixture(scope="package")
def crawl(site: Served) -> Crawl:
    """Return every page that can be reached by links."""
    return Crawl(site.url).run("/")


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start one Chromium for all tests of this process."""
    executable = require("chromium", "the pages in Chromium", LEAST_CHROMIUM, places=[found()])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=SWITCHES, chromium_sandbox=False)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def windows(browser: Browser, site: Served) -> PageAt:
    return PageAt(browser, site.url)


@pytest.fixture
def page_at(windows: PageAt) -> Iterator[PageAt]:
    windows.troubles.clear()
    yield windows
    windows.close()
    assert windows.troubles == []


def axe(page: Page, *, leave_out: tuple[str, ...] = ()) -> None:
    """Fail when axe-core finds a fault of accessibility. It runs in a world of its own beside the page's scripts, which
    the page's policy does not bind. ``leave_out`` are rules that do not hold for this page."""
    session = page.context.new_cdp_session(page)
    frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
    world = session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "axe"})
    where = {"contextId": world["executionContextId"], "returnByValue": True, "awaitPromise": True}
    options = {
        "runOnly": {"type": "tag", "values": RULES},
        "rules": {rule: {"enabled": False} for rule in leave_out},
        "resultTypes": ["violations"],
    }
    session.send("Runtime.evaluate", {"expression": f"{AXE};0", **where})
    ran = session.send("Runtime.evaluate", {"expression": f"axe.run(document, {json.dumps(options)})", **where})
    session.detach()
    assert "exceptionDetails" not in ran, ran["exceptionDetails"]
    assert ran["result"]["value"]["testEngine"]["name"] == "axe-core"
    faults = ran["result"]["value"]["violations"]
    assert not faults, "\n".join(map(_told, faults))


def _told(fault: dict[str, Any]) -> str:
    where = [f"  {' '.join(map(str, node['target']))}: {_one_line(node['failureSummary'])}" for node in fault["nodes"]]
    return "\n".join([f"{fault['id']} ({fault['impact']}): {fault['help']}", *where])


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
