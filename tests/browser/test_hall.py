"""The hall view in a browser: parts in turn, a live table to its end and the next, every size, keys, no sleep."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from sqlalchemy import update

from referee.bots import bots, handshakes
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.workflows.bots import handshake_results
from tests.browser.conftest import PageAt, axe, until, wait_for
from tests.browser.record import NAMES, PLAYED, Filled
from tests.database.tournaments import go_on
from tests.database.world import certify, manifest_of

SHOWN = """() => {
  const part = document.querySelector(".part[data-shown]");
  return part && `${part.dataset.part} ${part.querySelector(".page-of")?.textContent ?? ""}`.trim();
}"""
# What reaches beyond the window, or beyond the part that is shown.
BEYOND = """() => {
  const root = document.documentElement;
  const part = document.querySelector(".part[data-shown]");
  const frame = part.getBoundingClientRect();
  const within = [...part.querySelectorAll("h2, th, td, li, .felt, .sentence")].filter((one) => one.checkVisibility());
  const out = within.filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width && (box.right > frame.right + 1 || box.bottom > frame.bottom + 1 || box.left < frame.left - 1);
  });
  const window = [root.scrollWidth > innerWidth, root.scrollHeight > innerHeight, frame.bottom > innerHeight + 1];
  return [...window.filter(Boolean), ...out.map((one) => one.outerHTML.slice(0, 120))];
}"""
LOCKS = """window.locks = 0;
Object.defineProperty(navigator, "wakeLock", { value: { request: async () => { window.locks += 1; } } });"""


@pytest.fixture(scope="module")
def crowd(filled: Filled) -> Iterator[list[str]]:
    """Yield the ids of 40 bots with long names, and retire them."""
    manifest, made = manifest_of("1.0", sorted(PLAYED)), []
    for number in range(40):
        owner_id, name = filled.world.account(), f"Challenger of the North {number:03}"
        with filled.database.write() as session:
            made.append(bots.register(session, owner_id, name, f"http://127.0.1.{number}:9000/").id)
            (handshake,) = handshakes.claim_due_handshakes(session)
            certify(session, made[-1], manifest)
            handshake_results.finish_handshake(session, made[-1], handshake.epoch, {"ok": True}, manifest)
    yield made
    with filled.database.write() as session:
        session.execute(update(Bot).where(Bot.id.in_(made)).values(status=BotState.RETIRED))


def hall(page_at: PageAt, made: str, **options: Any) -> Page:
    page = page_at.clocked(f"/tournaments/{made}/hall", **options)
    expect(page.locator(".part[data-shown]")).to_be_visible()
    return page


def stepped(page: Page) -> str:
    page.keyboard.press("ArrowRight")
    shown: str = page.evaluate(SHOWN)
    return shown


def test_the_parts_are_shown_in_turn(page_at: PageAt, filled: Filled) -> None:
    page = hall(page_at, filled.tournaments["knockout"])
    seen = [page.evaluate(SHOWN)]

    for _ in range(4):
        until(page, lambda: page.evaluate(SHOWN) != seen[-1])
        seen.append(page.evaluate(SHOWN))

    order = ["podium", "bracket", "standings", "results"] * 3
    assert seen == order[order.index(seen[0]) :][:5]


def test_keys_stop_and_step(page_at: PageAt, filled: Filled) -> None:
    page = hall(page_at, filled.tournaments["swiss"])
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    stays = page.evaluate(SHOWN)
    page.clock.run_for(120_000)
    assert page.evaluate(SHOWN) == stays
    seen = [stays]
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        seen.append(page.evaluate(SHOWN))
    assert sorted(seen[:3]) == ["podium", "results", "standings"]
    assert (seen[3], seen[4]) == (seen[0], seen[2])
    page.keyboard.press("Space")
    until(page, lambda: page.evaluate(SHOWN) != seen[-1])
    page.keyboard.press("f")
    wait_for(page, "document.fullscreenElement !== null")
    page.get_by_role("button", name="Full screen").click()
    wait_for(page, "document.fullscreenElement === null")
    axe(page)


def test_a_live_table_is_played_to_its_end_and_then_the_next(page_at: PageAt, filled: Filled) -> None:
    made = filled.arrange("Hall", NAMES[:4], begins=True, game="pool-nap", options={"rounds": 2})
    first, second = (filled.claimed(match_id) for match_id in filled.list_due(made)[:2])
    first.go_on(4)
    second.go_on(4)
    page = hall(page_at, made)
    live = page.locator("#live-title")
    until(page, live.count)
    page.keyboard.press("Space")
    until(page, lambda: stepped(page) == "table")
    until(page, lambda: page.locator(".live-table .felt").is_visible())
    before = live.inner_text()
    assert before.startswith("Live: ")

    first.finish()
    until(page, lambda: "The match is over" in page.locator(".live-table .sentence").inner_text())
    assert live.inner_text() == before, "the end stays for a while"
    # Without advancing the clock, since the result is fetched now, and the next match follows after 12 s.
    expect(page.locator(".live-table .ending")).to_be_visible(timeout=9_000)
    until(page, lambda: live.inner_text() != before)
    until(page, lambda: page.locator(".live-table .felt").count() == 1)
    assert page.url.endswith("/hall"), "the viewer does not change the address"

    second.finish()
    go_on(filled.database, made)
    until(page, lambda: page.locator("#part-table").is_hidden())
    until(page, lambda: page.locator("#part-results li").count() == 2)


def test_the_clock_counts_down_by_the_clock_of_the_service(page_at: PageAt, filled: Filled) -> None:
    path, now = f"/tournaments/{filled.tournaments['open']}/hall", ""
    page = page_at.context(clocked=True).new_page()

    def add_clock(route: Route) -> None:
        answer = route.fetch()
        clock = f'<p class="clock" data-until="2030-01-01T12:00:00Z" data-now="2030-01-01T{now}Z">Starts</p></header>'
        route.fulfill(response=answer, body=answer.text().replace("</header>", clock, 1))

    page.route(f"**{path}", add_clock)
    for now, words in (  # noqa: B007  # `add_clock` reads it
        ("10:58:57", r"Starts in 1:01:0\d"),
        ("11:59:00", r"Starts in (1:00|0:5\d)"),
        ("12:00:00", "About to start"),
    ):
        page.goto(path)
        expect(page.locator(".clock")).to_have_text(re.compile(words))
    page.unroute_all(behavior="ignoreErrors")  # the page may be renewing itself


def test_the_screen_is_kept_awake_again_when_the_page_becomes_visible(page_at: PageAt, filled: Filled) -> None:
    page = page_at(f"/tournaments/{filled.tournaments['swiss']}/hall", before=LOCKS)
    wait_for(page, "locks === 1")

    page.evaluate("document.dispatchEvent(new Event('visibilitychange', {bubbles: true}))")

    wait_for(page, "locks === 2")


@pytest.mark.parametrize(("width", "height", "entrants"), [(1920, 1080, 4), (1280, 720, 40)])
def test_nothing_is_cut_off(
    page_at: PageAt, filled: Filled, crowd: list[str], width: int, height: int, entrants: int
) -> None:
    name = f"A tournament of {entrants} at {height} lines"
    made = filled.arrange(name, crowd[:entrants], begins=True, format="swiss")
    filled.play_due(made, most=1)
    filled.claimed(filled.list_due(made)[0]).go_on(2)
    page = hall(page_at, made, width=width, height=height)
    until(page, page.locator(".live-table .felt").count)
    names: set[str] = set()
    seen = []

    while (now := page.evaluate(SHOWN)) not in seen:
        seen.append(now)
        page.clock.run_for(50)
        assert page.evaluate(BEYOND) == [], now
        if now.split()[0] == "standings":
            names |= set(page.locator("#part-standings tbody tr:visible bdi").all_inner_texts())
        page.keyboard.press("ArrowRight")

    assert seen[(seen.index("table") + 1) % len(seen)] == "results", "the first part may be any: they take turns"
    assert len(names) == entrants, "every page of rows was shown"
