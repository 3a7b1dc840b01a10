"""The pages of series in a browser."""

from playwright.sync_api import expect

from tests.browser.conftest import PageAt, axe, confirm, submit
from tests.browser.record import Filled


def test_a_series_names_its_tournaments_winners_and_the_results_that_do_not_count(
    page_at: PageAt, filled: Filled
) -> None:
    page = page_at(f"/series/{filled.series}", script=False)

    standings, played = page.locator("table").nth(0), page.locator("table").nth(1)
    assert standings.locator("thead th").count() == 3 + 2  # two tournaments are finished
    assert standings.locator("s").count() > 0
    expect(played.locator("tbody tr")).to_have_count(3)
    expect(played.locator("tbody tr").nth(2)).to_contain_text("running")
    played.get_by_role("link", name="swiss cup").click()
    expect(page.get_by_role("link", name="The season")).to_have_attribute("href", f"/series/{filled.series}")


def test_an_organiser_creates_fills_changes_and_deletes_a_series(page_at: PageAt, filled: Filled) -> None:
    page = page_at("/series", token=filled.tokens["organiser"])
    submit(page, "Create the series", {"Name of the series": "Winter season", "Points": "5, 6"})
    expect(page.locator("[data-new-series] [data-refusal]")).to_contain_text("never increase")
    submit(page, "Create the series", {"Points": "6, 5"})
    expect(page.get_by_role("heading", level=1)).to_have_text("Winter season")

    page.get_by_label("Add a tournament that you run").select_option(label="The open cup")
    page.get_by_role("button", name="Add the tournament").click()
    played = page.get_by_role("region", name="Tournaments", exact=True)
    expect(played.locator("tbody tr")).to_have_count(1)
    axe(page)
    submit(page, "Save the terms", {"Results that count": "3"})
    expect(page.get_by_text("The 3 best results of each bot count.")).to_be_visible()
    confirm(page, "Remove… The open cup")
    expect(page.get_by_text("No tournament has been added yet.")).to_be_visible()
    confirm(page, "Delete the series…")
    expect(page).to_have_url(f"{page_at.url}/series")
    page_at.forgive("422")
