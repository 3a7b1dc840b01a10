"""Pages of tournaments in a browser: live updates, actions of organisers, no injected code."""

from typing import Any

from playwright.sync_api import Page, expect

from referee.accounts.entry_consent import EntryConsent
from referee.tournaments import disqualification, starting, tournaments
from referee.tournaments.states import TournamentState
from tests.browser.conftest import AT_ONCE, PageAt, axe, confirm, look, submit, until, wait_for
from tests.browser.record import NAMES, PAYLOAD, Filled
from tests.browser.test_site import OBSERVE

# Everything that a table shows, without what only its making left behind.
TABLE = """() => [...document.querySelector("#standings tbody").rows].map(row => [...row.cells].map(cell => [
    cell.querySelector("a")?.getAttribute("href") ?? "",
    [...cell.querySelectorAll("[data-mark]")].filter(mark => !mark.hidden).map(mark => mark.dataset.mark).join(),
    [...cell.querySelectorAll("rect, circle")].map(one =>
        ["x", "width", "cx", "r"].map(name => one.getAttribute(name)).join()).join(),
    (cell.querySelector("bdi") ?? cell).textContent.replace(/\\s+/g, " ").trim(),
]))"""
NEWEST = """() => [...document.querySelectorAll("#newest li")].map(one =>
    [one.dataset.match, one.textContent.replace(/\\s+/g, " ").trim()])"""
SAME = "expected => JSON.stringify((%s)()) === JSON.stringify(expected)"
MOST_SHIFTS = 0.1  # the usual limit of a good page


def test_a_table_that_followed_an_event_is_that_of_a_fresh_page(page_at: PageAt, filled: Filled) -> None:
    made = filled.event("Followed", count=6, substitute="house:3")
    context = page_at.context()
    context.add_init_script(AT_ONCE)
    page, wide = context.new_page(), context.new_page()
    for tab, path in ((wide, "/standings?columns=all"), (page, "")):
        tab.goto(f"/tournaments/{made}{path}")
        expect(tab.locator("[data-live=live]")).to_be_visible()
    before = page.evaluate(TABLE)

    page.locator("#standings tbody tr").first.hover()
    for done in range(1, 13):  # most often one match is enough; that twelve change no rank is out of the question
        filled.play_due(made, most=1)
        expect(page.locator(".how-far .figures")).to_have_text(f"{done} of 15")
        if hrefs(page_at(f"/tournaments/{made}").evaluate(TABLE)) != hrefs(before):
            break
    expect(page.locator("#newest li")).to_have_count(min(done, 8))
    expect(page.locator("[data-moved]")).to_be_visible()
    assert hrefs(page.evaluate(TABLE)) == hrefs(before), "no line moves under the pointer"
    assert page.evaluate(TABLE) != before, "but what it says is up to date"

    page.mouse.move(0, 0)
    expect(page.locator("[data-moved]")).to_be_hidden()
    assert hrefs(page.evaluate(TABLE)) != hrefs(before)

    page.clock.install()
    look(page, hidden=True)
    page.clock.fast_forward(30_000)  # nobody looks for so long: the connection is given back
    filled.play_due(made, most=2)
    with page.expect_request("**/stream?after=*"):
        look(page, hidden=False)
    expect(page.locator(".how-far .figures")).to_have_text(f"{done + 2} of 15")

    filled.play_due(made)
    expect(page.locator("[data-live=over]")).to_be_visible()
    expect(page.locator(".tournament-head .state")).to_have_text("finished")
    fresh = page_at(f"/tournaments/{made}")
    for part in (TABLE, NEWEST):
        wait_for(page, SAME % part, arg=fresh.evaluate(part))
    fresh.goto(f"/tournaments/{made}/standings?columns=all")
    expected = fresh.evaluate(TABLE)
    wait_for(wide, SAME % TABLE, arg=expected)
    assert expected[0][-1][-1] not in ("", "–"), "with error bars"


def test_a_busy_event_neither_shifts_nor_animates_and_shows_a_disqualification(page_at: PageAt, filled: Filled) -> None:
    made = filled.event("Busy", count=6)
    page = page_at(f"/tournaments/{made}", motion=True, before=OBSERVE)
    expect(page.locator("[data-live=live]")).to_be_visible()
    played = 0

    for done in (5, 10, 14):
        filled.play_due(made, most=done - played)
        expect(page.locator(".how-far .figures")).to_have_text(f"{done} of 15")
        assert page.evaluate("document.getAnimations().length") == 0
        played = done
    expect(page.locator("#newest li")).to_have_count(8)
    mark = page.locator("#standings tbody tr", has_text=NAMES[1]).locator("[data-mark=disqualification]")
    expect(mark).to_be_hidden()
    with filled.database.write() as session:
        disqualification.disqualify_bot(session, made, filled.bots[NAMES[1]], "Two names.")
    expect(mark).to_be_visible()
    expect(mark).to_have_attribute("title", "Two names.")

    assert page.evaluate("shifts") < MOST_SHIFTS


def test_times_of_rounds_are_typed_in_the_time_zone_of_the_reader(page_at: PageAt, filled: Filled) -> None:
    swiss: dict[str, Any] = {"format": "swiss", "format_options": {"rounds": 2}}
    made = filled.arrange("Weekly cup", status=TournamentState.DRAFT, **swiss)
    page = page_at.context(token=filled.tokens["organiser"], timezone_id="Europe/Berlin").new_page()
    page.goto(f"/tournaments/{made}/organise")
    times = page.get_by_label("Round times")

    times.fill("2090-05-01 18:00\nsoon")
    page.get_by_role("button", name="Save the terms").click()
    expect(page.locator("[data-summary]")).to_contain_text("Must be a time with an offset")
    times.fill("2090-05-01 18:00\n\n2090-12-08 18:00\n")
    page.get_by_role("button", name="Save the terms").click()
    expect(page.locator("[data-done]").first).to_have_text("The changes are saved.")
    page.reload()

    expect(times).to_have_value("2090-05-01 18:00\n2090-12-08 18:00")
    stored = filled.ask(tournaments.get_tournament, made).round_times
    assert stored == ["2090-05-01T16:00:00Z", "2090-12-08T17:00:00Z"]
    page_at.forgive("422")


def hrefs(table: list[list[list[str]]]) -> list[str]:
    return [row[1][0] for row in table]


def test_where_there_is_no_stream_the_page_asks_again_and_again(page_at: PageAt, filled: Filled) -> None:
    made = filled.event("Asked", count=4)
    context = page_at.context(clocked=True)
    context.route("**/stream", lambda route: route.fulfill(status=503, body=""))
    page = context.new_page()
    page.goto(f"/tournaments/{made}")
    until(page, page.locator("[data-live=polling]").count)

    filled.play_due(made, most=2)

    until(page, page.locator(".how-far .figures:text-is('2 of 6')").count)
    until(page, page.locator("#newest li:nth-child(2)").count)
    filled.play_due(made)
    until(page, page.locator("[data-live=over]").count)
    page_at.close()
    page_at.forgive("status of 503")


def test_an_organiser_leads_an_event_from_its_draft_to_its_end(page_at: PageAt, filled: Filled) -> None:
    filled.consent(EntryConsent.EVERYBODY, *NAMES[:3])
    page = page_at("/organise", token=filled.tokens["organiser"])
    draft(page)
    made = filled.ask(tournaments.get_tournament, page.url.split("/")[-2])
    assert (made.format, made.options) == ("knockout", {"rounds": 1, "final_pickup": True})
    assert (made.format_options["seeding"], made.format_options["third_place"]) == ("hand", True)
    page_at.forgive("status of 422")

    submit(page, "Save the terms", {"Best of": "3"})
    expect(page.locator("[data-done]").first).to_have_text("The changes are saved.")
    led(page, "Open for entries…", "open for entries")
    for name in NAMES[:3]:
        page.get_by_label("Bots by name or owner").fill(name)
        page.locator("[data-found]").get_by_role("checkbox", name=f"{name} by").check()
    page.get_by_role("button", name="Enter the chosen bots").click()
    expect(page.locator("[data-enter-many] [data-done]")).to_have_text("3 entered, 0 asked, 0 not entered, of 3.")
    for name in NAMES[:3]:
        expect(page.locator("[data-seeds]").get_by_role("link", name=name, exact=True)).to_be_visible()
    page.get_by_label(f"Seed of {NAMES[2]}").fill("1")
    page.get_by_role("button", name="Save the seeds").click()
    expect(page.locator("[data-seeds] [data-done]")).to_have_text("One seed is saved.")

    led(page, "Start…", "running")
    led(page, "Pause…", "paused")
    led(page, "Resume…", "running")
    asked = posts(page)
    page.get_by_role("button", name="Cancel the tournament…").click()
    page.get_by_label("Reason").fill(PAYLOAD.replace("\u202e", ""))
    page.locator("[data-yes]").dblclick()
    expect(page.locator(".tournament-head .state")).to_have_text("cancelled")
    expect(page.locator(".tournament-head [data-reason]")).to_contain_text("onerror")
    assert len(asked) == 1
    assert page.evaluate("window.harmed") is None


def draft(page: Page) -> None:
    """Fill the form, first with errors."""
    expect(page.locator("[data-signed-in]")).to_contain_text("Signed in as")
    page.get_by_label("Name of the tournament").fill("A")
    page.get_by_label("Game", exact=True).select_option("saint-poker")
    page.locator("summary", has_text="More terms").click()
    page.get_by_label("Seats", exact=True).fill("2")
    page.locator("#option-saint-poker-rounds").fill("99")
    page.get_by_label("Format").select_option("knockout")
    page.get_by_label("Seeding").select_option("hand")
    page.get_by_label("Match for third place").check()

    page.get_by_role("button", name="Create draft").click()
    expect(page.locator("#name-error")).not_to_be_empty()
    assert page.locator("#name").get_attribute("aria-invalid") == "true"
    assert page.locator("[data-summary]").evaluate("one => one === document.activeElement")
    submit(page, "Create draft", {"Name of the tournament": "Led by hand"})
    expect(page.locator("#option-saint-poker-rounds-error")).not_to_be_empty()
    page.reload()  # nothing that was typed is lost
    expect(page.get_by_label("Name of the tournament")).to_have_value("Led by hand")
    expect(page.get_by_label("Seeding")).to_have_value("hand")
    page.locator("summary", has_text="More terms").click()
    page.locator("#option-saint-poker-rounds").fill("1")
    page.get_by_role("button", name="Create draft").click()
    page.wait_for_url("**/tournaments/trn_*/organise")


def led(page: Page, button: str, state: str) -> None:
    page.get_by_role("button", name=button).click()
    expect(page.locator("#confirm")).to_be_visible()
    page.get_by_role("button", name="Yes, do it").click()
    expect(page.locator(".tournament-head .state")).to_have_text(state)


def posts(page: Page) -> list[str]:
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url) if request.method == "POST" else None)
    return seen


def test_a_match_is_taken_back_with_a_reason_once(page_at: PageAt, filled: Filled) -> None:
    made = filled.event("Taken back", count=3)
    filled.play_due(made, most=1)
    page = page_at(f"/tournaments/{made}/matches?status=finished", token=filled.tokens["organiser"])
    page.get_by_role("link", name="Void…").click()
    page.get_by_role("button", name="Void the match…").click()
    expect(page.locator("#reason-error")).to_have_text("Enter a reason.")
    page.get_by_label("Reason").first.fill(PAYLOAD.replace("\u202e", ""))
    page.get_by_label("Play it again").select_option("yes")
    asked = posts(page)
    page.get_by_role("button", name="Void the match…").click()
    expect(page.locator("#confirm-text")).to_contain_text("new cards")
    page.get_by_role("button", name="Yes, do it").dblclick()

    expect(page.locator("[data-outcome]")).to_contain_text("The void is proposed.")
    expect(page.get_by_role("button", name="Withdraw…")).to_be_visible()
    expect(page.get_by_role("button", name="Confirm the void…")).to_be_hidden()
    assert len(asked) == 1
    page = page_at(page.url.removeprefix(page_at.url), token=filled.tokens["admin"])
    asked = posts(page)
    page.get_by_role("button", name="Confirm the void…").click()
    page.get_by_role("button", name="Yes, do it").dblclick()
    expect(page.locator("[data-outcome]")).to_contain_text("One match is void. Rematches: mat_")
    expect(page.locator("[data-match-card] bdi[data-field=reason]")).to_contain_text("onerror")
    assert len(asked) == 1
    page.goto(f"/tournaments/{made}/matches?status=void")
    expect(page.locator("td .quiet")).to_contain_text("<script>")

    page.goto(f"/tournaments/{made}/matches?status=due")
    page.get_by_role("link", name="Cancel…").first.click()
    page.get_by_label("Reason").first.fill("no longer wanted")
    confirm(page, "Cancel the match…")
    expect(page.locator("[data-match-card] .state")).to_have_text("cancelled")
    assert page.evaluate("window.harmed") is None


def test_all_that_played_the_same_cards_is_void_and_played_again(page_at: PageAt, filled: Filled) -> None:
    made = filled.event("Same cards", count=4, deal_sharing="common")
    filled.play_due(made, most=2)
    page = page_at(f"/tournaments/{made}/matches?status=finished", token=filled.tokens["admin"])
    page.get_by_role("link", name="Void…").first.click()
    page.get_by_label("Reason").first.fill("wrong cards")
    page.get_by_label("Play it again").select_option("yes")
    page.get_by_label("With all matches that share its cards").check()
    page.get_by_label("Reason").first.press("Enter")
    expect(page.locator("#confirm-text")).to_contain_text("This includes all matches that share its cards")
    page.get_by_role("button", name="Yes, do it").click()

    expect(page.locator("[data-outcome]")).to_contain_text("2 matches are void. Rematches: mat_")


def test_an_event_that_missed_its_start_is_given_a_new_time(page_at: PageAt, filled: Filled) -> None:
    made = filled.arrange("Missed")
    with filled.database.write() as session:
        tournaments.get_tournament(session, made).starts_at = filled.database.clock.utc_now()
        session.flush()
        starting.start_if_due(session, made)
    page = page_at(f"/tournaments/{made}/organise", token=filled.tokens["organiser"])
    reason = page.locator(".tournament-head [data-reason]")
    expect(reason).to_contain_text("was missed because a table has 2 seats, but only 0 bots are entered")

    submit(page, "Save the terms", {"Starts at": "2001-01-31T18:00"})
    expect(page.locator("#starts_at-error")).to_contain_text("must be later than now")
    submit(page, "Save the terms", {"Starts at": "2099-01-31T18:00"})
    expect(reason).to_be_hidden()
    expect(page.get_by_label("Starts at")).to_have_value("2099-01-31T18:00")
    assert str(filled.ask(tournaments.get_tournament, made).starts_at).startswith("2099-01-31 ")
    page_at.forgive("status of 422")


def test_a_draft_shows_itself_to_its_organiser_and_nothing_to_others(page_at: PageAt, filled: Filled) -> None:
    path = f"/tournaments/{filled.tournaments['draft']}/organise"

    page = page_at(path)
    expect(page.get_by_role("heading", name="Draft of a tournament")).to_be_visible()
    page.get_by_label("Your token").fill(filled.tokens["owner"])
    page.keyboard.press("Enter")
    expect(page.get_by_text("you do not run this tournament")).to_be_visible()
    expect(page.locator("#terms")).to_have_count(0)

    page = page_at(path, token=filled.tokens["organiser"])
    expect(page.locator("#terms")).to_be_visible()
    expect(page.get_by_role("button", name="Delete the draft…")).to_be_visible()
    expect(page.get_by_role("heading", name="Draft of a tournament")).to_have_count(0)


def test_a_draft_that_another_changed_is_not_overwritten_unasked(page_at: PageAt, filled: Filled) -> None:
    made = filled.arrange("Two tabs", status=TournamentState.DRAFT)
    page = page_at(f"/tournaments/{made}/organise", token=filled.tokens["organiser"])
    expect(page.get_by_label("Name of the tournament")).to_have_value("Two tabs")
    with filled.database.write() as session:
        tournaments.get_tournament(session, made).name = "Of another tab"
    page.get_by_label("Name of the tournament").fill("Of this tab")
    save = page.get_by_role("button", name="Save the terms")

    save.click()
    expect(page.locator("#terms [data-refusal]")).to_contain_text("was changed elsewhere")
    assert filled.ask(tournaments.get_tournament, made).name == "Of another tab"
    save.click()
    expect(page.locator("#terms [data-done]")).to_have_text("The changes are saved.")
    assert filled.ask(tournaments.get_tournament, made).name == "Of this tab"
    page_at.forgive("status of 412")


def test_who_thinks_better_of_it_stays_where_he_was(page_at: PageAt, filled: Filled) -> None:
    page = page_at(f"/tournaments/{filled.tournaments['running']}/entries", token=filled.tokens["organiser"])
    page.get_by_label("Bot", exact=True).select_option("Fermat")
    page.get_by_role("button", name="Withdraw it…").click()

    expect(page.locator("#confirm-title")).to_have_text("Withdraw Fermat?")
    page.keyboard.press("Escape")

    expect(page.get_by_role("button", name="Withdraw it…")).to_be_focused()


def test_who_has_no_token_sees_how_to_get_the_right(page_at: PageAt, filled: Filled) -> None:
    page = page_at("/organise")
    expect(page.get_by_text("referee admin role")).to_be_visible()
    expect(page.get_by_label("Name of the tournament")).to_be_hidden()

    submit(page, "Sign in", {"Your token": filled.tokens["owner"]})
    expect(page.get_by_label("What do you want to organise?")).to_be_visible()
    expect(page.get_by_label("Name of the tournament")).to_be_visible()


def test_pages_with_what_an_organiser_may_do_can_be_used_by_anybody(page_at: PageAt, filled: Filled) -> None:
    ids = filled.tournaments
    page = page_at("/games", width=360, dark=True, token=filled.tokens["organiser"])
    for path in (f"{ids['running']}", f"{ids['draft']}/organise", f"{ids['swiss']}/matches"):
        page.goto(f"/tournaments/{path}")
        expect(page.locator("[data-for-organiser]").first).to_be_visible()
        axe(page)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
