"""Pages in narrow windows, and on paper."""

import re

from playwright.sync_api import Page

from tests.browser.conftest import PageAt, axe
from tests.browser.record import Filled

SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CUT = """(table) => {
  table.scrollLeft = 0;
  const first = table.querySelector("tbody th") ?? table.querySelector("tbody td");
  const fades = getComputedStyle(table).maskImage !== "none";
  table.scrollLeft = 1e6;
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done({
    cut: table.scrollLeft > 0, fades, ends: getComputedStyle(table).maskImage === "none",
    head: first.getBoundingClientRect().right > table.getBoundingClientRect().left + 40,
  }))));
}"""
PRINTED = """() => {
  const seen = (one) => one.checkVisibility() && one.getBoundingClientRect().height > 0;
  const all = [...document.querySelectorAll("body *")].filter(seen);
  const styles = new Map([document.documentElement, document.body, ...all].map((one) => [one, getComputedStyle(one)]));
  const isDark = (colour) => {
    const [red, green, blue, opacity = 1] = colour.match(/[0-9.]+/g).map(Number);
    return opacity > .5 && red + green + blue < 600;
  };
  const hasText = (one) => [...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  const listed = (some) => some.map((one) => one.outerHTML.slice(0, 80));
  const widest = document.querySelector("main").clientWidth + 1;
  return {
    controls: listed(all.filter((one) => one.matches("nav, button, input, select, .controls, .skip, form"))),
    dark: listed([...styles.keys()].filter((one) => !one.closest("svg, progress")
      && isDark(styles.get(one).backgroundColor))),
    pale: listed(all.filter((one) => hasText(one) && !one.closest("svg, .unseen") && !isDark(styles.get(one).color))),
    heads: all.filter((one) => one.matches("thead")).map((one) => styles.get(one).display),
    rows: all.filter((one) => one.matches("tbody tr")).map((one) => styles.get(one).breakInside),
    cut: all.filter((one) => one.matches(".table")).filter((one) => styles.get(one).overflowX !== "visible"
      || one.scrollWidth > widest).map((one) => one.getAttribute("aria-label")),
    address: document.querySelector(".address").innerText,
  };
}"""
BRIGHT = """() => [document.documentElement, document.body, ...document.querySelectorAll("main *")].filter((one) => {
  const [red, green, blue, opacity = 1] = getComputedStyle(one).backgroundColor.match(/[0-9.]+/g).map(Number);
  const {width, height} = one.getBoundingClientRect();
  return opacity > .5 && red + green + blue > 500 && width > 200 && height > 60;
}).map((one) => one.outerHTML.slice(0, 80))"""
PLACES_OF_WINNERS = """(rows) => rows.map((row) => {
  const winner = row.querySelector("strong");
  const [box, whole] = [winner, row].map((one) => one.getBoundingClientRect());
  const isFirst = row.innerText.trim().startsWith(winner.innerText);
  return [isFirst, box.right <= innerWidth, box.top - whole.top < 30]; // on the first line
})"""
PAPER_PX = 703  # A4 upright, less its margins
LANDSCAPE_PX = 1046


def test_a_wide_table_scrolls_in_its_frame_beside_its_first_column_and_fades_where_it_is_cut(
    page_at: PageAt, filled: Filled
) -> None:
    swiss, knockout = filled.tournaments["swiss"], filled.tournaments["knockout"]
    page = page_at("/", width=320)
    for path in (
        f"/ladders/{filled.ladders['saint-poker']}",
        f"/tournaments/{swiss}/standings?columns=all",
        f"/tournaments/{knockout}/crosstable",
        "/bots",
    ):
        page.goto(path)
        found = page.locator(".table").first.evaluate(CUT)
        assert (path, found) == (path, {"cut": True, "fades": True, "ends": True, "head": True})
    page.set_viewport_size({"width": 630, "height": 900})
    page.goto(f"/tournaments/{filled.tournaments['open']}/entries")
    assert page.locator(".table").first.evaluate(CUT) == {"cut": False, "fades": False, "ends": True, "head": True}


def test_standings_with_all_columns_are_not_cut_at_1280_px(page_at: PageAt, filled: Filled) -> None:
    page = page_at("/", width=1280)
    for name in ("swiss", "knockout"):
        for path in ("", "/standings?columns=all"):
            page.goto(f"/tournaments/{filled.tournaments[name]}{path}")
            frame = page.locator(".table:has(> #standings)")
            assert (name, path, frame.evaluate("(one) => one.scrollWidth - one.clientWidth")) == (name, path, 0)


def test_lists_of_matches_show_who_won_first(page_at: PageAt, filled: Filled) -> None:
    page = page_at("/", width=360)
    for path in ("/", "/matches?status=finished", f"/bots/{filled.bots['Ada']}"):
        page.goto(path)
        won = page.locator(".results li:has(strong)").evaluate_all(PLACES_OF_WINNERS)
        assert len(won) > 0
        assert [place for place in won if place != [True, True, True]] == [], path


def test_names_of_a_bracket_are_whole_or_end_with_an_ellipsis(page_at: PageAt, filled: Filled) -> None:
    page = page_at(f"/tournaments/{filled.tournaments['knockout']}/bracket")
    measure = """(words) => {
      const name = document.querySelector(".bracket .name:not(.on)");
      name.textContent = words;
      return [name.scrollWidth <= name.clientWidth, getComputedStyle(name).textOverflow];
    }"""

    assert page.evaluate(measure, "Difference Engine No. 2 of 1849") == [True, "ellipsis"]
    assert page.evaluate(measure, "W" * 32) == [False, "ellipsis"]


def test_standings_crosstable_bracket_result_and_rules_are_printed_black_on_white(
    page_at: PageAt, filled: Filled
) -> None:
    swiss, knockout = filled.tournaments["swiss"], filled.tournaments["knockout"]
    page = page_at.context(dark=True).new_page()
    for path, width in (
        (f"/tournaments/{swiss}/standings", PAPER_PX),
        (f"/tournaments/{knockout}/crosstable", LANDSCAPE_PX),
        (f"/tournaments/{knockout}/bracket", LANDSCAPE_PX),
        (f"/matches/{filled.matches['saint-poker']}", PAPER_PX),
        ("/games/prince-albert", PAPER_PX),
    ):
        page.set_viewport_size({"width": width, "height": 1000})
        page.emulate_media(media="screen")
        page.goto(path)
        if "/matches/" in path:
            page.locator(".below").wait_for()
        page.emulate_media(media="print")

        found = page.evaluate(PRINTED)

        assert (path, found["controls"], found["dark"], found["pale"], found["cut"]) == (path, [], [], [], [])
        assert set(found["heads"]) <= {"table-header-group"}
        assert set(found["rows"]) <= {"avoid"}
        assert found["address"].endswith(path)


def test_print_sheets_are_loaded_for_paper_only(page_at: PageAt, filled: Filled) -> None:
    page = page_at(f"/tournaments/{filled.tournaments['knockout']}/crosstable")

    assert page.locator("link[href$='print.css']").get_attribute("media") == "print"
    assert page.locator(".address").is_hidden()
    assert [round(width, -1) for width in widths_of(page)] == [600, 840]  # A4 upright, and landscape for the table


def widths_of(page: Page) -> list[float]:
    """Return the different widths of the sheets of a PDF of the page, in points, rising."""
    pdf = page.pdf(prefer_css_page_size=True, format="A4").decode("latin-1")
    return sorted({float(width) for width in re.findall(r"/MediaBox \[0 0 ([0-9.]+) ", pdf)})


def test_the_reference_of_the_api_has_the_frame_of_the_site_and_is_accessible_in_dark_mode(page_at: PageAt) -> None:
    page = page_at("/docs", width=390, dark=True)
    page.wait_for_selector(".swagger-ui .opblock")

    # Swagger UI has a main part of its own, and puts the button that copies a path into another one.
    axe(page, leave_out=("nested-interactive", "aria-allowed-role"))
    assert page.get_by_role("navigation", name="Main").is_visible()
    assert page.evaluate(SIDEWAYS) == 0
    assert page.evaluate(BRIGHT) == []
    page.locator(".opblock-summary-control").first.click()
    page.wait_for_selector(".swagger-ui .opblock-body table")
    assert page.evaluate(SIDEWAYS) == 0

    page.locator(".brand").click()
    page.wait_for_url("**/")
