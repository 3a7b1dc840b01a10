"""The browser tests themselves: problems of a page are detected."""

import pytest

from tests.browser.conftest import Axe, PageAt
from tests.browser.record import Filled

GOOD = "document.body.replaceChildren(); document.title = 'T'; document.documentElement.lang = 'en'"
IMAGE = "document.body.append(document.createElement('main')); document.querySelector('main').append(new Image())"


def troubles(page_at: PageAt) -> str:
    found = "\n".join(page_at.troubles)
    page_at.troubles.clear()
    return found


def test_what_goes_wrong_in_a_page_is_noticed(page_at: PageAt) -> None:
    page = page_at("/docs")
    page.wait_for_selector(".swagger-ui .info")
    assert troubles(page_at) == ""

    page.evaluate("console.error('a word')")
    assert "console: a word" in troubles(page_at)

    with page.expect_event("pageerror"):
        page.evaluate("setTimeout(() => { throw new Error('a mistake') })")
    assert "a script stopped: a mistake" in troubles(page_at)

    page.evaluate("() => { const s = document.createElement('script'); s.textContent = '1'; document.body.append(s) }")
    assert "Content Security Policy" in troubles(page_at)

    page.evaluate("fetch('http://127.0.0.1:1/').catch(() => null)")
    assert "Content Security Policy" in troubles(page_at)


def test_a_policy_taken_away_refuses_nothing_but_what_leads_elsewhere_is_noticed(page_at: PageAt) -> None:
    page = page_at("/keys", policy=False)

    page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
        " document.body.append(s) }"
    )
    page.evaluate("fetch('http://127.0.0.1:1/').catch(() => null)")

    assert page.evaluate("window.ran") == 1
    assert "led elsewhere: http://127.0.0.1:1/" in troubles(page_at)


def test_faults_of_accessibility_are_found(page_at: PageAt, axe: Axe) -> None:
    page = page_at("/keys", dark=True)
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    page.evaluate(GOOD)
    page.evaluate(IMAGE)

    with pytest.raises(AssertionError, match=r"image-alt \(critical\)"):
        axe(page)

    axe(page, leave_out=("image-alt", "page-has-heading-one"))


def test_the_record_holds_what_pages_show(page_at: PageAt, filled: Filled) -> None:
    page = page_at("/keys", token=filled.tokens["owner"])
    answers = page.evaluate(
        """paths => Promise.all(paths.map(path => fetch("/api/v1/" + path, {
            headers: {Authorization: "Bearer " + sessionStorage.getItem("referee.token")},
        }).then(answer => answer.json())))""",
        ["ladders", "bots?limit=100", "tournaments", f"bots/{filled.bots['Ada']}/faults", "matches?status=running"],
    )
    ladders, bots, events, faults, matches = [answer["items"] for answer in answers]

    assert {ladder["game"] for ladder in ladders} == set(filled.ladders)
    assert set(filled.bots) <= {bot["name"] for bot in bots}
    assert {one["status"] for one in events} == {"finished", "running", "open"}  # a draft is seen by its organiser
    assert any("onerror" in fault["detail"] for fault in faults)
    assert {filled.matches["rated"], filled.matches["open"]} <= {match["id"] for match in matches}
