"""The browser tests themselves: problems of a page are detected."""

import pytest

from tests.browser.conftest import PageAt, axe

ADD_SCRIPT = """() => {
  const script = document.createElement("script");
  script.textContent = "window.ran = 1";
  document.body.append(script);
}"""
FETCH_ELSEWHERE = "fetch('http://127.0.0.1:1/').catch(() => null)"
GOOD = "document.body.replaceChildren(); document.title = 'T'; document.documentElement.lang = 'en'"
IMAGE = "document.body.append(document.createElement('main')); document.querySelector('main').append(new Image())"


def troubles(page_at: PageAt) -> str:
    found = "\n".join(page_at.troubles)
    page_at.troubles.clear()
    return found


def test_what_goes_wrong_in_a_page_is_noticed(page_at: PageAt) -> None:
    page = page_at("/keys")
    assert troubles(page_at) == ""

    page.evaluate("console.error('a word')")
    assert "console: a word" in troubles(page_at)
    with page.expect_event("pageerror"):
        page.evaluate("setTimeout(() => { throw new Error('a mistake') })")
    assert "a script stopped: a mistake" in troubles(page_at)
    page.evaluate(FETCH_ELSEWHERE)
    assert "Content Security Policy" in troubles(page_at)

    page = page_at("/keys", policy=False)
    page.evaluate(ADD_SCRIPT)
    page.evaluate(FETCH_ELSEWHERE)
    assert page.evaluate("window.ran") == 1
    assert "led elsewhere: http://127.0.0.1:1/" in troubles(page_at)


def test_faults_of_accessibility_are_found(page_at: PageAt) -> None:
    page = page_at("/keys", dark=True)
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    page.evaluate(GOOD)
    page.evaluate(IMAGE)

    with pytest.raises(AssertionError, match=r"image-alt \(critical\)"):
        axe(page)

    axe(page, leave_out=("image-alt", "page-has-heading-one"))
