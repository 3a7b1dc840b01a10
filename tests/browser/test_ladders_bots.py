"""Live ladders, and bots managed by their owners, in a browser."""

import re

from playwright.sync_api import Page, expect

from referee.bots import handshakes
from referee.ladders import members
from referee.ladders.kinds import LadderPlay
from referee.workflows.bots import handshake_results
from tests.browser.conftest import PageAt, axe, look, submit, until
from tests.browser.record import LADDER, PAYLOAD, Filled
from tests.browser.test_watching import catches_up
from tests.database.world import MANIFEST

GONE = "window.harmed === undefined"


def fresh_bot(page_at: PageAt, filled: Filled, name: str) -> tuple[str, Page]:
    """Return another verified bot of the owner of Ada, and its page as the owner sees it."""
    bot = filled.world.bot(filled.accounts["owner"], MANIFEST, name)
    return bot, page_at(f"/bots/{bot}", token=filled.tokens["owner"])


def test_a_ladder_follows_its_results(page_at: PageAt, filled: Filled) -> None:
    page = page_at.clocked(f"/ladders/{filled.ladders[LADDER]}")
    expect(page.locator("[data-live=renewed]")).to_be_visible()
    seated = ("Knuth-Bot", "Mill", "Nim")
    rows = [page.locator(f"tr[data-bot={filled.bots[name]}]") for name in seated]
    games = [int(row.locator(".games").inner_text()) for row in rows]
    page.get_by_label("Bot, version or owner").fill("typed, but not sent")

    filled.begin(bots=seated).finish()

    until(page, lambda: int(rows[0].locator(".games").inner_text()) > games[0])
    assert any("changed" in (row.get_attribute("class") or "") for row in rows)
    assert [int(row.locator(".games").inner_text()) for row in rows] == [number + 1 for number in games]
    catches_up(page, page_at)
    expect(page.get_by_label("Bot, version or owner")).to_have_value("typed, but not sent")


def test_a_ladder_says_when_the_service_does_not_answer_and_is_not_renewed_while_hidden(
    page_at: PageAt, filled: Filled
) -> None:
    page = page_at.clocked(f"/ladders/{filled.ladders[LADDER]}")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    look(page, hidden=True)
    page.clock.run_for(120_000)
    assert asked == []
    look(page, hidden=False)
    until(page, lambda: asked == [page.url])

    page.route(page.url, lambda route: route.fulfill(status=503))
    until(page, page.locator("[data-live=away]").count)
    expect(page.locator("[data-live]")).to_have_text("reconnecting")
    page.unroute(page.url)
    until(page, page.locator("[data-live=renewed]").count)
    page_at.forgive("503")


def test_only_its_owner_is_shown_how_to_look_after_a_bot(page_at: PageAt, filled: Filled) -> None:
    page = page_at("/games", token=filled.tokens["organiser"])
    with page.expect_response(lambda answer: answer.url.endswith(f"/api/v1/bots/{filled.bots['Ada']}")):
        page.goto(f"/bots/{filled.bots['Ada']}")

    assert not page.locator("#own, #health, #faults").locator("visible=true").count()


def test_the_owner_sees_health_and_faults(page_at: PageAt, filled: Filled) -> None:
    page = page_at(f"/bots/{filled.bots['Ada']}", width=360, dark=True, token=filled.tokens["owner"])

    expect(page.get_by_role("img", name=re.compile("Response times, version"))).to_be_visible()
    expect(page.locator("#faults-table")).to_contain_text(PAYLOAD[:40])
    page.locator("summary").evaluate_all("all => all.forEach((one) => one.parentElement.open = true)")
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name=re.compile("^deadline")).click()
    expect(page.get_by_role("button", name=re.compile("^deadline"))).to_have_attribute("aria-pressed", "true")
    page.get_by_role("link", name=re.compile("^Fault \\d")).first.click()

    expect(page.locator("#reply")).to_contain_text("onerror")
    expect(page.get_by_role("img", name=re.compile("waiting for the first byte"))).to_be_visible()
    expect(page.locator("#again")).to_contain_text("REFEREE_BOT_SECRET")
    expect(page.locator("#request")).to_contain_text('"protocol":"2"')
    expect(page.locator("#remedy")).to_contain_text("look at the times of the call")
    axe(page)
    assert page.evaluate(GONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_owner_pauses_renames_retires_and_deletes_a_bot(page_at: PageAt, filled: Filled) -> None:
    _, page = fresh_bot(page_at, filled, "Passing")
    said, state = page.locator("#own-said"), page.locator("[data-state]")

    page.get_by_role("button", name="Pause").click()
    expect(state).to_have_text("paused")
    page.get_by_role("button", name="Resume").click()
    expect(state).to_have_text(re.compile("^certified: .*Pool Nap"))

    page.locator("summary", has_text="Change name").click()
    page.get_by_label("Name", exact=True).fill("Ada")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#edit .error")).to_contain_text("name")
    page.get_by_label("Name", exact=True).fill("Passed")
    page.get_by_role("button", name="Save").click()
    expect(said).to_have_text("Saved.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Passed")

    page.locator("summary", has_text="Retire").click()
    for typed in ("Passing", "Passed"):
        submit(page, "Retire the bot", {"Type the name of the bot to confirm": typed})
        if typed == "Passing":
            expect(page.locator("#retire .error")).to_contain_text("Type Passed")
    expect(state).to_have_text("retired")
    expect(page.locator("#check")).to_be_disabled()

    page.locator("summary", has_text="Delete the bot").click()
    submit(page, "Delete the bot", {"Type the name of the bot to delete it": "Passed"})
    expect(page.locator("main")).to_contain_text("The owner deleted this bot")
    expect(page.locator("#own")).to_have_count(0)
    page_at.forgive("409")


def test_the_owner_says_what_the_bot_is(page_at: PageAt, filled: Filled) -> None:
    _, page = fresh_bot(page_at, filled, "Telling")
    form, said = page.locator("#describe"), page.locator("#own-said")
    page.locator("summary", has_text="Describe your bot").click()

    submit(form, "Save", {"About the bot": "Plays <b>slowly</b>", "Link": "javascript:alert(1)"})
    expect(form.locator(".error")).to_contain_text("Must begin with https://")
    submit(form, "Save", {"Link": "https://example.org/telling", "Programming language": "Rust"})
    expect(said).to_contain_text("Saved.")
    expect(page.locator("[data-summary]")).to_have_text("Plays <b>slowly</b>")

    page.reload()
    link = page.get_by_role("link", name="https://example.org/telling")
    expect(link).to_have_attribute("rel", "nofollow noopener ugc")
    page.locator("summary", has_text="Describe your bot").click()
    submit(form, "Save", {"Link": ""})
    expect(said).to_contain_text("Saved.")
    page.reload()
    expect(link).to_have_count(0)
    expect(page.locator("dl.facts").first).to_contain_text("Rust")
    page_at.forgive("422")


def test_the_owner_switches_official_ladders(page_at: PageAt, filled: Filled) -> None:
    bot, page = fresh_bot(page_at, filled, "Playing")
    form, said = page.locator("#play"), page.locator("#own-said")

    page.locator("summary", has_text="Official ladders: on").click()
    form.get_by_label("Saint Poker").uncheck()
    submit(form, "Save", {"Most matches a day": "0"})
    expect(page.locator("#play .error")).to_be_visible()
    submit(form, "Save", {"Most matches a day": "12"})
    expect(said).to_have_text("Saved.")
    page.reload()
    page.locator("summary", has_text="Official ladders: on").click()
    expect(form.get_by_label("Saint Poker")).not_to_be_checked()
    expect(form.get_by_label("Pool Nap")).to_be_checked()
    expect(form.get_by_label("Most matches a day")).to_have_value("12")

    form.get_by_label("Play on official ladders").uncheck()
    form.get_by_role("button", name="Save").click()
    expect(page.locator("summary", has_text="Official ladders: off")).to_be_visible()
    player = filled.ask(members.get_player, bot)
    assert (player.play, player.daily_maximum) == (LadderPlay.OFF, 12)
    page_at.forgive("422")


def test_a_new_secret_is_shown_once_and_a_check_is_followed(page_at: PageAt, filled: Filled) -> None:
    _, page = fresh_bot(page_at, filled, "Secretive")

    page.locator("summary", has_text="new secret").click()
    page.get_by_role("button", name="Create a new secret").click()
    assert page.locator("#secret").inner_text() == ""
    page.get_by_role("button", name="Really create a new one?").click()
    expect(page.locator("#secret code")).to_have_text(re.compile("^whsec_"))
    expect(page.locator("#own [data-field=secret]")).to_contain_text("two")

    page.get_by_role("button", name="Check it now").click()
    expect(page.locator("#own-check")).to_contain_text("Handshake in progress")
    with filled.database.write() as session:
        (handshake,) = handshakes.claim_due_handshakes(session)
        challenge = {"ok": False, "code": "wrong_proof", "detail": PAYLOAD, "reply": PAYLOAD, "total_ms": 3}
        handshake_results.finish_handshake(
            session, handshake.bot_id, handshake.epoch, {"ok": False, "challenge": challenge, "manifest": None}, None
        )
    expect(page.locator("#own-check")).to_contain_text("wrong_proof")
    expect(page.locator("#own-check")).to_contain_text("does not know the secret")
    page.reload()
    expect(page.locator("#own")).to_be_visible()
    assert page.locator("#secret").inner_text() == ""
    assert page.evaluate(GONE)
