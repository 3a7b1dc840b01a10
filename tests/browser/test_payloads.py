"""No text of a user runs as code on any page, even without the content policy (threats C10 and E14)."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import PageAt
from tests.browser.crawl import Crawl
from tests.browser.poisoned import PRODUCT, free_texts, poison
from tests.browser.record import Filled
from tests.browser.service import Served, served

HARM = """(product) => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  const inline = document.querySelectorAll("script:not([src]):not([type='application/json'])");
  const handles = (one) => [...one.attributes].some((attribute) => /^on/i.test(attribute.name));
  const handlers = [...document.querySelectorAll("*")].filter(handles);
  const root = document.documentElement;
  const found = {
    ran: window.harmed, scripts: inline.length, handlers: handlers.length,
    links: [...document.links].filter((one) => one.protocol === "javascript:").length,
    pictures: document.querySelectorAll("img[src*='127.0.0.1:1/']").length,
    computed: document.body.innerText.includes(product),
    wide: root.scrollWidth > root.clientWidth,
  };
  return Object.entries(found).filter(([, value]) => value).map(([name, value]) => `${name}: ${value}`);
}"""
OURS = ("/guides", "/games", "/keys", "/replay")  # pages without a word of strangers
QUIET = """() => new Promise((done) => {
  let last = performance.now();
  new MutationObserver(() => { last = performance.now(); }).observe(document, {subtree: true, childList: true});
  const look = () => (performance.now() - last > 150 ? done() : setTimeout(look, 50));
  look();
})"""


@pytest.fixture(scope="module")
def harmful(filled: Filled, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Run a service with the poisoned database."""
    folder = tmp_path_factory.mktemp("poisoned")
    poison(filled.folder / "referee.db", folder / "referee.db")
    with served(folder) as running:
        yield running


def test_every_column_of_text_is_known() -> None:
    known = {f"{table}.{column}" for table, column in free_texts()}

    assert {"bots.name", "bots.url", "matches.reason", "faults.detail", "tournaments.name", "webhooks.url"} <= known
    assert len(known) >= 20


def test_C10_E14_no_text_of_a_stranger_does_anything(
    harmful: Served, crawl: Crawl, filled: Filled, browser: Browser
) -> None:
    ada, void = f"/bots/{filled.bots['Ada']}", f"/matches/{filled.matches['void']}"
    kinds = [path for path in crawl.kinds.values() if not path.startswith(OURS)]
    own = ["/account", f"/register?bot={filled.bots['Ada']}", ada, "/organise", void]
    opened = PageAt(browser, harmful.url)
    found: dict[str, list[str]] = {}
    for role, paths in (("organiser", [path for path in kinds if "organise" in path]), ("owner", [*kinds, *own])):
        page = opened.context(width=360, policy=False, token=filled.tokens[role]).new_page()
        page.on("dialog", lambda dialog: opened.troubles.append(f"dialog: {dialog.message}"))
        found |= {f"{role} {path}": harm for path in paths if (harm := harm_of(page, path))}
    shown = page.locator("body").inner_text()
    opened.close()
    opened.forgive(f"{void}/log")  # it is not what was signed

    assert len(kinds) > 15
    assert found == {}
    assert opened.troubles == []
    assert "window.harmed" in shown, "the texts are on the pages"


def harm_of(page: Page, path: str) -> list[str]:
    answer = page.goto(path)
    assert answer
    assert answer.status == 200, path
    page.evaluate(QUIET)
    harm: list[str] = page.evaluate(HARM, PRODUCT)
    return harm
