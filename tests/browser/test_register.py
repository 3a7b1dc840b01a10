"""Registering a bot and managing an account in a browser."""

import re

from playwright.sync_api import Page, expect

from referee.accounts import accounts
from referee.bots import checks, handshakes, house_bots
from referee.bots.checks import CheckOutcome
from referee.conformance.report import ConformanceReport, Finding
from referee.conformance.storage import report_to_json
from referee.matches import matches
from referee.protocol.messages import Manifest
from referee.workflows.bots import check_claims, handshake_results
from tests.browser.conftest import PageAt, submit
from tests.browser.record import Filled
from tests.database.world import manifest_of


def crash(rule: str) -> Finding:
    cause, advice = "Your bot closed the connection at POST /decide", "Your bot probably crashed."
    return Finding(rule, "fail", "an answer", "none", fault="unreachable", advice=advice, cause=cause, curl="curl -i")


DENIED = "throw new DOMException('denied', 'SecurityError')"
FAILED = {
    "ok": False,
    "challenge": {"ok": False, "code": "wrong_proof", "detail": "another proof", "reply": "<b>no</b>", "total_ms": 3},
}
PASSED = {
    "ok": True,
    "games": ["saint-poker"],
    "unknown_games": ["chess"],
    "challenge": {"ok": True, "total_ms": 3},
    "manifest": {"ok": True, "total_ms": 2},
}
CRASHED = ConformanceReport(
    "http://127.0.0.1:9999", "2", "0.2.0", signed=True, findings=[crash("decision"), crash("stays_up")]
)


def answer_handshake(filled: Filled, page: Page, report: dict[str, object], manifest: Manifest | None) -> None:
    """Record this result of the bot's handshake, as a runner does."""
    expect(page.locator("#said")).to_contain_text("check is in progress")
    with filled.database.write() as session:
        for handshake in handshakes.claim_due_handshakes(session, 100):
            handshake_results.finish_handshake(session, handshake.bot_id, handshake.epoch, report, manifest)


def register(page: Page, **values: str) -> None:
    for name, value in values.items():
        page.locator(f"#{name}").fill(value)
    page.get_by_role("button", name="Register the bot").click()


def test_a_bot_is_entered_checked_and_plays(page_at: PageAt, filled: Filled) -> None:
    with filled.database.write() as session:
        house_bots.get_or_create_house_bots(session)
    page = page_at("/register")

    page.get_by_role("button", name="Register the bot").click()
    for field in ("account", "name", "url"):
        expect(page.locator(f"#{field}-error")).to_have_text("This field is required.")
    expect(page.locator("#name")).to_be_focused()
    expect(page.locator("#only-account")).to_be_hidden()

    register(page, account="Grace of the tests", name="x", url="http://127.0.0.1:9999")
    expect(page.locator("#name-error")).to_have_text("Must have 2 to 32 characters.")
    created = "Your account was created, but the bot is not registered yet."
    expect(page.locator("#only-account")).to_contain_text(created)
    expect(page.locator("#name")).to_be_focused()
    expect(page.locator("#url")).to_have_value("http://127.0.0.1:9999")
    expect(page.locator("#your-token code")).to_have_text(re.compile("^ref_"))  # although the bot was refused

    register(page, name="Gracious", url="gopher://x")
    expect(page.locator("#url-error")).to_have_text("A URL begins with https or http, in lower case.")
    expect(page.locator("#no-address")).to_have_attribute("open", "")
    register(page, name="Ada", url="http://127.0.0.1:9999")
    expect(page.locator("#name-error")).to_be_visible()  # the name of another account
    register(page, name="Gracious")
    expect(page.locator("#your-secret code").first).to_have_text(re.compile("^whsec_"))

    page.reload()  # and it continues with this bot
    expect(page.locator("#checked h2")).to_contain_text("Gracious")
    expect(page.locator("#register")).to_be_hidden()

    answer_handshake(filled, page, FAILED, None)
    expect(page.locator("#report")).to_contain_text("<b>no</b>")
    expect(page.locator("#report")).to_contain_text("save the secret as secret.txt")
    expect(page.locator("#practice")).to_be_hidden()

    page.get_by_role("button", name="Check it now").click()
    answer_handshake(filled, page, PASSED, manifest_of("1.0", ["saint-poker"], 8))
    expect(page.locator("#report")).to_contain_text("chess")
    with filled.database.write() as session:
        (claimed,) = check_claims.claim_due(session, 1)
        checks.tell(session, claimed, 3, 60, "robustness")
    expect(page.locator("#report")).to_contain_text("Conformance check in progress robustness")
    expect(page.locator("#report")).to_contain_text("3 of 60")
    with filled.database.write() as session:
        checks.finish(session, claimed, CheckOutcome("1.0", {}, {}, "2", report_to_json(CRASHED, "seed")))
    finding = page.locator("#report .finding.bad", has_text="closed the connection at POST /decide")
    expect(finding).to_contain_text("What to do: Your bot probably crashed")
    expect(finding).to_contain_text("Also breaks stays_up.")
    page.locator("summary", has_text="Options of the game").click()
    page.get_by_label("Rounds").fill("0")
    page.locator("summary", has_text="Options of the game").click()
    page.get_by_role("button", name="Play a practice match").click()
    expect(page.locator("#option-rounds-error")).to_be_visible()
    submit(page, "Play a practice match", {"Rounds": "2"})
    match = page.get_by_role("link", name="Watch Saint Poker")
    expect(match).to_have_attribute("href", re.compile("^/matches/mat_"))
    expect(page.locator("#practice-matches")).to_contain_text("about to start")
    match_id = str(match.get_attribute("href")).split("/")[-1]
    assert filled.ask(matches.get_match, match_id).options["rounds"] == 2
    page_at.forgive("status of 4")  # the refusals above


def test_an_account_is_shown_to_its_owner_alone(page_at: PageAt, filled: Filled) -> None:
    page = page_at("/account")
    page.locator("#token").fill("ref_nonsense")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#token-error")).to_contain_text("malformed, unknown or revoked")
    page_at.forgive("status of 401")

    page.locator("#token").fill(filled.tokens["owner"])
    page.keyboard.press("Enter")
    expect(page.locator("#bot-list")).to_contain_text("Ada")
    expect(page.locator("#tournament-list")).to_contain_text("The open cup")
    expect(page.locator("#waiting-list")).to_contain_text("Ada")
    assert page.evaluate("document.cookie") == ""

    page.locator("#token-name").fill("of the tests")
    page.get_by_role("button", name="Create token").click()
    expect(page.locator("#fresh-token code")).to_have_text(re.compile("^ref_"))
    row = page.locator("#token-list tr", has_text="of the tests")
    row.get_by_role("button", name="Revoke").dblclick()  # one click too many is no answer
    row.get_by_role("button", name="Really revoke?").click()
    expect(row).to_contain_text("revoked")
    expect(page.locator("#token-list [tabindex='0']")).to_be_focused()

    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#signed-out")).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('referee.token')") is None
    assert "Ada" not in page.locator("main").inner_text()


def test_who_has_a_token_that_is_none_is_told_and_signed_out(page_at: PageAt) -> None:
    for token in ("ref_\u2026", "ref_unknown"):
        page = page_at("/account", token=token)

        expect(page.locator("#token-error")).to_contain_text("You are signed out.")
        assert page.evaluate("sessionStorage.getItem('referee.token')") is None
    page_at.forgive("status of 401")


def test_a_token_that_was_revoked_elsewhere_is_not_passed_over(page_at: PageAt, filled: Filled) -> None:
    with filled.database.write() as session:
        other, text = accounts.create_token(session, filled.accounts["owner"], "elsewhere")
    page = page_at("/account", token=text)
    row = page.locator("#token-list tr", has_text="elsewhere")
    expect(row).to_be_visible()
    with filled.database.write() as session:
        accounts.revoke_token(session, filled.accounts["owner"], other.id)

    row.get_by_role("button", name="Revoke").click()
    row.get_by_role("button", name="Really revoke?").click()

    expect(row.get_by_role("alert")).to_contain_text("revoked")
    page_at.forgive("status of 401")


def test_pages_work_where_the_browser_keeps_nothing(page_at: PageAt, filled: Filled) -> None:
    page = page_at.context().new_page()
    page.add_init_script(f"Object.defineProperty(window, 'sessionStorage', {{ get() {{ {DENIED} }} }})")
    page.goto(f"/matches/{filled.matches['pool-nap']}")
    expect(page.locator(".controls")).to_be_visible()
    page.goto("/account")
    page.locator("#token").fill(filled.tokens["owner"])
    page.keyboard.press("Enter")
    expect(page.locator("#bot-list")).to_contain_text("Ada")


def test_a_webhook_is_made_and_deleted(page_at: PageAt, filled: Filled) -> None:
    page = page_at("/account", token=filled.tokens["owner"])

    page.get_by_text("Create a webhook").click()
    page.locator("#hook-url").fill("http://127.0.0.1:9998/told")
    page.get_by_role("button", name="Create webhook").click()
    expect(page.locator("#fresh-webhook code")).to_have_text(re.compile("^whsec_"))
    card = page.locator("#webhook-list li", has_text="9998/told")
    card.get_by_role("button", name="Ping").click()
    expect(card.get_by_role("table")).to_contain_text("ping")
    card.get_by_role("button", name="Delete").click()
    card.get_by_role("button", name="Really delete?").click()

    expect(card).to_have_count(0)
