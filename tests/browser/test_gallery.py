"""The gallery: pictures of pages in one file, and what it says about browsers."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import gallery
from tests.browser.conftest import PageAt
from tests.browser.record import Filled
from tests.browser.service import Served


class WithoutFirefox:
    """Playwright with a Chromium and without a Firefox."""

    class chromium:  # noqa: N801
        pass

    class firefox:  # noqa: N801
        executable_path = "/nowhere/firefox"


def test_a_gallery_holds_its_pictures_and_names_its_browser(
    browser: Browser, site: Served, tmp_path: Path, page_at: PageAt
) -> None:
    file = tmp_path / "gallery.html"
    file.write_text(gallery.HEAD)
    engine = gallery.Engine("Chromium", browser.browser_type, None)

    shots = gallery.Camera(browser, site.url).pictures(gallery.Subject("missing <page>", "/nothing/here"))
    gallery.write_section(file, engine, browser.version, "missing <page>", shots)

    page = page_at.context().new_page()
    page.set_content(file.read_text())
    assert page.locator("h2").inner_text() == f"missing <page> Chromium {browser.version}"
    captions = ["1280 px, light", "1280 px, dark", "390 px, light", "390 px, dark"]
    assert page.locator("figcaption").all_inner_texts() == captions
    page.locator("img").last.scroll_into_view_if_needed()
    widths = page.evaluate("Promise.all([...document.images].map((one) => one.decode().then(() => one.naturalWidth)))")
    assert widths == [1280, 1280, 390, 390]
    page_at.troubles[:] = [one for one in page_at.troubles if "404" not in one]


def test_the_subjects_are_every_kind_of_page_and_pages_after_signing_in(site: Served, filled: Filled) -> None:
    subjects = list(gallery.full_subjects(filled, site.url))

    assert {"/", "/ladders/lad", "/bots/bot", "/matches/mat", "/games/…"} <= {one.title for one in subjects}
    assert {one.token for one in subjects} >= {"", filled.tokens["owner"], filled.tokens["organiser"]}


def test_a_gallery_says_that_firefox_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "found", lambda: "/usr/bin/chromium")
    there, missing = gallery.engines(WithoutFirefox())  # type: ignore[arg-type]

    assert [one.title for one in there] == ["Chromium"]
    assert "FIREFOX WAS LEFT OUT" in missing[0]


def test_no_gallery_is_made_without_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "found", lambda: None)

    with pytest.raises(SystemExit, match="THERE IS NO CHROMIUM"):
        gallery.engines(WithoutFirefox())  # type: ignore[arg-type]
