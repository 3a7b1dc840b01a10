"""The page of a friendly in progress, for owners of its bots and for others."""

import re

from playwright.sync_api import expect

from referee.bots import bots
from referee.matches import matches
from tests.browser.conftest import PageAt, axe
from tests.browser.record import Filled


def test_E21_the_owner_of_a_bot_in_a_friendly_cancels_it_on_its_page(page_at: PageAt, filled: Filled) -> None:
    live = filled.begin("saint-poker", bots=("Babbage", "Ada"), rated=False)
    live.go_on(1)
    others = filled.begin("saint-poker", bots=("Babbage", "Caissa"), rated=False)

    page = page_at("/games", token=filled.tokens["owner"])
    button = page.get_by_role("button", name="Cancel this friendly")
    with page.expect_response(lambda answer: answer.url.endswith("/api/v1/accounts/me")):
        page.goto(f"/matches/{others.id}")
    assert button.count() == 0
    page.goto(f"/matches/{live.id}")
    expect(button).to_be_visible()
    button.click()
    page.get_by_role("button", name="Really cancel it?").click()

    expect(page.get_by_role("status").filter(has_text="The friendly is cancelled.")).to_be_visible()
    page.goto(f"{page_at.url}/matches/{live.id}")
    expect(page.locator(".about")).to_contain_text("cancelled")
    assert button.count() == 0


def test_E21_a_bot_is_challenged_on_request_and_its_owner_accepts(page_at: PageAt, filled: Filled) -> None:
    rival = filled.ask(bots.get_bot, filled.bots["Babbage"]).owner_id
    page = page_at(f"/bots/{filled.bots['Babbage']}", token=filled.create_token(rival))
    page.locator("summary", has_text="Friendlies:").click()
    page.locator("#challengers").select_option("on_request")
    page.locator("#friendly-rules button").click()
    expect(page.locator("[data-field=friendlies]")).to_have_text("Its owner decides about each friendly.")

    other = page_at(f"/bots/{filled.bots['Babbage']}", token=filled.tokens["owner"])
    other.locator("#challenge summary").first.click()
    expect(other.locator("#challenge-why")).to_contain_text("this sends a request")
    other.locator("#challenge-game").select_option("saint-poker")
    other.locator("summary", has_text="Options of the game").click()
    other.get_by_role("spinbutton", name="Rounds").fill("3")
    axe(other)
    other.get_by_role("button", name="Send a request").click()
    expect(other.locator("#challenge-said")).to_contain_text("The request is sent.")

    page.goto(f"{page_at.url}/account")
    account = page.locator(".top nav a[href='/account']")
    expect(account).to_have_text(re.compile(r"^Account \(\d+ unread\)$"))
    expect(page.locator("#inbox-list")).to_contain_text("asks for a friendly of ")
    page.get_by_role("button", name="Mark all as read").click()
    expect(account).to_have_text("Account")
    expect(page.get_by_role("button", name="Mark all as read")).to_be_hidden()
    page.get_by_role("button", name="Accept", exact=True).click()
    arranged = page.locator("#request-list a", has_text="accepted")
    expect(arranged).to_be_visible()
    match_id = str(arranged.get_attribute("href")).split("/")[-1]
    assert filled.ask(matches.get_match, match_id).options["rounds"] == 3
    page.locator("#challenger-id").fill(filled.accounts["owner"])
    page.locator("#challenger-verdict").select_option("blocked")
    page.locator("#new-challenger button").click()
    expect(page.locator("#challenger-list")).to_contain_text("blocked")
    axe(page)
    other.reload()
    other.locator("#challenge summary").first.click()
    expect(other.locator("#challenge-why")).to_contain_text("does not play friendlies with your account.")
    expect(other.locator("#challenge-form")).to_be_hidden()


def test_a_bot_is_challenged_by_other_accounts_only(page_at: PageAt, filled: Filled) -> None:
    own = page_at(f"/bots/{filled.bots['Ada']}", token=filled.tokens["owner"])
    own.locator("#challenge summary").first.click()
    expect(own.locator("#challenge-why")).to_have_text("This is your own bot: only other accounts can challenge it.")

    stranger = page_at(f"/bots/{filled.bots['Ada']}")
    stranger.locator("#challenge summary").first.click()
    expect(stranger.locator("#challenge-why")).to_have_text("Sign in to play a friendly against this bot.")
    expect(stranger.locator("#challenge-form")).to_be_hidden()
