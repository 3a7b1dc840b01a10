"""The gallery: pictures of pages in one file."""

from pathlib import Path

from playwright.sync_api import Browser

from tests.browser import gallery
from tests.browser.conftest import PageAt
from tests.browser.crawl import Crawl
from tests.browser.record import Filled


def test_a_gallery_holds_its_pictures_and_names_its_browser(
    browser: Browser, tmp_path: Path, page_at: PageAt, crawl: Crawl, filled: Filled
) -> None:
    file = tmp_path / "gallery.html"
    file.write_text(gallery.HEAD)
    camera = gallery.Camera(browser, page_at.url)
    subjects = list(gallery.subjects(filled, crawl.kinds))
    assert {"/", "/bots/bot", "/matches/mat", "/games/…"} <= {one.title for one in subjects}
    bot = f"/bots/{filled.bots['Ada']}"  # with a picture that is out of sight

    gallery.write_section(file, browser, "a <page>", camera.pictures(gallery.Subject("a <page>", bot)))

    page = page_at("/keys", policy=False)
    page.set_content(file.read_text())
    assert page.locator("h2").inner_text() == f"a <page> Chromium {browser.version}"
    captions = ["1280 px, light", "1280 px, dark", "390 px, light", "390 px, dark"]
    assert page.locator("figcaption").all_inner_texts() == captions
    page.locator("img").last.scroll_into_view_if_needed()
    widths = page.evaluate("Promise.all([...document.images].map((one) => one.decode().then(() => one.naturalWidth)))")
    assert widths == [1280, 1280, 390, 390]
