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
from referee.db.engine import Database
from referee.protocol.signing import bot_secret
from tests.browser.conftest import PATIENCE_MS, Axe, PageAt
from tests.browser.record import Filled
from tests.browser.test_site import OBSERVE, SETTLED, SHIFT
from tests.surroundings import MASTER_KEY

expect.set_options(timeout=PATIENCE_MS)


def opened_account(database: Database, name: str, bot: str) -> tuple[str, str, str]:
    """Return the id and the token of a new account, and the id of its bot."""
    with database.write() as session:
        account = accounts.create_account(session, name)
        bot_id = bots.register(session, account.id, bot, "https://bot.example.org/").id
        return account.id, accounts.create_token(session, account.id, "first")[1], bot_id


def test_an_account_is_renamed_downloaded_and_deleted(page_at: PageAt, filled: Filled, axe: Axe) -> None:
    account_id, token, bot_id = opened_account(filled.database, "Lea Leaving", "Leaf")
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
    axe(page)
    page.get_by_label("Type the name of the account").fill("Lea Leaving")
    page.get_by_role("button", name="Delete the account").click()
    expect(page.locator("#delete-account .error")).to_contain_text("Type Lea Left")
    page.get_by_label("Type the name of the account").fill("Lea Left")
    page.get_by_role("button", name="Delete the account").click()
    expect(page.locator("#signed-in > .notice")).to_contain_text(f"It is shown as deleted account {account_id[-8:]}.")

    assert [row["name"] for row in exported["former_names"]] == ["Lea Leaving"]
    assert page.evaluate("sessionStorage.getItem('referee.token')") is None
    owner = page_at(f"/owners/{account_id}")
    expect(owner.locator("main")).to_contain_text("This account was deleted")
    expect(owner.locator("main")).not_to_contain_text("Lea")
    expect(page_at(f"/bots/{bot_id}").locator("h1")).to_have_text(f"deleted bot {bot_id[-8:]}")


def test_a_lost_token_is_replaced_with_the_secret_of_a_bot_and_with_the_recovery_code(
    page_at: PageAt, filled: Filled, axe: Axe
) -> None:
    account_id, lost, bot_id = opened_account(filled.database, "Rae Recovering", "Raeven")
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
    page.get_by_label("Name of the bot").fill("Raeven")
    page.get_by_label("Secret of the bot").fill(secret)
    page.get_by_role("button", name="Get a new token").click()
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
    axe(page)
    page.get_by_label("Recovery code", exact=True).fill(code)
    page.get_by_role("button", name="Get a new token").click()
    expect(page.locator("#recovered code").last).to_have_text(re.compile("^rcv_"))
    page.get_by_role("button", name="Make a new recovery code").click()
    expect(page.locator("#fresh-code code")).to_have_text(re.compile("^rcv_"))

    assert [text for text in sent if secret[6:] in text] == []
    with filled.database.read() as session:
        assert accounts.find_token(session, lost) is None
    page_at.troubles[:] = [one for one in page_at.troubles if "status of 422" not in one]


def test_a_retired_bot_is_deleted_by_its_owner(page_at: PageAt, filled: Filled) -> None:
    _, token, bot_id = opened_account(filled.database, "Ina Deleting", "Inkling")
    page = page_at(f"/bots/{bot_id}", token=token)
    page.locator("summary", has_text="Retire").click()
    page.get_by_label("Type the name of the bot to confirm").fill("Inkling")
    page.get_by_role("button", name="Retire the bot").click()
    expect(page.locator("[data-state]")).to_have_text("retired")

    page.locator("summary", has_text="Delete the bot").click()
    page.get_by_label("Type the name of the bot to delete it").fill("Inkling")
    page.get_by_role("button", name="Delete the bot").click()

    expect(page.locator("main")).to_contain_text("The owner deleted this bot")
    expect(page.locator("#own")).to_have_count(0)


def test_an_operator_deletes_an_account_with_its_typed_name(page_at: PageAt, filled: Filled) -> None:
    account_id, _, _ = opened_account(filled.database, "Gus Going", "Gust")
    with filled.database.write() as session:
        operator = accounts.create_account(session, "Opal Operator", "admin")
        _, token = accounts.create_token(session, operator.id, "first")
    page = page_at("/operator", token=token)
    page.get_by_label("Part of the name").fill("gus going")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("button", name="Delete Gus Going and its bots for good?").click()
    page.get_by_label("Type the name to confirm").fill("Gus")
    page.get_by_label("Reason").fill("At the request of the owner")
    page.get_by_role("button", name="Yes, do it").click()
    expect(page.locator("[data-change-refusal]")).to_contain_text("present name")

    page.get_by_label("Type the name to confirm").fill("Gus Going")
    page.get_by_role("button", name="Yes, do it").click()

    expect(page.locator("[data-acts] tr").first).to_contain_text("account: deleted")
    page.get_by_label("Part of the name").fill(account_id[-8:])
    page.get_by_role("button", name="Find").click()
    expect(page.locator("[data-accounts] tr").first).to_contain_text(re.compile("deleted account .*deleted "))
    page_at.troubles[:] = [one for one in page_at.troubles if "status of 422" not in one]


def test_E32_a_browser_is_kept_signed_in_in_all_tabs_until_it_signs_out(
    page_at: PageAt, filled: Filled, axe: Axe
) -> None:
    account_id, token, bot_id = opened_account(filled.database, "Kim Keeping", "Keeper")
    context = page_at.context()
    first, second = context.new_page(), context.new_page()
    first.goto("/account")
    first.get_by_label("Token", exact=True).fill(token)
    first.get_by_label("Keep me signed in on this device").check()
    axe(first)
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
    with filled.database.read() as session:
        made = accounts.list_tokens(session, account_id)
    working = sorted((one.name == "first", one.revoked_at is None) for one in made)
    assert working == [(False, False), (False, False), (True, True)]
    page_at.troubles[:] = [one for one in page_at.troubles if "status of 401" not in one]  # a question on its way


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
    assert page.evaluate("seen.shift") < SHIFT
