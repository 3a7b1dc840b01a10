"""The pages in a real Chromium, over a record that was filled beforehand.

A test takes ``page_at`` and goes where it wants:

    def test_a_ladder_fits_a_phone(page_at: PageAt, filled: Filled, axe: Axe) -> None:
        page = page_at(f"/ladders/{filled.ladders['saint-poker']}", width=360, dark=True)

        assert page.get_by_role("heading", level=1).is_visible()
        axe(page)

Whatever goes wrong in a page fails its test at the end: errors on the console, scripts that stopped, what the policy
refused, requests that failed or led elsewhere. What a test expects to go wrong it takes out of ``page_at.troubles``.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright

from tests.browser.chromium import HELP, found
from tests.browser.record import Filled, fill
from tests.browser.service import Served, served

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice")
PATIENCE_MS = 15_000
SWITCHES = ["--disable-background-networking", "--disable-dev-shm-usage", "--disable-gpu"]
TOKEN_KEY = "referee.token"  # of sessionStorage, see static/site/session.js
SIGN_IN = """if (location.protocol.startsWith("http") && !sessionStorage.getItem("signed in once")) {
    sessionStorage.setItem("%s", "%s");
    sessionStorage.setItem("signed in once", "yes");
}"""


@dataclass
class PageAt:
    """Opens pages of the service, each in a context of its own."""

    browser: Browser
    url: str
    troubles: list[str] = field(default_factory=list)
    _contexts: list[BrowserContext] = field(default_factory=list)

    def __call__(
        self, path: str, *, width: int = 1280, height: int = 900, dark: bool = False, script: bool = True, **more: Any
    ) -> Page:
        """A page that has loaded. ``more`` goes to ``context``."""
        page = self.context(width=width, height=height, dark=dark, script=script, **more).new_page()
        page.goto(self.url + path)
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
        context.on("console", self._heard)
        context.on(
            "weberror",
            lambda one: self.troubles.append(f"a script stopped: {getattr(one.error, 'message', one.error)}"),
        )
        context.on("request", self._asked)
        context.on("requestfailed", self._failed)
        return context

    def close(self) -> None:
        while self._contexts:
            self._contexts.pop().close()

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:", "about:")):
            self.troubles.append(f"led elsewhere: {request.url}")

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # left by the page itself: a stream, or the page before
            self.troubles.append(f"failed: {request.method} {request.url}: {request.failure}")


Axe = Callable[..., None]


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    """The record that is served; what a test adds stays there for those after it."""
    filled = fill(tmp_path_factory.mktemp("pages"))
    yield filled
    filled.database.dispose()


@pytest.fixture(scope="session")
def site(filled: Filled) -> Iterator[Served]:
    """The service over it."""
    with served(filled.folder) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of this process."""
    executable = found()
    if executable is None:
        pytest.fail(HELP)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=SWITCHES, chromium_sandbox=False)
        yield browser
        browser.close()


@pytest.fixture
def page_at(browser: Browser, site: Served) -> Iterator[PageAt]:
    opened = PageAt(browser, site.url)
    yield opened
    opened.close()
    assert opened.troubles == []


@pytest.fixture(scope="session")
def axe() -> Axe:
    """Fails when axe-core finds a fault of accessibility: ``axe(page)``. It runs in a world of its own beside the
    page's scripts, which the page's policy does not bind. ``leave_out`` are rules that do not hold for this page."""
    source = AXE.read_text()

    def find_faults(page: Page, *, leave_out: tuple[str, ...] = ()) -> None:
        session = page.context.new_cdp_session(page)
        frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "axe"})
        where = {"contextId": world["executionContextId"], "returnByValue": True, "awaitPromise": True}
        options = {
            "runOnly": {"type": "tag", "values": RULES},
            "rules": {rule: {"enabled": False} for rule in leave_out},
            "resultTypes": ["violations"],
        }
        session.send("Runtime.evaluate", {"expression": source + ";0", **where})
        ran = session.send("Runtime.evaluate", {"expression": f"axe.run(document, {json.dumps(options)})", **where})
        session.detach()
        assert "exceptionDetails" not in ran, ran["exceptionDetails"]
        assert ran["result"]["value"]["testEngine"]["name"] == "axe-core"
        faults = ran["result"]["value"]["violations"]
        assert not faults, "\n".join(map(_told, faults))

    return find_faults


def _told(fault: dict[str, Any]) -> str:
    where = [f"  {' '.join(map(str, node['target']))}: {_one_line(node['failureSummary'])}" for node in fault["nodes"]]
    return "\n".join([f"{fault['id']} ({fault['impact']}): {fault['help']}", *where])


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)
