"""The pages of series in a browser: light and dark, wide and narrow, for everybody, without scripts."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Axe, PageAt
from tests.browser.record import Filled


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1280, False)])
def test_a_series_can_be_read_by_anybody(page_at: PageAt, filled: Filled, axe: Axe, width: int, dark: bool) -> None:
    for path in ("/series", f"/series/{filled.series}"):
        page = page_at(path, width=width, dark=dark)
        axe(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_a_series_names_its_tournaments_winners_and_the_results_that_do_not_count(
    page_at: PageAt, filled: Filled
) -> None:
    page = page_at("/tournaments", script=False)
    page.get_by_role("link", name="Series of tournaments").click()
    page.get_by_role("link", name="The season").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("The season")
    standings, played = page.locator("table").nth(0), page.locator("table").nth(1)
    assert standings.locator("thead th").count() == 3 + 2  # two tournaments are finished
    assert standings.locator("s").count() > 0
    expect(played.locator("tbody tr")).to_have_count(3)
    expect(played.locator("tbody tr").nth(2)).to_contain_text("running")
    played.get_by_role("link", name="swiss cup").click()
    expect(page.get_by_role("link", name="The season")).to_have_attribute("href", f"/series/{filled.series}")


def test_an_organiser_creates_fills_changes_and_deletes_a_series(page_at: PageAt, filled: Filled, axe: Axe) -> None:
    page = page_at("/series", token=filled.tokens["organiser"])
    page.get_by_label("Name of the series").fill("Winter season")
    page.get_by_label("Points").fill("5, 6")
    page.get_by_role("button", name="Create the series").click()
    expect(page.locator("[data-new-series] [data-refusal]")).to_contain_text("never increase")
    page.get_by_label("Points").fill("6, 5")
    page.get_by_role("button", name="Create the series").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Winter season")

    page.get_by_label("Add a tournament that you run").select_option(
        label=filled.shown.get("The open cup", "The open cup")
    )
    page.get_by_role("button", name="Add the tournament").click()
    played = page.get_by_role("region", name="Tournaments", exact=True)
    expect(played.locator("tbody tr")).to_have_count(1)
    axe(page)
    page.get_by_label("Results that count").fill("3")
    page.get_by_role("button", name="Save the terms").click()
    expect(page.get_by_text("The 3 best results of each bot count.")).to_be_visible()
    page.get_by_role("button", name="Remove… The open cup").click()
    page.get_by_role("button", name="Yes, do it").click()
    expect(page.get_by_text("No tournament has been added yet.")).to_be_visible()
    page.get_by_role("button", name="Delete the series…").click()
    page.get_by_role("button", name="Yes, do it").click()
    expect(page).to_have_url(f"{page_at.url}/series")
    page_at.troubles[:] = [one for one in page_at.troubles if "422" not in one]
