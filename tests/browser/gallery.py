"""Take pictures of every kind of page and write them as one HTML file, for people who judge how pages look.

``make gallery`` runs it. Pages are those of the browser tests: a real server with a full database, whose names are long
or written from right to left; wide and narrow, light and dark. The file contains all pictures.
"""

import argparse
import base64
import html
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import HELP, found
from tests.browser.conftest import SIGN_IN, SWITCHES, TOKEN_KEY
from tests.browser.crawl import Crawl
from tests.browser.record import PLAYED, Filled, fill
from tests.browser.service import served

SHOWN: Final[Mapping[str, str]] = {
    "Ada": "Ada Lovelace & Charles Babbage",
    "Babbage": "البوت العربي",
    "Caissa": "בוט הקלפים",
    "Eliza": "Wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
    "Gauß": "Ästhetisch-Überlange Rechenmühle",
    "The swiss cup": "The Seventeenth Annual Swiss Championship of Long Names, Autumn & Winter Edition",
    "The bracket cup": "كأس خروج المغلوب",
}
WIDTHS: Final = {1280: 800, 390: 844}  # widths of windows and their heights
TALLEST: Final = 2200  # pixels of a page that are shown
QUALITY: Final = 62  # of a JPEG
LONGEST_MS: Final = 120_000  # of a step: a picture of a long page takes seconds on a busy machine
SETTLED: Final = """async () => {
  const frames = async (count) => { while (count--) await new Promise(requestAnimationFrame); };
  const unfinished = "[aria-busy], .coming, .viewer-place > .empty";
  for (let i = 0; i < 100 && document.querySelector(unfinished); i++) await frames(2);
  const fetched = () => performance.getEntriesByType("resource").length;
  for (let before = -1, i = 0; i < 20 && before !== fetched(); i++) { // until nothing more is asked for
    before = fetched();
    await new Promise((done) => setTimeout(done, 200));
  }
  const needed = [...document.images].filter((one) => one.loading !== "lazy"); // those out of sight are never loaded
  await Promise.all(needed.map((one) => one.decode().catch(() => null)));
  await frames(3);
}"""
HEAD: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gallery of Referee</title><style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 1.5rem; color-scheme: light dark; }
.shots { display: flex; gap: 1rem; overflow-x: auto; align-items: flex-start; }
figure { margin: 0; flex: none; } img { display: block; border: 1px solid #8888; max-height: 70vh; width: auto; }
figcaption { font-size: .85rem; }
</style></head><body><h1>Gallery of Referee</h1>
"""


@dataclass(frozen=True)
class Subject:
    """Name a page of one of the services; ``token`` is signed in with."""

    title: str
    path: str
    token: str = ""


def subjects(filled: Filled, kinds: Mapping[str, str]) -> Iterator[Subject]:
    """Yield a page of each kind that links lead to, and those that links do not tell apart."""
    for kind, path in sorted(kinds.items()):
        yield Subject(kind, path)
    for name in (*PLAYED, "open", "void"):
        yield Subject(f"match, {name}", f"/matches/{filled.matches[name]}")
    for name in ("swiss", "knockout", "bracket", "open"):
        yield Subject(f"tournament, {name}", f"/tournaments/{filled.tournaments[name]}")
    yield Subject("a bot, seen by its owner", f"/bots/{filled.bots['Ada']}", filled.tokens["owner"])
    yield Subject("account, signed in", "/account", filled.tokens["owner"])
    yield Subject("organise, signed in", "/organise", filled.tokens["organiser"])
    draft = f"/tournaments/{filled.tournaments['draft']}/organise"
    yield Subject("terms of a draft, signed in", draft, filled.tokens["organiser"])
    yield Subject("missing page", "/nothing/here")


@dataclass
class Camera:
    """Take pictures of the pages of the service at ``url``. Windows are kept: new ones would fetch everything again."""

    browser: Browser
    url: str
    _windows: dict[tuple[int, str, str], Page] = field(default_factory=dict)

    def pictures(self, subject: Subject) -> Iterator[tuple[str, bytes]]:
        """Yield a caption and a JPEG of the page for each width, light and dark."""
        for width, scheme in product(WIDTHS, ("light", "dark")):
            page = self._window(width, scheme, subject.token)
            page.goto(subject.path)
            page.evaluate(SETTLED)
            yield f"{width} px, {scheme}", taken(page, width)
            page.goto("about:blank")  # ends its streams

    def _window(self, width: int, scheme: str, token: str) -> Page:
        kind = (width, scheme, token)
        if kind not in self._windows:
            context = self.browser.new_context(
                base_url=self.url,
                viewport={"width": width, "height": WIDTHS[width]},
                color_scheme="dark" if scheme == "dark" else "light",
                reduced_motion="reduce",
            )
            context.set_default_timeout(LONGEST_MS)
            if token:
                context.add_init_script(SIGN_IN % (TOKEN_KEY, token))
            self._windows[kind] = context.new_page()
        return self._windows[kind]


def taken(page: Page, width: int) -> bytes:
    height = min(TALLEST, int(page.evaluate("document.documentElement.scrollHeight")))
    area = {"x": 0.0, "y": 0.0, "width": float(width), "height": float(height)}
    return page.screenshot(full_page=True, clip=area, type="jpeg", quality=QUALITY)  # type: ignore[arg-type]


def write_section(file: Path, browser: Browser, title: str, shots: Iterator[tuple[str, bytes]]) -> None:
    figures = "".join(
        f'<figure><figcaption>{caption}</figcaption><img loading="lazy" alt="{html.escape(title)}, {caption}"'
        f' src="data:image/jpeg;base64,{base64.b64encode(picture).decode()}"></figure>'
        for caption, picture in shots
    )
    heading = f"{html.escape(title)} <small>Chromium {html.escape(browser.version)}</small>"
    with file.open("a", encoding="utf-8") as out:
        out.write(f'<section><h2>{heading}</h2><div class="shots">{figures}</div></section>\n')


def main() -> None:
    parser = argparse.ArgumentParser(description="Write pictures of every kind of page as one HTML file.")
    parser.add_argument("--out", type=Path, default=Path("gallery.html"), help="the file to write (gallery.html)")
    parser.add_argument("--only", default="", help="take only the pages whose title contains this text")
    options = parser.parse_args()
    chromium = found()
    if chromium is None:
        raise SystemExit(HELP)
    with tempfile.TemporaryDirectory() as folder:
        filled = fill(Path(folder), SHOWN)
        options.out.write_text(HEAD)
        with served(Path(folder)) as service, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
            camera = Camera(browser, service.url)
            for subject in subjects(filled, Crawl(service.url).run("/").kinds):
                if options.only in subject.title:
                    write_section(options.out, browser, subject.title, camera.pictures(subject))
                    print(subject.title, flush=True)
            browser.close()
        filled.database.dispose()
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
