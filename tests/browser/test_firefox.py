"""The pages in a real Firefox: each kind loads without errors and fits, and matches play by themselves."""

from collections.abc import Iterator

import pytest

from tests.browser.chromium import LEAST_FIREFOX, find_firefox
from tests.browser.firefox import Firefox
from tests.browser.record import Filled
from tests.browser.service import Served
from tests.machine import require

# Streams and modules are left when the next page is opened, which Firefox reports. A table without its module would
# have no seat, which other tests wait for.
LEFT = ("/stream", "error loading dynamically imported module")
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
OVERLAPS = """[...document.querySelectorAll(".table tbody tr")].filter((row) => [...row.querySelectorAll("a, .state")]
  .some((part) => part.getBoundingClientRect().bottom > row.getBoundingClientRect().bottom + 1)).length"""
CHANGED = "document.querySelector('{0}')?.textContent !== {1!r}"


@pytest.fixture(scope="module")
def firefox() -> Iterator[Firefox]:
    executable = require("firefox", "the pages in Firefox", LEAST_FIREFOX, places=[find_firefox()])
    with Firefox(executable) as running:
        yield running


@pytest.fixture(autouse=True)
def troubles(firefox: Firefox) -> Iterator[None]:
    firefox.troubles.clear()
    yield
    assert [trouble for trouble in firefox.troubles if not any(sign in trouble for sign in LEFT)] == []


def test_pages_of_several_kinds_load_without_errors_and_fit(firefox: Firefox, site: Served, filled: Filled) -> None:
    tournament, bot = filled.tournaments["knockout"], filled.bots["Ada"]
    for path in ("/bots", f"/bots/{bot}", f"/tournaments/{tournament}/bracket", "/organise", "/games/pool-nap"):
        firefox.resize(1280, 800)
        firefox.open(site.url + path)
        assert not firefox.evaluate(TOO_WIDE), path
        if path == "/bots":
            assert firefox.evaluate("document.querySelectorAll('.table tbody tr').length") > 10
            assert firefox.evaluate(OVERLAPS) == 0
        firefox.resize(390, 844)
        assert not firefox.evaluate(TOO_WIDE), path


def test_a_finished_match_plays_by_itself_and_a_live_one_is_followed(
    firefox: Firefox, site: Served, filled: Filled
) -> None:
    firefox.open(f"{site.url}/matches/{filled.matches['saint-poker']}")
    firefox.wait_for("document.querySelector('.felt .seat')")
    sentence = firefox.evaluate("document.querySelector('.sentence').textContent")
    firefox.wait_for(CHANGED.format(".sentence", sentence))

    live = filled.begin("saint-poker", rated=False)
    live.go_on(2)
    firefox.open(f"{site.url}/matches/{live.id}")
    firefox.wait_for("document.querySelector('.event-list button')")
    events = firefox.evaluate("document.querySelectorAll('.event-list button').length")

    live.go_on(4)

    firefox.wait_for(f"document.querySelectorAll('.event-list button').length > {events}")
    live.finish()


def test_the_first_page_plays_a_match(firefox: Firefox, site: Served) -> None:
    firefox.open(f"{site.url}/")
    firefox.wait_for("document.querySelector('#featured .felt .seat')")
    firefox.wait_for("document.querySelector('#featured button').hidden === false")
