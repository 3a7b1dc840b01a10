"""Open pages that update live: a match played to its end, and all pages of a tournament."""

import itertools
from typing import Any

from playwright.sync_api import Page, Route, expect

from referee.match.time_limits import Limits
from referee.workflows.voids import tournament_cancellation
from tests.browser.conftest import PageAt, until
from tests.browser.record import LADDER, NAMES, PAYLOAD, Filled, Live
from tests.database.tournaments import begin, enter
from tests.surroundings import MASTER_KEY

FINISHED = ".badge[data-state=ok]"
STEPS = """() => {
  const root = document.getElementById("viewer");
  window.steps = [Number(root.dataset.at)];
  new MutationObserver(() => steps.push(Number(root.dataset.at))).observe(root, {attributeFilter: ["data-at"]});
}"""
# Parts of the table that are styled for another width of cards than they have; those of a seat without cards have none.
WRONG_SIZES = """() => [...document.querySelectorAll("#viewer :is(.seat, .centre)")].filter((part) => {
  const width = part.querySelector(".probe").offsetWidth;
  const expected = { small: width > 0 && width < 34, numbered: part.matches(".centre") && width < 52 };
  return Object.entries(expected).some(([name, isSet]) => part.classList.contains(name) !== isSet);
}).map((part) => part.className)"""
# What the server renders; without times, which scripts put into the reader's own zone, and without what scripts show.
MAIN = """() => {
  const main = document.getElementById("main").cloneNode(true);
  const added = "[data-live], [data-ends], [hidden], time, script, template, noscript, #viewer, #featured";
  for (const one of main.querySelectorAll(added)) one.remove();
  const words = (node) => node.textContent.replace(/\\s+/g, " ").trim();
  const looks = (one) => ["href", "class", "aria-current"].map((name) => one.getAttribute(name));
  const marked = [...main.querySelectorAll("a, svg [class], li[class], td[class]")];
  return [document.title, words(main), ...marked.map((one) => [...looks(one), words(one)].join("|"))];
}"""


def go_on_in_sight(page: Page, live: Live, decisions: int) -> None:
    """Record more decisions, and wait until the viewer has played what may be seen of them."""
    live.go_on(decisions)
    until(page, lambda: page.get_by_label("Next event").is_disabled() and page.locator(".event-list button").count())


def catches_up(page: Page, page_at: PageAt) -> None:
    """Check that the page, without being reloaded, shows what the server renders now."""
    expected = page_at(page.url.removeprefix(page_at.url), script=False).evaluate(MAIN)
    until(page, lambda: page.evaluate(MAIN) == expected)
    assert page.evaluate("window.still") is True


# -- a match --


def test_a_match_that_is_watched_is_played_to_its_last_event(page_at: PageAt, filled: Filled) -> None:
    live = filled.begin("pool-nap", rated=True)
    page = page_at.clocked(f"/matches/{live.id}")
    expect(page.locator(".live-mark")).to_be_visible()
    go_on_in_sight(page, live, 40)  # into the second round: those of the first are visible
    page.evaluate(STEPS)

    live.finish()
    until(page, page.locator(".sentence", has_text="The match is over").count)

    steps = page.evaluate("steps")
    assert len(steps) > 5  # random play may end soon
    assert all(after - before in (0, 1) for before, after in itertools.pairwise(steps[1:])), "nothing is skipped"
    assert page.get_by_role("button", name="Play", exact=True).is_visible()
    catches_up(page, page_at)
    expect(page.locator(".about .state")).to_have_text("finished")
    scores = [
        int(one.split()[0].replace("\u202f", "").replace("\N{MINUS SIGN}", "-"))
        for one in page.locator(".scoreboard b").all_text_contents()
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == page.locator(".scoreboard li").count() > 1
    assert page.locator(".scoreboard .first bdi").first.inner_text() in page.locator(".outcome").inner_text()
    assert page.get_by_text("Final ranks").count() == 1


def test_cards_have_pictures_before_the_first_deal_and_when_the_log_opens(page_at: PageAt, filled: Filled) -> None:
    live = filled.begin("saint-poker", bots=["Ada", "Babbage"], rated=False)
    page = page_at.clocked(f"/matches/{live.id}")
    expect(page.locator(".where")).to_contain_text("Nothing has happened yet")
    assert page.evaluate(WRONG_SIZES) == []

    live.go_on(1)
    until(page, page.locator(".hand .slot").count)
    assert page.evaluate(WRONG_SIZES) == []
    live.finish()
    until(page, page.locator(".look").get_by_label("View").count)

    assert page.evaluate(WRONG_SIZES) == []
    assert page.locator(".hand .slot").count()
    page.set_viewport_size({"width": 390, "height": 844})
    until(page, lambda: page.evaluate(WRONG_SIZES) == [])


def test_who_paused_is_left_there_at_the_end(page_at: PageAt, filled: Filled) -> None:
    live = filled.begin("pool-nap", rated=False)
    page = page_at.clocked(f"/matches/{live.id}")
    go_on_in_sight(page, live, 6)
    page.get_by_role("button", name="Pause", exact=True).click()
    stays = page.locator(".sentence").inner_text()

    live.finish()
    page.locator(FINISHED).wait_for()
    catches_up(page, page_at)

    assert page.locator(".sentence").inner_text() == stays
    assert page.get_by_role("button", name="Play", exact=True).is_visible()


def test_a_log_that_cannot_be_fetched_when_the_match_ends_is_requested_again(page_at: PageAt, filled: Filled) -> None:
    live = filled.begin("pool-nap", rated=False)
    page = page_at.clocked(f"/matches/{live.id}")
    go_on_in_sight(page, live, 6)
    failures = iter(["cut", "busy"])

    def fail_twice(route: Route) -> None:
        match next(failures, None):
            case "cut":
                route.abort()
            case "busy":
                route.fulfill(status=503)
            case _:
                route.continue_()

    page.route(f"**/matches/{live.id}/log", fail_twice)
    live.finish()
    until(page, page.locator(".sentence", has_text="The match is over").count)

    assert list(failures) == []
    assert any("failed: GET" in trouble for trouble in page_at.troubles)
    page_at.troubles.clear()


def test_an_owner_may_still_cancel_a_friendly_that_began_before_their_eyes(page_at: PageAt, filled: Filled) -> None:
    plan: dict[str, Any] = {"game": LADDER, "options": {"rounds": 1}, "limits": Limits(), "rated": False}
    match_id = filled.world.match([filled.bots[name] for name in ("Babbage", "Ada")], **plan)
    page = page_at.clocked(f"/matches/{match_id}", token=filled.tokens["owner"])
    expect(page.get_by_role("button", name="Cancel this friendly")).to_be_visible()

    live = filled.claimed(match_id)
    live.go_on(1)
    until(page, page.locator(".about .state-running").count)

    expect(page.get_by_role("button", name="Cancel this friendly")).to_be_enabled()
    live.finish()
    until(page, page.locator(".about .state-finished").count)
    expect(page.get_by_role("button", name="Cancel this friendly")).to_be_disabled()


# -- an event --


def test_pages_that_were_open_before_an_event_began_show_its_end(page_at: PageAt, filled: Filled) -> None:
    made = filled.arrange("Awaited", format="knockout")
    overview = page_at.clocked(f"/tournaments/{made}")
    pages = [overview, page_at.clocked(f"/tournaments/{made}/entries", overview)]
    for page in pages:  # the last one has the stream
        expect(page.locator("[data-live=live], [data-live=polling]")).to_be_visible()

    enter(filled.world, made, *(filled.bots[name] for name in NAMES[:4]))
    for page in pages:
        catches_up(page, page_at)
    begin(filled.world, made)
    for page in pages:
        catches_up(page, page_at)
    expect(overview.locator("#standings tbody tr")).to_have_count(4)
    filled.play_due(made)
    for page in pages:
        catches_up(page, page_at)
        expect(page.locator("[data-live=over]")).to_be_visible()


def test_every_part_of_an_event_follows_it(page_at: PageAt, filled: Filled) -> None:
    made = filled.event("In parts", count=4, format="knockout", deal_sharing="common")
    bracket = page_at.clocked(f"/tournaments/{made}/bracket")
    others = [page_at.clocked(f"/tournaments/{made}/{path}", bracket) for path in ("rounds/1", "matches", "luck")]
    bracket.locator("main a", has_text="Crosstable").focus()

    for most in (2, 1):
        filled.play_due(made, most=most)
        for page in (bracket, *others):
            catches_up(page, page_at)

    expect(bracket.locator(".tournament-head .state")).to_have_text("finished")
    assert bracket.evaluate("document.activeElement.textContent") == "Crosstable"


def test_a_reader_who_is_busy_is_not_disturbed_and_organisers_keep_what_they_may_do(
    page_at: PageAt, filled: Filled
) -> None:
    made = filled.event("Led and read", count=4)
    page = page_at.clocked(f"/tournaments/{made}/matches", token=filled.tokens["organiser"])
    expect(page.get_by_role("link", name="Cancel…")).to_have_count(6)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.evaluate("getSelection().selectAllChildren(document.querySelector('main h2'))")
    filled.play_due(made, most=2)
    expect(page.locator(".how-far .figures")).to_have_text("2 of 6")
    page.clock.run_for(10_000)
    assert page.url not in asked
    page.evaluate("getSelection().removeAllRanges()")
    until(page, page.get_by_role("link", name="Void…").count)

    expect(page.get_by_role("link", name="Void…")).to_have_count(2)
    expect(page.locator("[data-for-organiser][hidden]")).to_have_count(0)


def test_who_began_to_write_in_a_dialog_and_closed_it_is_busy_no_more(page_at: PageAt, filled: Filled) -> None:
    made = filled.event("Nearly cancelled", count=4)
    page = page_at.clocked(f"/tournaments/{made}", token=filled.tokens["organiser"])
    page.get_by_role("button", name="Cancel the tournament…").click()
    page.locator("#confirm-reason").fill("Perhaps")
    page.locator("#confirm [data-no]").click()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    filled.play_due(made)

    until(page, lambda: page.url in asked)


def test_a_page_that_was_refused_for_too_many_requests_asks_again(page_at: PageAt, filled: Filled) -> None:
    made = filled.event("Asked too often", count=4)
    page = page_at.clocked(f"/tournaments/{made}/matches")
    expect(page.locator("[data-live=live]")).to_be_visible()
    refused: list[str] = []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.fulfill(status=429, headers={"Retry-After": "1"})

    page.route(page.url, refuse)
    filled.play_due(made)
    until(page, lambda: refused)
    page.unroute(page.url)

    catches_up(page, page_at)
    page_at.forgive("429")


def test_E14_what_a_stranger_wrote_does_nothing_in_a_page_brought_up_to_date(page_at: PageAt, filled: Filled) -> None:
    made = filled.event("Cancelled with harm", count=4)
    page = page_at.clocked(f"/tournaments/{made}/matches", policy=False)
    expect(page.locator("[data-live=live]")).to_be_visible()

    with filled.database.write() as session:
        tournament_cancellation.cancel_tournament(session, made, master_key=MASTER_KEY, reason=PAYLOAD)
    catches_up(page, page_at)

    expect(page.locator("[data-reason]")).to_contain_text("onerror")
    assert page.evaluate("window.harmed") is None
    assert page.locator("main :is(img, script):not([type='application/json'])").count() == 0


def test_nothing_is_rendered_again_if_nothing_changed(page_at: PageAt, filled: Filled) -> None:
    running = page_at.clocked(f"/tournaments/{filled.tournaments['bracket']}/bracket")
    expect(running.locator("[data-live=live]")).to_be_visible()
    over = page_at.clocked(f"/tournaments/{filled.tournaments['knockout']}/bracket", running)
    asked: list[str] = []
    running.context.on("request", lambda request: asked.append(request.url))

    for page in (running, over):
        page.clock.run_for(60_000)

    assert asked == []


def test_the_first_page_shows_what_begins_and_takes_away_what_ends(page_at: PageAt, filled: Filled) -> None:
    page = page_at.clocked("/")
    expect(page.locator("[data-live=renewed]")).to_be_visible()
    stays = page.locator("#live-matches a").first.element_handle()

    made = filled.event("On the first page", count=3)
    live = filled.begin("rummy-royal", rated=False)  # of a game that is not played otherwise, so it has a place
    card, link = page.locator(f"[data-tournament={made}]"), page.locator(f"#live-matches a[href$='{live.id}']")
    until(page, lambda: card.locator("progress").count() and link.count())
    catches_up(page, page_at)
    filled.play_due(made)
    live.finish()
    until(page, lambda: card.count() + link.count() == 0)
    catches_up(page, page_at)

    assert stays is not None
    assert stays.evaluate("one => one.isConnected"), "cards that stay are not touched"
