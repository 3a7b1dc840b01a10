"""The pages in a real Firefox: each kind loads without errors and fits, and matches play by themselves."""

from collections.abc import Iterator

import pytest

from tests.browser.chromium import LEAST_FIREFOX, find_firefox
from tests.browser.crawl import Crawl
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


def one_of_a_group(crawl: Crawl) -> list[str]:
    """Return the deepest page of each group."""
    groups = {path.split("/")[1]: path for path in sorted(crawl.kinds.values(), key=lambda path: path.count("/"))}
    return [*groups.values()]


def test_every_kind_of_page_loads_without_errors_and_fits(firefox: Firefox, crawl: Crawl) -> None:
    wide = []
    for at, path in enumerate(one_of_a_group(crawl)):
        sizes = [(1280, 800), (390, 844)]
        for width, height in sizes if at % 2 else reversed(sizes):  # half of the pages are loaded narrow
            firefox.resize(width, height)
            if (width, height) == sizes[at % 2 - 1]:
                firefox.open(crawl.url + path)
            if firefox.evaluate(TOO_WIDE):
                wide.append((path, width))

    assert wide == []
    assert len(one_of_a_group(crawl)) > 10


def test_rows_of_the_directory_do_not_overlap(firefox: Firefox, site: Served) -> None:
    firefox.resize(1280, 800)
    firefox.open(f"{site.url}/bots")

    assert firefox.evaluate("document.querySelectorAll('.table tbody tr').length") > 10
    assert firefox.evaluate(OVERLAPS) == 0


@pytest.mark.parametrize("page", ["matches", "embed/matches"])
def test_a_finished_match_plays_by_itself(firefox: Firefox, site: Served, filled: Filled, page: str) -> None:
    firefox.resize(1280, 800)
    firefox.open(f"{site.url}/{page}/{filled.matches['saint-poker']}")
    firefox.wait_for("document.querySelector('.sentence')")
    sentence = firefox.evaluate("document.querySelector('.sentence').textContent")
    firefox.wait_for(CHANGED.format(".sentence", sentence))


def test_the_first_page_plays_a_match(firefox: Firefox, site: Served, filled: Filled) -> None:
    live = filled.begin("saint-poker", rated=False)
    firefox.open(f"{site.url}/")
    firefox.wait_for("document.querySelector('#featured .felt .seat')")
    live.finish()
    firefox.wait_for("document.querySelector('#featured button').hidden === false")


def test_a_live_match_is_followed(firefox: Firefox, site: Served, filled: Filled) -> None:
    live = filled.begin("saint-poker", rated=False)
    live.go_on(2)
    firefox.open(f"{site.url}/matches/{live.id}")
    firefox.wait_for("document.querySelector('.event-list button')")
    events = firefox.evaluate("document.querySelectorAll('.event-list button').length")

    live.go_on(4)

    firefox.wait_for(f"document.querySelectorAll('.event-list button').length > {events}")
    live.finish()
