"""The pages of organisers in a browser: what a tournament says, who may enter it, requests of owners."""

import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from referee.accounts import accounts
from referee.accounts.entry_consent import EntryConsent
from referee.db.engine import current_time
from referee.errors import NotFound
from referee.tournaments import entries, tournaments
from referee.tournaments.tables import Invitation
from tests.browser.conftest import PageAt, axe, confirm, submit
from tests.browser.record import Filled


def test_an_owner_asks_to_enter_and_the_organiser_decides(page_at: PageAt, filled: Filled) -> None:
    made = filled.arrange("With approval", approval=True)
    page = page_at(f"/tournaments/{made}/entries", token=filled.tokens["owner"])
    page.get_by_label("Your bot").select_option(filled.bots["Ada"])
    page.get_by_role("button", name="Ask to enter").click()
    expect(page.locator("[data-own-requests]")).to_contain_text("waits for the organiser")
    page_at.close()

    page = page_at(f"/tournaments/{made}/organise", token=filled.tokens["organiser"])
    page.get_by_role("button", name="Refuse").first.wait_for()
    axe(page)
    page.get_by_role("button", name="Approve").first.click()
    expect(page.locator("[data-requests] [data-none]")).to_be_visible()

    assert filled.ask(entries.count_by_state, made).entered == 1


def test_the_organiser_sets_a_code_and_says_more_about_the_tournament(page_at: PageAt, filled: Filled) -> None:
    made = filled.arrange("With a code")
    page = page_at(f"/tournaments/{made}/organise", token=filled.tokens["organiser"])
    submit(page, "Save who may enter", {"Join code": "spring 2030"})
    expect(page.locator("[data-admission] [data-done]")).to_have_text("Who may enter is saved.")
    expect(page.get_by_label("Join code")).to_have_value("spring2030")

    for prizes in ("A mug", "Two mugs"):  # the second time with the ETag of the first answer
        submit(
            page,
            "Save the terms",
            {"Prizes": prizes, "Description": "# Welcome\n\nBring *one* bot. <img src=x onerror=alert(1)>"},
        )
        expect(page.locator("#terms [data-done]")).to_have_text("The changes are saved.")
        page.get_by_label("Contact").fill("Ada")

    shown = page_at(f"/tournaments/{made}", width=360)
    expect(shown.locator(".announcement")).to_contain_text("Two mugs")
    expect(shown.locator(".announcement h3")).to_have_text("Welcome")
    expect(shown.locator(".announcement img")).to_have_count(0)
    axe(shown)
    entering = page_at(f"/tournaments/{made}/entries", token=filled.tokens["owner"])
    expect(entering.get_by_label("Join code")).to_be_visible()


def test_a_new_tournament_asks_for_name_and_game_and_shows_more_terms_where_one_is_wrong(
    page_at: PageAt, filled: Filled
) -> None:
    page = page_at("/matches", token=filled.tokens["organiser"], width=390)
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Organise").click()
    form = page.locator("#terms")
    expect(form.get_by_label("Name of the tournament")).to_be_visible()
    assert form.locator("input:visible, select:visible, textarea:visible").evaluate_all(
        "(fields) => fields.map(({ name }) => name)"
    ) == ["name", "game"]

    form.get_by_label("Name of the tournament").fill("With a mistake")
    more = form.locator("summary", has_text="More terms")
    more.click()
    form.get_by_label("Max entries").fill("1")
    axe(page)
    more.click()
    page.get_by_role("button", name="Create draft").click()
    expect(form.locator("[data-summary]")).to_be_focused()
    expect(form.locator("#max_entries-error")).to_be_visible()
    page_at.forgive("422")  # the console reports the refusal


def test_a_preset_fills_the_form_and_a_draft_is_deleted(page_at: PageAt, filled: Filled) -> None:
    page = page_at("/organise", token=filled.tokens["organiser"])
    submit(page, "Use this preset, Serious Swiss", {"Name of the tournament": "By preset"})
    page.get_by_role("button", name="Use this preset, Club night").click()
    expect(page.locator("#format_options-rounds")).to_have_value("5")
    expect(page.get_by_label("Rated", exact=True)).not_to_be_checked()
    page.get_by_role("button", name="Create draft").click()
    page.wait_for_url("**/tournaments/trn_*/organise")
    made = page.url.split("/")[-2]
    draft = filled.ask(tournaments.get_tournament, made)
    terms = (draft.format, draft.format_options, draft.rated, draft.anonymous, draft.late_entry, draft.substitute)
    assert terms == ("swiss", {"rounds": 5}, False, False, True, "house:3")

    confirm(page, "Delete the draft…")
    page.wait_for_url(lambda url: urlsplit(url).path == "/organise")
    with pytest.raises(NotFound):
        filled.ask(tournaments.get_tournament, made)
    page_at.forgive(f"tournament={made}")  # what the page still asked about the draft


def test_an_open_tournament_with_entries_shows_what_can_still_be_changed(page_at: PageAt, filled: Filled) -> None:
    made = filled.arrange("Almost fixed", ["Ada"])
    page = page_at(f"/tournaments/{made}/organise", token=filled.tokens["organiser"])
    expect(page.get_by_label("Max entries")).to_be_visible()
    assert page.get_by_label("Format").count() == 0

    submit(page, "Save the terms", {"Name of the tournament": "Renamed", "Max entries": "12"})
    expect(page.locator("#terms [data-done]")).to_have_text("The changes are saved.")

    changed = filled.ask(tournaments.get_tournament, made)
    assert (changed.name, changed.max_entries, changed.starts_at) == ("Renamed", 12, None)


def test_an_owner_asks_for_the_role_and_the_operator_gives_it(page_at: PageAt, filled: Filled) -> None:
    asking, token = filled.sign_up("Asking Anna")
    page = page_at("/organise", token=token)
    expect(page.get_by_label("Rated", exact=True)).not_to_be_checked()
    page.get_by_label("What do you want to organise?").fill("A cup for my class")
    page.get_by_role("button", name="Ask for the role").click()
    expect(page.locator("[data-for-owner] [data-done]")).to_have_text("Your request waits for the operator.")
    page_at.close()

    page = page_at("/operator", token=filled.tokens["admin"])
    expect(page.locator("[data-part=database]")).to_have_text("can be read and written")
    expect(page.locator("[data-part=audit]")).to_have_text("has not run yet")
    expect(page.locator("[data-disk-summary]")).to_contain_text("Nothing has been measured yet")
    expect(page.locator("[data-kept]")).to_contain_text("ladder logs90 days")
    page.get_by_role("button", name="Make Asking Anna an organiser?").first.click()
    submit(page, "Yes, do it", {"Reason": "A teacher"})
    expect(page.locator("[data-acts] tr").first).to_contain_text("account: role changed")
    expect(page.locator("[data-acts] tr").first).to_contain_text("A teacher")
    axe(page)

    submit(page, "Find", {"Part of the name": "asking"})
    expect(page.locator("[data-accounts] tr")).to_have_count(1)
    confirm(page, "Suspend Asking Anna?", reason="Spam")
    expect(page.locator("[data-accounts] tr").first).to_contain_text("suspended")
    changed = filled.ask(accounts.get_account, asking)
    assert (changed.role, changed.suspension_reason) == ("organiser", "Spam")


def test_the_operator_creates_the_accounts_of_a_class(page_at: PageAt, filled: Filled) -> None:
    page = page_at("/operator", token=filled.tokens["admin"])
    expect(page.locator("[data-part=egress]")).to_contain_text("private addresses for development")
    names = page.get_by_label("Names, one on each line")
    names.fill("# class\nNina Nine\n\nX\nnina nine\n")
    page.get_by_role("button", name="Create accounts").click()
    refusals = page.locator("[data-class-refusal] li")
    expect(refusals).to_have_count(2)
    expect(refusals.first).to_contain_text("Line 4, “X”")
    expect(refusals.last).to_contain_text("Line 5, “nina nine”")
    page_at.forgive("422")  # the console reports the refusal

    names.fill("Nina Nine\nMax Ten")
    page.get_by_role("button", name="Create accounts").click()
    rows = page.locator("[data-members] tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("created")
    expect(page.locator("[data-acts] tr").first).to_contain_text("account: created")
    expect(refusals).to_have_count(0)
    axe(page)
    token = rows.first.locator("code").inner_text()
    found = filled.ask(accounts.find_token, token)
    assert found is not None
    assert (found[1].name, found[1].role) == ("Nina Nine", "owner")

    page.get_by_role("button", name="Create accounts").click()
    expect(rows.first).to_contain_text("exists")
    expect(rows.first).to_contain_text("none")
    page.get_by_label("New tokens for accounts that exist").check()
    page.get_by_role("button", name="Create accounts").click()
    expect(rows.first).to_contain_text("exists, new token")
    assert filled.ask(accounts.find_token, token) is None


def test_an_organiser_finds_bots_by_name_and_enters_all_that_may_be_entered(page_at: PageAt, filled: Filled) -> None:
    made = filled.arrange("All of them")
    filled.consent(EntryConsent.ASK)  # others may change it
    filled.consent(EntryConsent.EVERYBODY, "Babbage")
    filled.consent(EntryConsent.NOBODY, "Caissa")
    page = page_at(f"/tournaments/{made}/entries", token=filled.tokens["organiser"], width=390)
    search = page.get_by_label("Bots by name or owner")
    expect(search).to_be_visible()
    expect(page.get_by_label("Your bot")).to_be_hidden()

    search.press_sequentially("babb")
    expect(page.locator("[data-found] label")).to_have_text(
        re.compile(r"^ Babbage by Account \d+ x, (no certificate|cert)")
    )
    search.press("Enter")  # which neither submits nor loses anything
    search.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator("[data-count]")).to_have_text("1 found; 1 chosen.")

    confirm(page, "Enter all that may be entered…")
    outcomes = page.locator("[data-outcomes] li")
    expect(outcomes.filter(has_text="Babbage")).to_have_text("Babbage: entered")
    expect(outcomes.filter(has_text="Caissa")).to_contain_text("Caissa: not entered. The owner of 'Caissa' lets no ")
    expect(outcomes.filter(has_text="Eliza")).to_have_text("Eliza: its owner is asked")
    expect(page.locator("main table").get_by_role("link", name="Babbage")).to_be_visible()
    expect(page.locator("[data-found]")).not_to_contain_text("Babbage")
    axe(page)
    page_at.forgive("status of 4")  # the refusals
    assert filled.ask(entries.count_by_state, made).entered == 1
    filled.consent(EntryConsent.ASK)


def test_an_owner_decides_about_what_organisers_ask(page_at: PageAt, filled: Filled) -> None:
    made = filled.arrange("By invitation")
    filled.consent(EntryConsent.ASK, "Ada")  # others may change it
    with filled.database.write() as session:
        old = current_time(session) - timedelta(days=2)
        session.execute(update(Invitation).values(created_at=old))  # so that they count towards no limit of a day
    organise = f"/tournaments/{made}/organise"
    page = page_at(organise, token=filled.tokens["organiser"])
    page.get_by_label("Bots by name or owner").fill("ada")
    page.locator("[data-found]").get_by_role("checkbox", name="Ada by").check()
    page.get_by_role("button", name="Enter the chosen bots").click()
    expect(page.locator("[data-outcomes]")).to_have_text("Ada: its owner is asked")
    waiting = page.locator("[data-invitations] li")
    expect(waiting).to_contain_text(["Ada"])
    page.get_by_label("Invite a co-organiser").fill(filled.accounts["owner"])
    page.get_by_role("button", name="Invite", exact=True).click()
    expect(waiting).to_have_count(2)
    page_at.close()

    page = page_at("/account", token=filled.tokens["owner"])
    expect(page.locator("#signed-in")).to_be_visible()
    invited = page.locator("#invitation-list > li", has_text="By invitation")
    expect(invited).to_have_count(2)
    expect(invited.filter(has_text="asks you to run the tournament")).to_contain_text("you take it over")
    axe(page)
    for left in (1, 0):
        invited.first.get_by_role("button", name="Accept").click()
        expect(invited).to_have_count(left)
    page.get_by_label("May organisers enter your bots in tournaments?").select_option("nobody")
    page.locator("#entry-consent").get_by_role("button", name="Save").click()
    expect(page.locator("#invitation-said")).to_have_text("Saved.")
    confirm(page, "Withdraw Ada from By invitation…")
    expect(page.locator("#tournament-list")).not_to_contain_text("By invitation")

    page.goto(f"{page_at.url}{organise}")
    confirm(page, "Leave…")
    expect(page.locator("[data-not-yours]")).to_be_visible()
    page_at.forgive("409")
    assert filled.ask(entries.count_by_state, made).withdrawn == 1
    filled.consent(EntryConsent.ASK, "Ada")
