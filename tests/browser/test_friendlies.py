"""The page of a friendly in progress, for owners of its bots and for others."""

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS, Axe, PageAt
from tests.browser.record import Filled

expect.set_options(timeout=PATIENCE_MS)


def test_E21_the_owner_of_a_bot_in_a_friendly_cancels_it_on_its_page(page_at: PageAt, filled: Filled, axe: Axe) -> None:
    live = filled.begin("saint-poker", bots=("Babbage", "Ada"), rated=False)
    live.go_on(1)

    page = page_at(f"/matches/{live.id}", token=filled.tokens["owner"])
    button = page.get_by_role("button", name="Cancel this friendly")
    expect(button).to_be_visible()
    axe(page)
    button.click()
    page.get_by_role("button", name="Really cancel it?").click()

    expect(page.get_by_role("status").filter(has_text="The friendly is cancelled.")).to_be_visible()
    page.goto(f"{page_at.url}/matches/{live.id}")
    expect(page.locator(".about")).to_contain_text("cancelled")
    assert button.count() == 0


def test_others_are_not_offered_to_cancel_a_match(page_at: PageAt, filled: Filled) -> None:
    friendly = filled.begin("saint-poker", bots=("Babbage", "Caissa"), rated=False)

    page = page_at("/games", token=filled.tokens["owner"])
    with page.expect_response(lambda answer: answer.url.endswith("/api/v1/accounts/me")):
        page.goto(f"{page_at.url}/matches/{friendly.id}")

    assert page.get_by_role("button", name="Cancel this friendly").count() == 0
