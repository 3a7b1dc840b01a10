"""What owners do with their accounts and bots as a whole: rename, download, delete; and what operators do."""

import json
import re
from pathlib import Path

from playwright.sync_api import expect

from referee.accounts import accounts
from referee.bots import bots
from referee.db.engine import Database
from tests.browser.conftest import PATIENCE_MS, Axe, PageAt
from tests.browser.record import Filled

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
