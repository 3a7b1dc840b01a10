"""Measure what busy pages cost a browser: ``python -m tests.browser.busy_pages [--seconds 600]``.

Two matches end every half second in a round robin of 30 bots, while Chromium shows the home page and the page of the
tournament. It prints the share of one core that each page's main thread takes, and how far its content shifts (the sum
of the layout shifts, except those of cards on the table of the match that the home page plays).
"""

import argparse
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from referee.db.engine import Database
from tests.api.serving import serving
from tests.browser import chromium
from tests.database import tournaments
from tests.database.world import World

BOTS: Final = 30
PAUSE_S: Final = 0.5
SETTLE_MS: Final = 3_000
OBSERVE_SHIFTS: Final = """() => {
  window.shifts = 0;
  const isPlay = ({ sources }) => sources.every(({ node }) => node?.parentElement?.closest(".felt"));
  const add = (list) => { for (const entry of list.getEntries()) if (!isPlay(entry)) shifts += entry.value; };
  new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
}"""


class Watched:
    """A page in a window of its own, and the time for which its main thread has worked."""

    def __init__(self, browser: Browser, url: str) -> None:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        self.page: Page = context.new_page()
        self.page.goto(url)
        self.page.wait_for_timeout(SETTLE_MS)
        self.page.evaluate(OBSERVE_SHIFTS)
        self._session: CDPSession = context.new_cdp_session(self.page)
        self._session.send("Performance.enable")
        self._first = self._metrics()

    def _metrics(self) -> dict[str, float]:
        return {one["name"]: one["value"] for one in self._session.send("Performance.getMetrics")["metrics"]}

    def share(self) -> float:
        """Return the share of the elapsed time for which the main thread worked."""
        now = self._metrics()
        return (now["TaskDuration"] - self._first["TaskDuration"]) / (now["Timestamp"] - self._first["Timestamp"])

    def shifts(self) -> float:
        """Return the sum of the layout shifts since the page settled."""
        return float(self.page.evaluate("shifts"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    seconds = parser.parse_args().seconds
    with TemporaryDirectory() as name, serving(Path(name), 2) as server, sync_playwright() as playwright:
        database = Database(f"sqlite:///{Path(name) / 'referee.db'}")
        world = World(database)
        tournament, _ = tournaments.begun(world, BOTS, format="round_robin", options={"rounds": 1}, anonymous=False)
        browser = playwright.chromium.launch(executable_path=chromium.found())
        paths = {"home": "/", "tournament": f"/tournaments/{tournament}"}
        pages = {page: Watched(browser, f"http://127.0.0.1:{server.port}{path}") for page, path in paths.items()}
        ended, until = 0, time.monotonic() + seconds
        while time.monotonic() < until:
            for claim in world.claim(2):
                world.finish(claim, choice=random.randrange(3))
                ended += 1
            time.sleep(PAUSE_S)
        for page, watched in pages.items():
            print(f"{page}: {watched.share():.1%} of a core, shifts {watched.shifts():.4f}, {ended} results")
        browser.close()
        database.dispose()


if __name__ == "__main__":
    main()
