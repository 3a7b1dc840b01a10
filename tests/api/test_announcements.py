"""What organisers say about their tournaments: bounded, changeable until the end, and harmless on a page."""

import random
from html.parser import HTMLParser
from typing import Any

import pytest
from werkzeug.test import TestResponse

from api.pages.untrusted_markdown import render_untrusted
from referee.errors import BadOption
from referee.tournaments.terms import ANNOUNCEMENT
from tests.api.conftest import API, Person, Service
from tests.api.tournaments import opened, started

WHOLE = {
    "description": "# Welcome\n\nBring *one* bot.\n\n- rules at [our page](https://example.org/rules)",
    "link": "https://example.org/cup?year=2030",
    "contact": "Ada, ada@example.org",
    "prizes": "A mug for the winner",
}
TAGS = {*["p", "h3", "em", "strong", "s", "ul", "ol", "li", "blockquote", "pre", "code", "hr", "br", "a", "span"]}
ATTRIBUTES = {("p", "dir"), ("h3", "dir"), ("a", "href"), ("a", "rel"), ("pre", "tabindex"), ("ol", "start")}
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x](https://example.org/x.png)",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt&#58;alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x)",
    "[x](//example.org)",
    "[x](/account)",
    "[x](file:///etc/passwd)",
    '[x](https://example.org "onmouseover=alert(1)")',
    '[x](https://example.org/"onmouseover="alert(1))',
    "[x](<https://example.org/ onclick=alert(1)>)",
    "<https://example.org/?<script>>",
    "<javascript:alert(1)>",
    '```js" onload="alert(1)\n</code></pre><script>alert(1)</script>\n```',
    "`</code><script>`",
    "    </pre><svg onload=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "[a]: javascript:alert(1)\n\n[a]",
    "# </h3><iframe src=https://example.org>",
    "1000000000. x",
    ">" * 1500,
    "*" * 2000 + "a" + "*" * 2000,
    "[" * 4000,
    "- " * 1500,
)


class Seen(HTMLParser):
    """Collect the tags, attributes and texts of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.links: list[dict[str, str | None]] = []
        self.balance = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(tag, name) for name, _ in attrs}
        self.balance += tag not in ("hr", "br")
        if tag == "a":
            self.links.append(dict(attrs))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        self.balance -= 1

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def check_harmless(text: str) -> None:
    seen = Seen(render_untrusted(text))

    assert seen.tags <= TAGS, text
    assert seen.attributes <= ATTRIBUTES, text
    assert seen.balance == 0, text
    for link in seen.links:
        assert str(link["href"]).lower().startswith(("https://", "http://", "mailto:")), text
        assert link["rel"] == "nofollow noopener ugc", text


def test_the_subset_of_markdown_is_rendered() -> None:
    html = render_untrusted(
        f"{WHOLE['description']}\n\n`code` ~~old~~ <https://example.org>\n\n> quoted\n\n---\n\n1. one"
    )

    seen = Seen(html)
    assert {"h3", "em", "ul", "li", "a", "code", "s", "blockquote", "hr", "ol"} <= seen.tags
    assert [link["href"] for link in seen.links] == ["https://example.org/rules", "https://example.org"]
    assert '<h3 dir="auto">Welcome</h3>' in html


def test_E14_nothing_hostile_in_a_description_gets_through() -> None:
    for text in HOSTILE:
        check_harmless(text)
    signs = "[]()<>*_`#!-\n\"'&;: =/\\"
    pieces = [*signs, "\n\n", "    ", "```", *HOSTILE[:22], "a", "https://x.example", "&#106;avascript:"]
    chance = random.Random(7)
    for _ in range(300):
        check_harmless("".join(chance.choice(pieces) for _ in range(chance.randint(1, 25))))


def test_a_tournament_says_what_its_organiser_wrote(service: Service, organiser: Person) -> None:
    path = f"/tournaments/{opened(organiser, **WHOLE)}"

    shown = organiser.get(path).get_json()
    listed = organiser.get("/tournaments").get_json()["items"][0]
    page = service.anonymous().get(path).text

    assert {field: shown[field] for field in WHOLE} == WHOLE
    assert not set(WHOLE) & set(listed)
    assert '<a href="https://example.org/rules" rel="nofollow noopener ugc">our page</a>' in page
    assert '<a href="https://example.org/cup?year=2030" rel="nofollow noopener ugc">' in page
    assert "A mug for the winner" in page
    assert "ada@example.org" in page


def test_E14_the_lines_beside_the_description_are_escaped(service: Service, organiser: Person) -> None:
    evil = '"><script>alert(1)</script>'
    path = f"/tournaments/{opened(organiser, contact=evil, prizes=evil, description=evil)}"

    for page in (path, f"{path}/organise"):
        text = service.anonymous().get(page).text
        assert "alert(1)" in text
        assert "<script>alert" not in text


def test_texts_have_bounds() -> None:
    for field, texts in {
        "description": ("", " \n ", "x" * 4001, "one\x07bell", "turned \u202e round"),
        "link": ("javascript:alert(1)", "https://user@example.org", "https://example.org/" + "x" * 300),
        "contact": ("two\nlines", "x" * 161),
        "prizes": ("", "\u2066x"),
    }.items():
        for text in texts:
            with pytest.raises(BadOption, match=field):
                ANNOUNCEMENT[field](text)


def test_texts_are_changed_until_the_tournament_is_over(service: Service, organiser: Person, owner: Person) -> None:
    def change(path: str, changes: Any, person: Person = organiser, match: str = "*") -> TestResponse:
        return person.ask("PATCH", path, {"If-Match": match}, json=changes)

    for path in (f"/tournaments/{id}" for id in (opened(organiser), started(service, organiser))):
        etag = organiser.get(path).headers["ETag"]
        organiser.post(f"{path}/pause")  # progress does not outdate an edit
        changed = change(path, WHOLE, match=etag)
        stale = change(path, {"contact": "Bob"}, match=etag)
        removed, by_another = change(path, {"prizes": None}), change(path, WHOLE, owner)
        assert [answer.status_code for answer in (changed, stale, removed, by_another)] == [200, 412, 200, 403]
        assert (changed.get_json()["prizes"], removed.get_json()["prizes"]) == (WHOLE["prizes"], None)
        page = service.anonymous().get(f"{path}/organise").text
        assert removed.headers["ETag"].strip('"').partition(".")[0] in page
        assert service.anonymous().get(API + path).get_json()["contact"] == WHOLE["contact"]

    more = change(path, {"starts_at": None})
    organiser.post(f"{path}/cancel")

    assert (more.status_code, change(path, WHOLE).status_code) == (409, 409)
    assert "starts_at can no longer be changed" in more.get_json()["detail"]
