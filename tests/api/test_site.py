"""Pages over HTTP: cached and compressed static files, content policy, error pages for browsers only."""

import gzip
import json
import re

import pytest
from flask.testing import FlaskClient

from api.pages import formatting, static_files
from api.pages.guides import address_in, guides
from api.pages.markdown import Rendered, render_markdown, slug
from api.pages.page import POLICY
from referee.bots.states import BotState
from referee.figures import count, ordinal
from referee.games import catalogue
from referee.labels import state_label
from referee.matches.states import MatchState
from referee.tournaments.states import TournamentState
from referee.viewer.presentation import presentations
from referee.workflows.explaining.unrated import UNRATED_REASONS
from tests.api.conftest import Service

PAGES = ("/", "/games", "/games/pool-nap", "/guides", "/guides/bot-protocol", "/register", "/account")


# -- pages --


@pytest.mark.parametrize("path", PAGES)
def test_a_page_of_an_empty_record_is_sent_under_the_policy(anonymous: FlaskClient, path: str) -> None:
    answer, head = anonymous.get(path), anonymous.head(path)

    assert (answer.status_code, answer.mimetype) == (200, "text/html")
    assert answer.headers["Content-Security-Policy"] == POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert not re.search(r"<script(?![^>]*(?:src=|application/json))|<style| style=| on\w+=", answer.text)
    assert "Set-Cookie" not in answer.headers
    assert re.search("<title>(Referee: .+|.+ · Referee)</title>", answer.text)
    assert (head.status_code, head.data, head.headers["ETag"]) == (200, b"", answer.headers["ETag"])
    if path != "/":  # which is rendered again only every few seconds
        again = anonymous.get(path, headers={"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")
    small = anonymous.get(path, headers={"Accept-Encoding": "gzip"})
    assert (answer.headers.get("Content-Encoding"), small.headers["Content-Encoding"]) == (None, "gzip")
    assert gzip.decompress(small.data) == answer.data
    assert "Accept-Encoding" in ", ".join(small.headers.getlist("Vary"))
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', answer.text)
    assert files
    for name in files:
        found = anonymous.get(name, headers={"Accept-Encoding": "gzip"})
        assert (found.status_code, found.headers["Cache-Control"]) == (200, static_files.CACHE_FOREVER)


def test_the_policy_lets_nothing_in_from_elsewhere() -> None:
    rules = dict(rule.partition(" ")[::2] for rule in POLICY.split("; "))

    assert rules["default-src"] == rules["base-uri"] == rules["frame-ancestors"] == "'none'"
    assert {rules[name] for name in ("script-src", "style-src", "connect-src", "form-action")} == {"'self'"}
    assert (rules["require-trusted-types-for"], rules["trusted-types"]) == ("'script'", "'none'")


def test_a_slash_too_many_is_taken_away(anonymous: FlaskClient) -> None:
    for path, there in [
        *[("/ladders/", "/ladders"), ("/ladders//?page=2", "/ladders?page=2")],
        ("/%2Felsewhere.example/", "/elsewhere.example"),
    ]:
        answer = anonymous.get(path, headers={"Accept": "text/html"})
        assert (answer.status_code, answer.headers["Location"]) == (308, there)


# -- files --


def test_a_file_of_another_version_is_had_but_not_kept_and_texts_are_compressed(anonymous: FlaskClient) -> None:
    for name in ("/static/v-000000000000/site/live.js", "/static/site/live.js"):
        answer = anonymous.get(name)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-cache")
    style, icon = (
        anonymous.get(f"/static/site/{name}", headers={"Accept-Encoding": "gzip"})
        for name in ("site.css", "icon-180.png")
    )
    assert gzip.decompress(style.data) == anonymous.get("/static/site/site.css").data
    assert (style.headers["Content-Encoding"], icon.headers.get("Content-Encoding")) == ("gzip", None)


# -- errors --


def test_people_get_a_page_and_machines_a_problem_document(anonymous: FlaskClient) -> None:
    person = anonymous.get("/nothing", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})

    assert (person.status_code, person.mimetype) == (404, "text/html")
    assert "Page not found" in person.text
    assert person.headers["Content-Security-Policy"] == POLICY
    for path, accepted in [
        *[("/nothing", {"Accept": "application/json"}), ("/nothing", {})],
        *[(path, {"Accept": "text/html"}) for path in ("/api/v1/nothing", "/static/nothing.js", "/healthz/x")],
    ]:
        answer = anonymous.get(path, headers=accepted)
        assert (answer.status_code, answer.mimetype) == (404, "application/problem+json"), path
    for path in ("/games/no-such-game", "/games/<script>", "/guides/architecture", "/guides/../app"):
        answer = anonymous.get(path, headers={"Accept": "text/html"})
        assert (answer.status_code, "<script>" in answer.text) == (404, False)
    assert anonymous.post("/register", data={"token": "ref_x"}).status_code == 405  # a form sent without script


# -- rules and guides --


def test_the_rules_of_a_game_stand_on_its_page(anonymous: FlaskClient) -> None:
    for name, game in catalogue().items():
        text = anonymous.get(f"/games/{name}").text
        assert 'id="what-your-bot-sees"' in text
        assert "&lt;!--" not in text
        assert all(f"<code>{option.name}</code></th>" in text for option in game.option_specs)


def test_documents_are_rendered_for_pages() -> None:
    """Check that HTML is shown, not obeyed; the ids of headings; tables that scroll and name their columns."""
    page = rendered('# T\n\n<b onclick=x>hi</b> [x](javascript:alert(1)) `"Th"`\n')
    headings = rendered("# T\n\n## From the `command` line, now\n\ntext\n\n## Twice\n\n## Twice\n").contents
    table = rendered("# T\n\n## Values\n\n| a | b |\n| --- | ---: |\n| 1 | 2 |\n\n| | |\n|-|-|\n| x | y |\n").body

    assert page.title == "T"
    assert "&lt;b onclick" in page.body
    assert 'href="javascript' not in page.body
    assert '<span class="suit-h">&#34;Th&#34;</span>' in page.body
    assert [heading.id for heading in headings] == ["from-the-command-line-now", "twice", "twice-1"]
    assert slug("The batch fit: strengths") == "the-batch-fit-strengths"
    assert 'role="region" tabindex="0" aria-label="Values, table"' in table
    assert '<th scope="col" class="number">b</th>' in table
    assert table.count("<thead>") == 1
    assert "style=" not in table


def rendered(text: str) -> Rendered:
    return render_markdown(text, lambda link: link)


def test_links_of_the_sources_lead_to_pages_or_become_text() -> None:
    resolve = address_in("docs/games")

    assert resolve("../bot-protocol.md#signatures") == "/guides/bot-protocol#signatures"
    assert resolve("pool-nap.md") == "/games/pool-nap"
    assert resolve("../../referee/ratings/elo.py") is None
    assert "](" not in "".join(guide.body for guide in guides().values())


# -- words --


def test_numbers_are_set_for_reading() -> None:
    assert count(-1234567) == "−1\u202f234\u202f567"
    assert [ordinal(number) for number in (1, 2, 3, 4, 11)] == ["1st", "2nd", "3rd", "4th", "11th"]
    assert [ordinal(number) for number in (12, 13, 22, 113, 1001)] == ["12th", "13th", "22nd", "113th", "1\u202f001st"]
    assert formatting.format_signed(0.4) == formatting.format_signed(-0.4) == "0"
    assert formatting.format_signed(12.6) == "+13"
    assert formatting.milliseconds(None) == "–"
    assert formatting.milliseconds(1500) == "1.5\u202fs"
    assert formatting.percent(0.125) == "12.5\u202f%"


def test_scripts_get_their_labels_from_the_page(anonymous: FlaskClient) -> None:
    (text,) = re.findall(r'<script type="application/json" id="labels">(.*?)</script>', anonymous.get("/").text)
    labels, unrated = (json.loads(text)[name] for name in ("states", "unrated"))

    states = {*BotState, *MatchState, *TournamentState}
    assert {state: labels.get(state, state) for state in states} == {state: state_label(state) for state in states}
    assert labels.keys() <= states
    assert (labels["open"], labels["unverified"]) == ("open for entries", "not verified")
    assert unrated.keys() == UNRATED_REASONS.keys()
    assert (unrated["friendly"], unrated["one_owner_twice"]) == ("friendly", "unrated: one owner twice")


def test_a_page_of_a_match_says_what_it_is_to_those_who_link_it(service: Service, anonymous: FlaskClient) -> None:
    path = f"/matches/{service.played(service.person(), service.person()).match_id}"

    page = anonymous.get(f"{path}?utm_source=mail").text
    listed = anonymous.get("/matches?game=pool-nap").text
    data = json.loads(page.partition('<script type="application/json" id="match">')[2].partition("</script>")[0])

    said = dict(re.findall(r'<meta property="og:(\w+)" content="([^"]*)">', page))
    address = f"{service.settings.public_url}{path}"
    assert (said["url"], f'<link rel="canonical" href="{address}">' in page) == (address, True)
    assert said["title"].startswith("Saint Poker: ")
    assert re.match(r".+ (wins|are tied) with \d+ points?( each)?\. A match of Saint Poker", said["description"])
    assert "canonical" not in listed  # what it shows depends on the query
    assert 'property="og:title"' in listed
    take = presentations()["saint-poker"]["events"]["take"]["text"]
    assert list(take)[-1] == "otherwise"  # data for scripts keep their order
    assert list(data["presentations"]["saint-poker"]["events"]["take"]["text"]) == list(take)


def test_files_that_browsers_request_unasked_exist(anonymous: FlaskClient) -> None:
    icon, touch, robots = (anonymous.get(path) for path in ("/favicon.ico", "/apple-touch-icon.png", "/robots.txt"))
    page, manifest = anonymous.get("/").text, anonymous.get("/manifest.webmanifest")
    icons = manifest.get_json(force=True)["icons"]

    assert (icon.data[:4], touch.data[:4]) == (b"\0\0\1\0", b"\x89PNG")
    assert "Disallow: /account" in robots.text
    assert {one.status_code for one in (icon, touch, robots)} == {200}
    assert '<link rel="manifest" href="/manifest.webmanifest">' in page
    colour = r'<meta name="theme-color" content="#\w{6}" media="\(prefers-color-scheme: \w+\)">'
    assert len(re.findall(colour, page)) == 2
    assert "manifest-src 'self'" in POLICY
    assert manifest.mimetype == "application/manifest+json"
    sizes = {(f"{size}x{size}", purpose) for size in (192, 512) for purpose in (None, "maskable")}
    assert {(icon["sizes"], icon.get("purpose")) for icon in icons} >= sizes
    for icon in icons:
        answer = anonymous.get(icon["src"])
        assert (answer.status_code, answer.mimetype) == (200, icon["type"])
        if icon["type"] == "image/png":
            width, height = (int.from_bytes(answer.data[at : at + 4]) for at in (16, 20))
            assert icon["sizes"] == f"{width}x{height}"
