"""What owners do with their accounts and bots as a whole: rename, download, delete; and what operators do."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect
from sqlalchemy import update

from referee.accounts import accounts
from referee.bots import bots
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.protocol.signing import bot_secret
from tests.browser.conftest import PageAt, axe, submit
from tests.browser.record import Filled
from tests.browser.test_site import OBSERVE, SETTLED, SHIFT
from tests.surroundings import MASTER_KEY


def opened_account(filled: Filled, name: str, bot: str) -> tuple[str, str, str]:
    """Return the id and the token of a new account, and the id of its bot."""
    account_id, token = filled.sign_up(name)
    with filled.database.write() as session:
        return account_id, token, bots.register(session, account_id, bot, "https://bot.example.org/").id


def test_an_account_is_renamed_downloaded_and_deleted(page_at: PageAt, filled: Filled) -> None:
    account_id, token, bot_id = opened_account(filled, "Lea Leaving", "Leaf")
    page = page_at("/account", token=token)

    page.locator("summary", has_text="Change the name").click()
    form = page.locator("#rename-account")
    form.get_by_role("textbox").fill("Lea Left")
    form.get_by_role("button").click()
    expect(page.locator("#self-said")).to_have_text("Saved.")
    expect(page.locator(".who")).to_contain_text("Lea Left")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download my data").click()
    exported = json.loads(Path(download.value.path()).read_text())
    page.locator("summary", has_text="Delete the account").click()
    submit(page, "Delete the account", {"Type the name of the account": "Lea Leaving"})
    expect(page.locator("#delete-account .error")).to_contain_text("Type Lea Left")
    submit(page, "Delete the account", {"Type the name of the account": "Lea Left"})
    expect(page.locator("#signed-in > .notice")).to_contain_text(f"It is shown as deleted account {account_id[-8:]}.")

    assert [row["name"] for row in exported["former_names"]] == ["Lea Leaving"]
    assert page.evaluate("sessionStorage.getItem('referee.token')") is None
    owner = page_at(f"/owners/{account_id}")
    expect(owner.locator("main")).to_contain_text("This account was deleted")
    expect(owner.locator("main")).not_to_contain_text("Lea")
    expect(page_at(f"/bots/{bot_id}").locator("h1")).to_have_text(f"deleted bot {bot_id[-8:]}")


def test_a_lost_token_is_replaced_with_the_secret_of_a_bot_and_with_the_recovery_code(
    page_at: PageAt, filled: Filled
) -> None:
    account_id, lost, bot_id = opened_account(filled, "Rae Recovering", "Raeven")
    with filled.database.write() as session:
        (token,) = accounts.list_tokens(session, account_id)
        proven = {"status": BotState.VERIFIED, "verified_url": Bot.url, "recovery_token_id": token.id}
        session.execute(update(Bot).where(Bot.id == bot_id).values(proven))
    secret = bot_secret(MASTER_KEY, bot_id, 1)
    sent: list[str] = []
    page = page_at("/account")
    page.on("request", lambda request: sent.append(request.post_data or ""))

    page.get_by_text("Lost your token?").click()
    page.get_by_label("Name or id of your account").fill("Rae Recovering")
    page.get_by_label("The secret of one of my bots").check()
    submit(page, "Get a new token", {"Name of the bot": "Raeven", "Secret of the bot": secret})
    expect(page.locator("#recovered code").first).to_have_text(re.compile("^ref_"))
    code = page.locator("#recovered code").last.inner_text()
    expect(page.locator("#inbox-list")).to_contain_text(f"recovered with the secret of your bot {bot_id}")
    axe(page)
    page.get_by_role("button", name="Sign out").click()

    page.get_by_text("Lost your token?").click()
    page.get_by_label("Name or id of your account").fill("Rae Recovering")
    page.get_by_label("Recovery code", exact=True).fill(code.swapcase())
    page.get_by_role("button", name="Get a new token").click()
    expect(page.locator("#recover .error")).to_contain_text("typing errors")
    page.get_by_label("Recovery code", exact=True).fill(code)
    page.get_by_role("button", name="Get a new token").click()
    expect(page.locator("#recovered code").last).to_have_text(re.compile("^rcv_"))
    page.get_by_role("button", name="Make a new recovery code").click()
    expect(page.locator("#fresh-code code")).to_have_text(re.compile("^rcv_"))

    assert [text for text in sent if secret[6:] in text] == []
    assert filled.ask(accounts.find_token, lost) is None
    page_at.forgive("status of 422")


def test_an_operator_deletes_an_account_with_its_typed_name(page_at: PageAt, filled: Filled) -> None:
    account_id, _, _ = opened_account(filled, "Gus Going", "Gust")
    page = page_at("/operator", token=filled.tokens["admin"])
    submit(page, "Find", {"Part of the name": "gus going"})
    page.get_by_role("button", name="Delete Gus Going and its bots for good?").click()
    submit(page, "Yes, do it", {"Type the name to confirm": "Gus", "Reason": "At the request of the owner"})
    expect(page.locator("[data-change-refusal]")).to_contain_text("present name")

    submit(page, "Yes, do it", {"Type the name to confirm": "Gus Going"})
    expect(page.locator("[data-accounts] tr")).to_have_count(0)

    expect(page.locator("[data-acts] tr").first).to_contain_text("account: deleted")
    submit(page, "Find", {"Part of the name": account_id[-8:]})
    expect(page.locator("[data-accounts] tr").first).to_contain_text(re.compile("deleted account .*deleted "))
    page_at.forgive("status of 422")


def test_E32_a_browser_is_kept_signed_in_in_all_tabs_until_it_signs_out(page_at: PageAt, filled: Filled) -> None:
    account_id, token, bot_id = opened_account(filled, "Kim Keeping", "Keeper")
    context = page_at.context()
    first, second = context.new_page(), context.new_page()
    first.goto("/account")
    first.get_by_label("Token", exact=True).fill(token)
    first.get_by_label("Keep me signed in on this device").check()
    first.get_by_role("button", name="Sign in").click()
    expect(first.locator("#token-list")).to_contain_text(re.compile(r"Chrome on \w+ 20\d\d-"))
    expect(first.locator("#limited")).to_be_visible()
    assert first.evaluate("localStorage.getItem('referee.token')") not in (None, token)
    assert first.evaluate("sessionStorage.length") == 0
    first.close()

    second.goto(f"/bots/{bot_id}")
    expect(second.get_by_role("heading", name="Manage your bot")).to_be_visible()
    third = context.new_page()
    third.goto("/account")
    expect(third.locator("#limited")).to_be_visible()
    expect(third.get_by_role("button", name="Create token")).to_be_hidden()
    axe(third)
    third.get_by_role("button", name="Enter your token").click()
    third.get_by_label("Token", exact=True).fill(token)
    third.get_by_role("button", name="Sign in").click()
    expect(third.get_by_role("button", name="Create token")).to_be_visible()
    third.evaluate("sessionStorage.clear()")
    third.reload()
    third.get_by_role("button", name="Enter your token").click()
    third.get_by_label("Token", exact=True).fill(token)
    third.get_by_label("Keep me signed in on this device").check()
    third.get_by_role("button", name="Sign in").click()
    expect(third.get_by_label("Token", exact=True)).to_be_hidden()
    expect(second.get_by_role("heading", name="Manage your bot")).to_be_visible()
    third.get_by_role("button", name="Sign out").click()

    expect(third.get_by_label("Token", exact=True)).to_be_visible()
    expect(second.get_by_role("heading", name="Manage your bot")).to_be_hidden()
    assert [page.evaluate("localStorage.length + sessionStorage.length") for page in (second, third)] == [0, 0]
    made = filled.ask(accounts.list_tokens, account_id)
    working = sorted((one.name == "first", one.revoked_at is None) for one in made)
    assert working == [(False, False), (False, False), (True, True)]
    page_at.forgive("status of 401")  # a question on its way


@pytest.mark.parametrize(
    ("path", "last", "width"), [("/account", "#token-list table", 390), ("/tournaments/{}/organise", "#terms", 1280)]
)
def test_a_signed_in_owner_is_not_asked_to_sign_in_while_the_token_is_looked_at(
    page_at: PageAt, filled: Filled, path: str, last: str, width: int
) -> None:
    page = page_at.context(width=width, token=filled.tokens["organiser"]).new_page()
    page.add_init_script(OBSERVE)
    held: list[Route] = []
    page.route("**/api/v1/accounts/me", lambda route: held.append(route))

    page.goto(path.format(filled.tournaments["draft"]))
    expect(page.get_by_text("Signing in …")).to_be_visible()
    asked = page.locator("input[type=password]:visible").count()
    while held:
        held.pop().continue_()
    page.unroute("**/api/v1/accounts/me")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.get_by_text("Signing in …")).to_be_hidden()
    expect(page.locator(last)).to_be_visible()
    page.evaluate(SETTLED)

    assert asked == 0
    assert page.evaluate("shifts") < SHIFT
