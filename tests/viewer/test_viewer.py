"""The viewer as one file: its content and its policy. ``tests/browser`` tests its appearance and behaviour."""

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from referee.errors import BadLog
from referee.games import catalogue
from referee.match.chance import RecordedChance
from referee.match.log import HEADER_MEMBERS, parse_row
from referee.match.match import Match, is_answer
from referee.protocol.fault_advice import ADVICE
from referee.viewer import FOLDER, advice, bundle, render_standalone
from referee.viewer.presentation import presentations, steps
from referee.viewer.questions import questions
from tests.golden import RECORDED, path

NAMES = sorted(RECORDED)


def log(name: str) -> list[bytes]:
    return path(name).read_bytes().splitlines()


class Parts(HTMLParser):
    """A parser that collects texts by tag, and all attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {}
        self.attributes: list[tuple[str, str, str | None]] = []
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]
        self._inside = tag
        self.texts.setdefault(tag, []).append("")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.texts[self._inside][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


def packed(page: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(Parts(page).texts["script"][0])))


@pytest.mark.parametrize("name", NAMES)
def test_a_page_holds_the_log_to_the_byte_with_every_question_and_the_cards_it_needs(name: str) -> None:
    lines = log(name)

    held = packed(render_standalone(lines, questions=questions(lines)))

    assert held["log"].encode() == b"".join(line + b"\n" for line in lines)
    assert {int(row) for row in held["questions"]} == {n for n, line in enumerate(lines) if is_answer(parse_row(line))}
    assert set(held["faults"]) == set(ADVICE)
    assert {"back", "Ah", "2c"} <= set(held["cards"]) <= {picture.stem for picture in (FOLDER / "cards").glob("*.svg")}
    assert all(picture.startswith("<svg") for picture in held["cards"].values())


def test_a_question_is_what_the_seat_was_asked() -> None:
    lines = log("prisoners-2")
    rows = [parse_row(line) for line in lines]
    match = Match({name: rows[0][name] for name in HEADER_MEMBERS}, RecordedChance(rows))
    match.begin()
    asked = questions(lines)

    number = next(number for number, row in enumerate(rows) if is_answer(row))
    (request,) = match.requests()

    for member in ("observation", "legal_actions", "new_events", "default_action"):
        assert asked[number][member] == getattr(request, member)


def test_the_policy_lets_only_what_stands_in_the_page_run_and_fetches_nothing() -> None:
    page = render_standalone(log("saint-poker-2"))
    parts = Parts(page)
    (policy,) = [
        value
        for tag, name, value in parts.attributes
        if tag == "meta" and name == "content" and "-src" in (value or "")
    ]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    for directive, text in (("script-src", parts.texts["script"][1]), ("style-src", parts.texts["style"][0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[directive] == f"'sha256-{digest}'"
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    assert "connect-src" not in rules
    assert not [
        one for one in parts.attributes if one[1] in ("src", "href", "style", "srcset") or one[1].startswith("on")
    ]


def test_names_are_text_in_the_page() -> None:
    lines = log("saint-poker-2")
    lines[0] = lines[0].replace(b'"Bot 0"', b'"<img src=x onerror=alert(1)></script>"')

    page = render_standalone(lines)

    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_the_bundle_has_no_import_left_and_calls_nothing_that_reads_markup() -> None:
    script = bundle()

    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    assert "</script" not in script
    assert script.endswith("openPacked();\n")
    sinks = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|DOMParser"
    assert not re.search(sinks, script)
    for module in ("replay.js", "tables/pool_nap.js"):
        assert (FOLDER / module).read_text().splitlines()[-3].removeprefix("export ") in script


def test_every_module_stays_readable() -> None:
    for module in [*FOLDER.rglob("*.js"), *FOLDER.glob("*.css")]:
        assert len(module.read_text().splitlines()) <= 400, module


def test_cards_are_plain_pictures_without_script_or_foreign_parts() -> None:
    cards = sorted((FOLDER / "cards").glob("*.svg"))

    assert len(cards) == 52 + 2 + 1
    for card in cards:
        picture = card.read_text()
        assert not re.search(r"script|style=|https?:(?!//www\.w3\.org/2000/svg\")|\son\w+=", picture), card.name
    assert "CC0" in (FOLDER / "cards" / "VENDORED.txt").read_text()


def test_advice_is_told_without_markdown() -> None:
    assert not [words for one in advice().values() for words in one.values() if "`" in words or "*" in words]


@pytest.mark.parametrize(
    "lines",
    [[], [b"no log"], [b"[]"], [b"{}"], [b'{"game":1,"match":"m","players":[]}'], [b"[" * 100_000], [b"\xff"]],
    ids=["nothing", "words", "list", "empty", "number", "depth", "bytes"],
)
def test_what_is_no_log_makes_no_page(lines: list[bytes]) -> None:
    with pytest.raises(BadLog):
        render_standalone(lines)
    with pytest.raises(BadLog):
        questions(lines)


def test_a_log_that_does_not_hold_gives_no_questions() -> None:
    lines = log("pool-nap-3")
    lines[10] = lines[10].replace(b'"card":"', b'"card":"9')

    with pytest.raises(BadLog):
        questions(lines)


def test_all_files_of_the_viewer_are_installed() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()

    for pattern in ("viewer/**/*.js", "viewer/*.css", "viewer/cards/*", "viewer/presentations/*.json"):
        assert f'"{pattern}"' in project
        assert list((FOLDER.parent).glob(pattern))


@pytest.mark.parametrize("game", sorted(catalogue()))
def test_each_game_is_explained_in_five_captioned_steps_that_the_viewer_does_not_load(game: str) -> None:
    explained = steps(game)

    assert len(explained) == 5
    for caption, text in explained:
        assert 0 < len(caption) < 30
        assert text.endswith(".")
        assert len(text) < 160
    assert "steps" not in presentations()[game]
