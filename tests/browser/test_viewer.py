"""The match viewer in a browser: alone in a file, over a dropped log, on the site, live."""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from referee.match.canonical import Json
from referee.match.chance import CommittedChance, commitment, deal_key
from referee.match.log import parse_row
from referee.viewer import render_standalone
from referee.viewer.questions import questions
from tests.browser.conftest import PageAt, axe, wait_for
from tests.browser.record import Filled
from tests.golden import path

FEW = ["pool-nap-3", "prince-albert-4", "prisoners-2", "rummy-royal-9", "saint-poker-5"]  # each game once
HELD = ".badge[data-state=ok]"
FAILED = ".badge[data-state=bad]"
# Steps through all moments by the button and tells what was shown at each.
STEP_ALL = """() => {
    const root = document.querySelector(".viewer");
    const button = (label) => document.querySelector(`button[aria-label^="${label}"]`);
    button("First event").click();
    const told = [];
    for (;;) {
        const shown = document.querySelectorAll(".felt .face").length;
        told.push([Number(root.dataset.at), document.querySelector(".sentence").textContent, shown]);
        if (button("Next event").disabled) return told;
        button("Next event").click();
    }
}"""
FACES = """() => [...document.querySelectorAll(".seat .fan.hand")].map((fan) => fan.getAttribute("aria-label"))"""


def log(name: str) -> list[bytes]:
    return path(name).read_bytes().splitlines()


def joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


Opened = Callable[..., Page]


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Page]:
    """Files are opened in one window: a fresh one costs more than most tests do in it."""
    context = browser.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.fixture
def from_disk(window: Page, tmp_path: Path) -> Iterator[Opened]:
    """Open the page of a log from disk. Fail if it requests anything but itself, or writes to the console."""
    file = tmp_path / "replay.html"
    troubles: list[str] = []
    asked_for: list[str] = []
    heard = {
        "console": lambda one: troubles.append(one.text),
        "weberror": lambda one: troubles.append(str(one.error)),
        "request": lambda one: asked_for.append(one.url),
    }

    def opened(lines: list[bytes], end: str = "", *, dark: bool = False, asked: bool = True, width: int = 1280) -> Page:
        file.write_text(render_standalone(lines, questions=questions(lines) if asked else None))
        window.set_viewport_size({"width": width, "height": 900})
        window.emulate_media(color_scheme="dark" if dark else "light")
        window.goto(file.as_uri() + end)
        window.wait_for_selector(".badge:not([data-state=wait])")
        return window

    for event, told in heard.items():
        window.context.on(event, told)  # type: ignore[call-overload]  # wants each name as a literal
    yield opened
    for event, told in heard.items():
        window.context.remove_listener(event, told)
    assert troubles == []
    assert [url for url in asked_for if not url.startswith(("data:", "about:", file.as_uri()))] == []


@pytest.mark.parametrize("name", FEW)
def test_every_event_of_every_game_is_drawn_from_a_file_that_asks_for_nothing(from_disk: Opened, name: str) -> None:
    rows = [parse_row(line) for line in log(name)]
    page = from_disk(log(name))

    told = page.evaluate(STEP_ALL)

    moments = sum(len(row.get("events", [])) or row["type"] == "decision" for row in rows if row["type"] != "result")
    assert [at for at, _, _ in told] == list(range(moments))
    assert sum(bool(sentence) for _, sentence, _ in told) > moments / 2
    assert any(shown for _, _, shown in told)
    assert page.locator(HELD).inner_text() == "✓ Checked"
    assert page.locator(".holds").count() == 3
    assert not page.evaluate("[...document.images].some((one) => one.complete && !one.naturalWidth)")


def test_other_views_hide_what_they_did_not_see(from_disk: Opened) -> None:
    page = from_disk(log("pool-nap-3"))
    everything = page.evaluate(FACES)
    view = page.get_by_label("View")

    view.select_option("public")
    public = page.evaluate(FACES)
    view.select_option(view.locator("option", has_text="from seat 2,").get_attribute("value"))
    page.get_by_label("Next decision").click()

    assert not any("hidden" in hand for hand in everything)
    assert all(hand.startswith("Hand: ") and " of " not in hand for hand in public)
    own = page.evaluate(FACES)
    assert " of " in own[1]
    assert all(" of " not in hand for seat, hand in enumerate(own) if seat != 1)


def test_a_link_leads_to_its_decision_and_tells_all_about_it(from_disk: Opened) -> None:
    row = next(row for row in map(parse_row, log("pool-nap-3")) if row.get("n") == 17)
    page = from_disk(log("pool-nap-3"), "#d17")

    panel = page.locator(".decision")
    panel.get_by_text("What the bot saw").click()
    page.wait_for_selector(".legal .chosen")

    assert panel.locator(".decided .tag").inner_text() == "#17"
    assert f"{row['ms']} ms of 1000 ms" in panel.inner_text()
    assert "played" in panel.locator(".legal .chosen").inner_text()
    assert panel.locator(".json-table").count() > 1
    page.evaluate("location.hash = '#row-30'")
    wait_for(page, "() => document.querySelector('.decided .tag')?.textContent !== '#17'")
    (there,) = [one["n"] for one in map(parse_row, log("pool-nap-3")) if one["row"] == 30]
    assert panel.locator(".decided .tag").inner_text() == f"#{there}"


def test_what_was_said_is_gone_at_the_next_moment_however_one_gets_there(from_disk: Opened) -> None:
    """A sealed choice shows nothing: neither the bubbles of the event before it, nor which cards that moved."""
    page = from_disk(log("saint-poker-2"))
    bubbles = page.locator(".bubble:visible, .moved")

    page.evaluate("location.hash = '#row-3'")
    page.locator(".decided .tag", has_text="#0").wait_for()
    assert bubbles.count() > 0
    page.keyboard.press("ArrowRight")
    assert bubbles.count() == 0
    page.keyboard.press("End")
    page.evaluate("location.hash = '#row-4'")
    page.locator(".decided .tag", has_text="#1").wait_for()
    assert bubbles.count() == 0


def test_a_fault_is_told_with_what_to_do(from_disk: Opened, filled: Filled, page_at: PageAt) -> None:
    answer = page_at("/healthz").request.get(f"{page_at.url}/api/v1/matches/{faulty(filled)}/log")
    lines = answer.body().splitlines()
    row = next(row for row in map(parse_row, lines) if row.get("fault"))

    page = from_disk(lines, f"#d{row['n']}")

    notice = page.locator(".decision .notice").inner_text()
    assert "Fault: deadline: the response was not complete when the time was up." in notice
    assert "What to do: look at the times of the call" in notice
    assert page.locator(".event-list [aria-current] .tag.bad").inner_text() == "fault: deadline"


def faulty(filled: Filled) -> str:
    """A finished match in which a bot missed a deadline."""
    while True:
        live = filled.begin("saint-poker", rated=False)
        live.finish()
        if live.late:
            return live.id


def test_everything_goes_by_keys(from_disk: Opened) -> None:
    page = from_disk(log("saint-poker-5"))

    def at() -> int:
        return int(page.locator(".viewer").get_attribute("data-at") or -1)

    start, keys = at(), page.keyboard
    keys.press("ArrowRight")
    assert at() == start + 1
    keys.press("ArrowLeft")
    assert at() == start
    keys.press("n")
    assert at() > start
    keys.press("p")
    assert at() == start
    keys.press("End")
    last = at()
    keys.press("ArrowRight")
    assert at() == last
    keys.press("[")
    assert 0 < at() < last
    keys.press("Home")
    assert at() == 0
    keys.press("Space")
    wait_for(page, "() => Number(document.querySelector('.viewer').dataset.at) > 0")
    keys.press("Space")
    assert page.get_by_role("button", name="Play").is_visible()
    keys.press("?")
    page.get_by_role("checkbox").uncheck()
    keys.press("Escape")
    page.locator("dialog.keys").wait_for(state="hidden")  # the browser closes it a moment after the key
    before = at()
    keys.press("n")
    assert at() == before  # letters were switched off
    keys.press("End")
    assert at() == last


def test_the_graph_and_the_list_lead_to_their_moments_and_seats_are_counted_from_1(from_disk: Opened) -> None:
    page = from_disk(log("pool-nap-3"))
    views = page.get_by_label("View").locator("option").all_inner_texts()[2:]
    assert [view.split(",")[0] for view in views] == ["from seat 1", "from seat 2", "from seat 3"]
    assert page.locator(".chair").all_inner_texts() == ["1", "2", "3"]
    assert [label[:2] for label in page.locator(".graph text.label").all_text_contents()] == ["1 ", "2 ", "3 "]
    assert sorted(page.locator(".below .panel:first-child tbody td:nth-child(3)").all_inner_texts()) == ["1", "2", "3"]
    box = page.locator(".graph svg").bounding_box()
    assert box

    page.locator(".graph svg").click(position={"x": box["width"] * 0.55, "y": 100})
    middle = int(page.locator(".viewer").get_attribute("data-at") or 0)
    page.locator(".event-list button").first.click()

    assert 40 < middle < 130
    assert page.locator(".event-list [aria-current]").count() == 1
    assert int(page.locator(".viewer").get_attribute("data-at") or 0) < middle
    page.get_by_text("The figures as a table").click()
    header, *rows = page.locator(".graph-panel tr").all_inner_texts()
    assert header.split() == ["Round", "1", "Bot", "0", "2", "Bot", "1", "3", "Bot", "2"]
    assert rows[-1].split() == ["Round", "6", "94", "0", "56"]


def test_a_page_from_disk_is_accessible_and_fits_a_phone(from_disk: Opened) -> None:
    """In the dark, with the most seats; the viewer in the light is looked at on the site, below."""
    page = from_disk(log("rummy-royal-9"), "#d12", dark=True, width=360)
    page.get_by_text("What the bot saw").click()
    page.wait_for_selector(".legal .chosen")

    axe(page)

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


# -- on the site --


def test_a_finished_match_is_replayed_and_checked_on_both_sides(page_at: PageAt, filled: Filled) -> None:
    page = page_at(f"/matches/{filled.matches['prisoners']}#d3")
    page.wait_for_selector(HELD)
    page.get_by_text("What the bot saw").click()
    page.wait_for_selector(".legal .chosen")
    page.get_by_text("The server replayed the match").wait_for()

    assert page.locator(".holds").count() == 4  # links, seed, deals; the server
    assert page.locator(".decided .tag").inner_text() == "#3"
    assert page.locator(".about-match tbody a[href^='/bots/']").count() == 3
    assert page.get_by_text("Final ranks").count() == 1
    axe(page)


def test_a_match_is_followed_live_and_becomes_its_replay(page_at: PageAt, filled: Filled) -> None:
    live = filled.begin("pool-nap", rated=False)
    page = page_at(f"/matches/{live.id}", motion=True)
    live.go_on(3)
    page.wait_for_selector(".event-list button")
    assert page.locator(".live-mark").is_visible()
    assert "read when the match is over" in page.locator("main").inner_text()
    assert all(" of " not in hand for hand in page.evaluate(FACES))
    axe(page)

    page.get_by_label("First event").click()
    known = page.locator(".step").inner_text()
    live.go_on(6)
    wait_for(page, "(known) => document.querySelector('.step').textContent !== known", arg=known)
    assert page.locator(".viewer").get_attribute("data-at") == "0"  # who has gone back is left there

    page.get_by_label("Last event").click()
    live.finish()
    page.wait_for_selector(HELD)
    page.get_by_label("Round", exact=True).select_option("1")
    page.get_by_label("Next decision").click()
    assert all(" of " in hand for hand in page.evaluate(FACES))
    assert page.locator(".live-mark").count() == 0
    page.get_by_text("Final ranks").wait_for()  # the page follows when the reader has left the live match


# -- the arithmetic --


def test_the_browser_draws_what_the_referee_draws(page_at: PageAt) -> None:
    page = page_at("/replay")
    seed, group, nonces = bytes(32), "m_0001", ["1" * 32, "2" * 32]
    asked: list[Json] = [
        *({"kind": "deck", "cards": [str(card) for card in range(size)]} for size in (1, 2, 13, 104)),
        *({"kind": "draw", "among": list(range(size))} for size in (1, 3, 7)),
        {"kind": "draw", "among": list("abcdefgh"), "ordered": True},
    ]
    chance = CommittedChance(seed, group, nonces)

    found = page.evaluate(
        """async ([group, nonces, asked]) => {
            const { commitmentOf, committedChance } = await import("/static/viewer/fairness.js");
            const { hexOf, sha256 } = await import("/static/viewer/digests.js");
            const outcome = committedChance(new Uint8Array(32), group, nonces);
            return {
                commitment: commitmentOf(new Uint8Array(32), group),
                outcomes: asked.map((one, k) => outcome(one, k)),
                digests: [...Array(130).keys()].map((n) => hexOf(sha256(new Uint8Array(n).fill(n)))),
            };
        }""",
        [group, nonces, asked],
    )

    assert found["commitment"] == commitment(seed, group)
    assert found["outcomes"] == [chance.outcome(one, k) for k, one in enumerate(asked)]
    assert found["digests"] == [hashlib.sha256(bytes([n]) * n).hexdigest() for n in range(130)]
    assert deal_key(seed, group, nonces).hex().startswith("00e3fb6a")  # the vector of the rules


def test_play_is_reached_with_few_presses_of_tab(page_at: PageAt, filled: Filled) -> None:
    page = page_at(f"/matches/{filled.matches['saint-poker']}")
    page.wait_for_selector(HELD)

    pressed = 0
    while page.evaluate("document.activeElement.getAttribute('href')") != "#viewer":
        page.keyboard.press("Tab")
        pressed += 1
        assert pressed < 5
    before = page.evaluate("scrollY")
    page.keyboard.press("Enter")

    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Play"
    assert page.evaluate("scrollY") >= before
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Pause"


def test_all_cards_are_fetched_with_one_request_or_one_by_one_without_their_common_file(
    page_at: PageAt, filled: Filled
) -> None:
    def fetch(*, fails: bool) -> set[str]:
        """Return the kinds of the files with cards that a page requests."""
        page = page_at.context().new_page()
        requested: list[str] = []
        page.on("request", lambda one: requested.append(one.url))
        if fails:
            page.route("**/cards.json", lambda route: route.fulfill(status=503))
        page.goto(f"/matches/{filled.matches['saint-poker']}")
        page.wait_for_selector(HELD)
        page.keyboard.press("End")
        wait_for(page, "() => [...document.querySelectorAll('img.face')].every((one) => one.naturalWidth > 0)")
        assert page.locator("img.face").count() > 10
        return {url.rpartition(".")[2] for url in requested if "/cards" in url}

    assert fetch(fails=False) == {"json"}
    assert fetch(fails=True) == {"json", "svg"}
    page_at.forgive("503")
