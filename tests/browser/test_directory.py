"""The search in the header, and emblems drawn by the server and by scripts."""

import pytest
from playwright.sync_api import expect

from api.pages.emblem import emblem
from referee.db.ids import new_id
from tests.browser.conftest import PageAt, axe

DRAWN = """async (ids) => {
  const script = document.querySelector("script[src$='site.js']");
  const { drawEmblem, emblem } = await import(new URL("emblem.js", script.src));
  const reused = emblem(ids[0]);
  return ids.map((id) => { drawEmblem(reused, id); return [emblem(id).outerHTML, reused.outerHTML]; });
}"""
PARSED = """(all) => all.map((text) => {
  const svg = new DOMParser().parseFromString(text, "text/html").querySelector("svg");
  return [svg.getAttribute("class"), svg.firstElementChild.getAttribute("d")];
})"""


def test_scripts_draw_the_same_emblems_as_the_server(page_at: PageAt) -> None:
    ids = [new_id("bot") for _ in range(50)]
    page = page_at("/bots", policy=False)

    drawn = page.evaluate(DRAWN, ids)
    expected = page.evaluate(PARSED, [emblem(id) for id in ids])

    for (made, reused), (name, path) in zip(drawn, expected, strict=True):
        assert made == reused
        assert f'class="{name}"' in made
        assert f'd="{path}"' in made
        assert 'aria-hidden="true"' in made


@pytest.mark.parametrize(("width", "dark"), [(360, True), (1280, False)])
def test_a_bot_is_found_from_any_page_by_keyboard(page_at: PageAt, width: int, dark: bool) -> None:
    page = page_at("/games", width=width, dark=dark)
    main_navigation = page.get_by_role("navigation", name="Main")
    field = page.get_by_role("searchbox", name="Bot, owner or tournament")

    if width < 640:  # a narrow header has one row, with a link in place of the field
        assert main_navigation.evaluate("(one) => one.offsetHeight") < 48
        main_navigation.get_by_role("link", name="Search").focus()
        page.keyboard.press("Enter")
        field.focus()
    else:
        expect(main_navigation.get_by_role("link", name="Search")).to_be_hidden()
        page.get_by_role("searchbox", name="Search bots, owners and tournaments").focus()
    page.keyboard.type("lobachevskii")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_contain_text("Nothing was found.")
    field.fill("ЛОБАЧ")
    page.keyboard.press("Enter")

    found = page.get_by_role("list", name="Found").get_by_role("link", name="Лобачевский")
    expect(found).to_be_visible()
    if dark:
        axe(page)
    found.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Лобачевский")
