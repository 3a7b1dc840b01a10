"""The table of the viewer fits the window, on a laptop and on a phone.

One event in ``SOME`` is looked at, and all of them with ``pytest --every-event tests/browser/test_viewer_table.py``.
"""

from collections.abc import Callable, Iterator
from itertools import count, cycle, product
from pathlib import Path
from random import Random

import pytest
from playwright.sync_api import Browser, Page

from referee.match.canonical import dumps
from referee.match.chance import CommittedChance, commitment
from referee.match.log import parse_row, reveal_line
from referee.match.reveal import Reveal
from referee.viewer import render_standalone
from tests.browser.conftest import REDRAWN, PageAt, wait_for
from tests.browser.record import Filled
from tests.browser.test_viewer import FAILED, HELD, log
from tests.browser.test_viewer_logs import drop
from tests.golden import RECORDED
from tests.match.playing import GROUP, at_random, header, played

Faults = Callable[[Page], list[str]]
LAPTOP, PHONE = (1280, 800), (390, 844)
OTHERS = [(1366, 768), (1920, 1080), (360, 740), (820, 1180)]
GEOMETRY = (Path(__file__).parent / "table_geometry.js").read_text()
LONG_NAMES = ["Лобачевский-and-Bolyai-of-Kazan-1", "Deep Green", "Knuth-Bot", "W" * 32, "Ísland"]
MOST_MARKS = ["opens", "low bid 100", "all in", "put in 150", "shows", "best hand"]
LONG_MARKS = ["low bid 150", "put in 1,150", "best hand"]
NUMBERS = count()
SOME = 31  # no multiple of it is the number of seats of a recorded match, so every seat is seen to act
IN_VIEW = """() => {
    const box = document.querySelector(".felt").getBoundingClientRect();
    return scrollY === 0 && box.top > 0 && box.bottom < innerHeight && box.height > innerHeight / 2;
}"""

TOPS_AND_BOTTOMS = """() => ["head", "felt", "controls"].map((name) => {
    const { top, bottom } = document.querySelector(`.play-area .${name}`).getBoundingClientRect();
    return [top, bottom];
})"""
# A page in another process than the last one gets its size a moment after its first layout.
IS_SIZED = "([width, height]) => innerWidth === width && innerHeight === height"
MARK_ALL_SEATS = """(marks) => {
    const create = (text) => Object.assign(document.createElement("span"), {className: "mark", textContent: text});
    for (const line of document.querySelectorAll(".seat .marks")) line.replaceChildren(...marks.map(create));
    const isCut = (one) => {
        const [inner, outer] = [one, one.closest(".says")].map((each) => each.getBoundingClientRect());
        return inner.left < outer.left - 1 || inner.top < outer.top - 1
            || inner.right > outer.right + 1 || inner.bottom > outer.bottom + 1;
    };
    return [...document.querySelectorAll(".seat .mark")].filter(isCut)
        .map((one) => `${one.closest(".seat").className}: ${one.textContent}`);
}"""


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Page]:
    """Files are opened in one window, each at another address: a fresh process costs more than most tests do in it."""
    context = browser.new_context(reduced_motion="reduce", has_touch=True)
    yield context.new_page()
    context.close()


@pytest.fixture
def faults(request: pytest.FixtureRequest) -> Faults:
    """Return a function that goes through a match and returns the faults of its table."""
    every = 1 if request.config.getoption("--every-event", False) else SOME

    def find(page: Page) -> list[str]:
        found: list[str] = page.evaluate(GEOMETRY, every)
        return found

    return find


def sized(page: Page, address: str, size: tuple[int, int], badge: str = HELD) -> Page:
    """Open the page of a match in a window of this size, and wait until its log is checked."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(address)
    page.locator(badge).first.wait_for(state="attached")
    return resized(page, size)


def resized(page: Page, size: tuple[int, int]) -> Page:
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    wait_for(page, IS_SIZED, [width, height])
    page.evaluate(REDRAWN)
    return page


def opened(
    window: Page, lines: list[bytes], folder: Path, size: tuple[int, int] = LAPTOP, end: str = "", badge: str = HELD
) -> Page:
    """Open the page of a log from disk."""
    file = folder / f"{next(NUMBERS)}.html"
    file.write_text(render_standalone(lines))
    return sized(window, file.as_uri() + end, size, badge)


def dropped(page_at: PageAt, name: str, size: tuple[int, int] = LAPTOP) -> Page:
    """Drop a recorded log on the page that opens logs."""
    page = resized(page_at("/replay"), size)
    drop(page, b"\n".join(log(name)) + b"\n")
    page.wait_for_selector(HELD)
    return page


def event(page: Page) -> int:
    """Return the number of the event that is shown, from 1."""
    return int(page.locator(".viewer").get_attribute("data-at") or -1) + 1


@pytest.mark.parametrize(
    ("name", "size"),
    [*zip(sorted(RECORDED), cycle([LAPTOP, PHONE]))],
    ids=str,
)
def test_the_whole_table_of_a_recorded_match_is_in_view(
    window: Page, tmp_path: Path, faults: Faults, name: str, size: tuple[int, int]
) -> None:
    page = opened(window, log(name), tmp_path, size)

    assert faults(page) == []
    for other in OTHERS if name == "pool-nap-3" else []:
        assert faults(resized(page, other)) == [], other


@pytest.mark.parametrize(("game", "size"), [("prisoners", PHONE), ("rummy-royal", LAPTOP)], ids=str)
def test_the_whole_table_is_in_view_on_the_page_of_a_match(
    page_at: PageAt, filled: Filled, faults: Faults, game: str, size: tuple[int, int]
) -> None:
    page = sized(page_at("/games"), f"/matches/{filled.matches[game]}", size)

    # Cards become as small as the fullest middle of the match needs, and this match is another each time.
    assert [fault for fault in faults(page) if "tiny card in the middle" not in fault] == []


@pytest.mark.parametrize(
    ("game", "size"),
    [("rummy-royal", (640, 400)), ("saint-poker", (844, 390))],
    ids=["a laptop magnified twice", "a phone on its side"],
)
def test_table_and_controls_are_in_a_low_window_together(
    page_at: PageAt, filled: Filled, game: str, size: tuple[int, int]
) -> None:
    page = sized(page_at("/games"), f"/matches/{filled.matches[game]}", size)
    page.locator(".play-area").evaluate("(one) => one.scrollIntoView()")

    (top, _), (felt, end), (controls, bottom) = page.evaluate(TOPS_AND_BOTTOMS)
    assert -1 < top < felt < end < controls < bottom <= size[1]
    assert end - felt > size[1] * 0.6
    cut = """() => [...document.querySelectorAll(".seat .chips, .seat .hand .face")].filter((one) => {
      const [inner, outer] = [one, one.closest(".seat")].map((each) => each.getBoundingClientRect());
      return inner.height < 12 || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
    }).map((one) => one.outerHTML.slice(0, 80))"""
    assert page.evaluate(cut) == []
    assert page.locator(".seat .hand .face").count() > 2
    assert page.locator(".beside > :last-child").evaluate("(panel) => panel.offsetHeight") <= 22 * 16  # it scrolls


def test_all_that_is_said_of_a_seat_is_in_view_in_a_low_window(window: Page, tmp_path: Path) -> None:
    page = opened(window, rummy_royal(0, deals=1), tmp_path, (390, 740))

    assert page.evaluate(GEOMETRY, 1) == []  # at some events a seat has bought its hand and lacks a colour


def test_as_many_marks_as_a_seat_can_have_are_in_view(window: Page, tmp_path: Path, page_at: PageAt) -> None:
    from_disk = opened(window, log("prince-albert-4"), tmp_path)
    of_the_service = dropped(page_at, "prince-albert-4")
    for page, size in product((from_disk, of_the_service), (LAPTOP, PHONE, (390, 740))):
        resized(page, size)
        for marks in (MOST_MARKS, LONG_MARKS):
            assert page.evaluate(MARK_ALL_SEATS, marks) == [], (page.url, size)
            assert page.locator(".seat .mark").count() >= 4 * len(marks)


def test_a_whole_suit_in_one_sequence_stays_readable(window: Page, tmp_path: Path, faults: Faults) -> None:
    lines = rummy_royal(532, deals=2)
    page = opened(window, lines, tmp_path)

    assert max(map(len, sequences(lines))) == 13
    for size in ((1280, 710), (390, 760)):
        assert faults(resized(page, size)) == []
        assert page.evaluate("document.querySelector('.centre .probe').offsetWidth") >= 24


def rummy_royal(choices: int, deals: int) -> list[bytes]:
    """Return the log of a match with these random choices. With 532, thirteen cards are played in one sequence."""
    seed = bytes([20, 2]) + bytes(30)
    head = header("rummy-royal", 4, {"deals": deals})
    head["group"]["commitment"] = commitment(seed, GROUP)
    match = played(head, at_random(Random(choices)), CommittedChance(seed, GROUP, [""] * 4))
    reveal = Reveal.without_nonces(seed, 4).to_json()
    return [*match.lines, reveal_line(len(match.lines), match.lines[-1], reveal)]


def sequences(lines: list[bytes]) -> list[list[str]]:
    """Return the cards that were played in each sequence of a match of Rummy Royal."""
    runs: list[list[str]] = []
    for line in lines:
        for event in parse_row(line).get("events", []):
            if event["event"] == "play":
                if event["lead"]:
                    runs.append([])
                runs[-1].append(event["card"])
    return runs


def test_the_table_of_a_live_match_is_in_view(page_at: PageAt, filled: Filled, faults: Faults) -> None:
    page = sized(page_at("/games"), f"/matches/{filled.matches['open']}", LAPTOP, ".event-list button")
    for size in (LAPTOP, PHONE):
        assert faults(resized(page, size)) == []


def test_a_dropped_log_shows_its_table_at_once(page_at: PageAt, faults: Faults) -> None:
    page = dropped(page_at, "rummy-royal-3", PHONE)

    assert page.evaluate(IN_VIEW)
    assert page.locator(".log-status").is_visible()
    assert faults(page) == []
    assert page.url.endswith("/replay")
    drop(page, b"hello", "words.log")  # by the form, which is below the table now
    page.locator(".log-status.error", has_text="it is not JSON").wait_for()
    assert page.locator(".log-status").evaluate("(one) => one.getBoundingClientRect().y") < 200


def test_a_swipe_over_the_table_steps_and_a_scroll_does_not(window: Page, tmp_path: Path) -> None:
    page = opened(window, log("pool-nap-3"), tmp_path, PHONE, "#e20")
    network = page.context.new_cdp_session(page)

    def move(across: int, along: int) -> None:
        for kind, points in (
            ("touchStart", [{"x": 200, "y": 300}]),
            ("touchMove", [{"x": 200 + across, "y": 300 + along}]),
            ("touchEnd", []),
        ):
            network.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    move(-120, 10)
    assert event(page) == 21
    move(120, -10)
    move(90, 5)
    assert event(page) == 19
    move(-30, 0)
    move(-60, 200)
    assert event(page) == 19


def test_the_options_of_a_phone_open_and_close(window: Page, tmp_path: Path) -> None:
    page = opened(window, log("pool-nap-3"), tmp_path, PHONE)
    more, view = page.get_by_label("Options"), page.get_by_label("View")
    assert not view.is_visible()

    more.click()
    view.select_option("1")  # seat 2
    assert not view.is_visible()
    assert page.locator(".seat.nearest .chair").inner_text() == "2"
    tops = page.evaluate("[...document.querySelectorAll('.seat')].map((seat) => seat.getBoundingClientRect().top)")
    assert max(tops) == tops[1]

    more.click()
    page.keyboard.press("Escape")
    assert not view.is_visible()
    assert more.get_attribute("aria-expanded") == "false"


def test_long_names_push_nothing_away(window: Page, tmp_path: Path, faults: Faults) -> None:
    lines = log("prisoners-5")
    header = parse_row(lines[0])
    for player, name in zip(header["players"], LONG_NAMES, strict=True):
        player["name"] = name
    page = opened(window, [dumps(header), *lines[1:]], tmp_path, badge=FAILED)  # the links no longer hold
    for size in (LAPTOP, PHONE):
        assert [one for one in faults(resized(page, size)) if "sentence" not in one] == []


# -- the place in the address --


def test_stepping_changes_the_address_and_reloading_returns_to_the_event(window: Page, tmp_path: Path) -> None:
    page = opened(window, log("pool-nap-3"), tmp_path)
    assert "#" not in page.url
    entries = page.evaluate("history.length")

    for _ in range(4):
        page.keyboard.press("n")
    there = event(page)
    page.wait_for_url(f"**#e{there}")
    page.reload()
    page.wait_for_selector(HELD)

    assert event(page) == there
    assert page.url.endswith(f"#e{there}")
    assert page.evaluate("history.length") == entries
    page.keyboard.press("End")
    page.wait_for_url("**#e164")


def test_back_returns_from_a_jump_and_keeps_the_view(window: Page, tmp_path: Path) -> None:
    page = opened(window, log("pool-nap-3"), tmp_path, end="#e30")
    page.get_by_label("View").select_option("1")
    page.keyboard.press("ArrowRight")

    page.get_by_label("Round", exact=True).select_option("3")
    jumped = event(page)
    page.locator(".graph svg").click(position={"x": 100, "y": 100})
    assert event(page) not in (31, jumped)
    page.go_back()
    page.wait_for_url(f"**#e{jumped}")
    wait_for(page, "at => document.querySelector('.viewer').dataset.at === String(at)", arg=jumped - 1)
    page.go_back()
    wait_for(page, "() => document.querySelector('.viewer').dataset.at === '30'")

    assert page.url.endswith("#e31")
    assert page.get_by_label("View").input_value() == "1"
    page.go_forward()
    wait_for(page, "at => document.querySelector('.viewer').dataset.at === String(at)", arg=jumped - 1)


def test_a_link_to_a_decision_stays_until_one_steps_and_one_to_nothing_opens_the_first(
    window: Page, tmp_path: Path
) -> None:
    page = opened(window, log("pool-nap-3"), tmp_path, end="#e9999")
    assert page.locator(".decided .tag").inner_text() == "#0"

    page.evaluate("location.hash = '#d17'")
    page.clock.install()
    page.reload()
    page.wait_for_selector(HELD)
    assert page.locator(".decided .tag").inner_text() == "#17"
    page.clock.run_for(5_000)
    assert page.url.endswith("#d17")
    page.keyboard.press("ArrowRight")
    page.clock.run_for(5_000)
    assert page.url.endswith(f"#e{event(page)}")
