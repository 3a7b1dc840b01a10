"""A match in a frame on a page of another origin."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PageAt, axe
from tests.browser.record import Filled

STORED = "() => [document.cookie, localStorage.length, sessionStorage.length]"
BEYOND = """() => {
  const root = document.documentElement;
  const parts = [...document.querySelectorAll(".felt, .controls, .embed-foot a, .controls button")];
  const out = parts.filter((one) => one.checkVisibility()).filter((one) => {
    const box = one.getBoundingClientRect();
    return box.right > innerWidth + 1 || box.bottom > innerHeight + 1 || box.top < -1 || box.left < -1;
  });
  const scrolls = root.scrollWidth > innerWidth || root.scrollHeight > innerHeight;
  return [scrolls, ...out.map((one) => one.outerHTML.slice(0, 80))];
}"""


@pytest.fixture
def elsewhere(page_at: PageAt) -> Iterator[str]:
    """Run a site on another port whose page at ``/PATH`` shows that path of the service in a frame."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            frame = f'<iframe src="{page_at.url}{self.path}" width="640" height="480" title="A match"></iframe>'
            content = f"<!doctype html><html lang=en><link rel=icon href=data:,><title>Blog</title><body>{frame}"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    yield url
    server.shutdown()
    thread.join()
    server.server_close()
    page_at.forgive(f"elsewhere: {url}")


def test_a_match_plays_in_a_frame_of_another_site(page_at: PageAt, filled: Filled, elsewhere: str) -> None:
    page = page_at.context(motion=True).new_page()
    page.goto(f"{elsewhere}/embed/matches/{filled.matches['saint-poker']}")
    inside = page.frame_locator("iframe")
    expect(inside.locator(".felt")).to_be_visible()

    expect(inside.get_by_role("button", name="Pause")).to_be_visible()
    before = inside.locator("#viewer").get_attribute("data-at")
    expect(inside.locator("#viewer")).not_to_have_attribute("data-at", before or "")
    inside.get_by_role("button", name="Pause").click()
    assert page.frames[1].evaluate(STORED) == ["", 0, 0]

    with page.context.expect_page() as opened:
        inside.get_by_role("link", name="Watch on Referee").click()
    expect(opened.value.locator(".match-head")).to_be_visible()
    assert opened.value.url == f"{page_at.url}/matches/{filled.matches['saint-poker']}"


def test_a_match_is_live_in_a_frame(page_at: PageAt, filled: Filled, elsewhere: str) -> None:
    live = filled.begin("pool-nap", rated=False)
    live.go_on(3)
    page = page_at.context().new_page()
    page.goto(f"{elsewhere}/embed/matches/{live.id}")
    inside = page.frame_locator("iframe")
    expect(inside.locator(".live-mark")).to_be_visible()

    live.finish()

    expect(inside.locator(".live-mark")).to_have_count(0)
    expect(inside.locator(".felt")).to_be_visible()


def test_it_fits_its_frame(page_at: PageAt, filled: Filled) -> None:
    page = page_at("/games")
    for game, width, height in (("saint-poker", 640, 480), ("rummy-royal", 1200, 800), ("rummy-royal", 320, 240)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"/embed/matches/{filled.matches[game]}")
        expect(page.locator(".felt")).to_be_visible()

        assert page.evaluate(BEYOND) == [False], (width, height)
        assert page.locator(".felt").evaluate("(one) => one.offsetHeight") > height * 0.5, (width, height)
    axe(page)


def test_the_code_of_a_frame_is_offered_at_the_end_of_a_match(page_at: PageAt, filled: Filled) -> None:
    match_id = filled.matches["saint-poker"]
    page = page_at.context(permissions=["clipboard-read", "clipboard-write"]).new_page()
    page.clock.install()
    page.goto(f"/matches/{match_id}")
    page.locator(".felt").wait_for()
    page.get_by_role("button", name="Last event").click()
    page.get_by_role("button", name="Previous event").click()
    page.get_by_role("button", name="Play", exact=True).click()
    page.clock.run_for(10_000)

    page.get_by_role("button", name="Embed").click()

    code = page.get_by_label("Code to embed").input_value()
    assert f'<iframe src="{page_at.url}/embed/matches/{match_id}" ' in code
    expect(page.get_by_text("Code copied.")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == code
