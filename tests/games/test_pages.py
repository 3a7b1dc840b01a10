"""The rules pages agree with the games in the catalogue."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from referee.games import catalogue
from referee.match.canonical import Json
from referee.project_files import DOCS
from referee.rulebook import rules_page
from tests.games import pages

ROOT = Path(__file__).parents[2]
every_game = pytest.mark.parametrize("name", sorted(catalogue()))


@every_game
def test_every_game_has_a_page(name: str) -> None:
    page = rules_page(name)

    assert page.startswith("# ")
    assert page == (ROOT / "docs" / "games" / f"{name}.md").read_text(encoding="utf-8")


def test_no_page_is_left_of_a_game_that_is_gone() -> None:
    assert {path.stem for path in (DOCS / "games").iterdir()} == set(catalogue())


@every_game
def test_the_table_of_options_is_that_of_the_game(name: str) -> None:
    assert pages.wrong_options(catalogue()[name], rules_page(name)) == []


@every_game
def test_every_action_of_the_page_is_legal_somewhere(name: str) -> None:
    assert pages.never_legal(catalogue()[name], pages.actions(rules_page(name))) == []


@every_game
def test_every_phase_and_every_type_of_action_has_an_example(name: str) -> None:
    wanted = pages.kinds_of_actions(catalogue()[name])

    shown = {(phase, action["type"]) for phase, action in pages.actions(rules_page(name))}

    assert wanted <= shown


@every_game
def test_every_question_of_the_page_comes_up(name: str) -> None:
    questions = [one for one in pages.examples(rules_page(name)) if one.kind == "question"]

    assert questions
    assert [one for one in questions if not pages.comes_up(catalogue()[name], one)] == []


@every_game
def test_every_phase_has_a_question(name: str) -> None:
    phases = {phase for phase, _ in pages.kinds_of_actions(catalogue()[name])}

    assert phases == {one.phase for one in pages.examples(rules_page(name)) if one.kind == "question"}


@every_game
def test_every_block_of_json_is_an_example_that_is_tested(name: str) -> None:
    page = rules_page(name)

    assert page.count("```json") == len(pages.examples(page))


@every_game
def test_every_member_of_the_observation_is_told(name: str) -> None:
    game = catalogue()[name]
    members = game.start(game.seats[0]).observation(0).keys()

    told = {name for row in pages.table_of(rules_page(name), members) for name in pages.named(row[0])}

    assert told == members


# -- rulings --


@every_game
def test_the_rulings_of_a_page_are_numbered_without_gaps(name: str) -> None:
    rulings = pages.rulings(rules_page(name))

    assert rulings
    assert rulings == [f"{rulings[0][:2]}-{number:02}" for number in range(1, len(rulings) + 1)]


def test_every_ruling_has_a_test_that_bears_its_id() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.games.rulings"], cwd=ROOT, capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (0, "every ruling has a test\n"), done.stdout + done.stderr


def test_every_id_in_tests_and_code_is_a_ruling_of_a_page() -> None:
    known = {ruling for name in catalogue() for ruling in pages.rulings(rules_page(name))}
    letters = "|".join(sorted({ruling[:2] for ruling in known}))
    code = "\n".join(path.read_text() for path in (ROOT / "referee").rglob("*.py"))

    assert known >= {id for id in pages.tested_rulings() if id[:2] in letters.split("|")}
    assert known >= {*re.findall(rf"\b(?:{letters})-\d\d\b", code)}


# -- that these tests would notice --

POOL_NAP = catalogue()["pool-nap"]
PAGE = """
<!-- question: bid {"seats": 3, "seed": 12} -->
```json
{"observation": {"seat": 2, "bids": [{"seat": 1, "tricks": 3}]}, "legal_actions": [{"type": "pass"}, "…"]}
```

<!-- action: bid -->
```json
{"decision": "…", "action": {"type": "bid", "tricks": 4}}
```

- **PN-01**: chips.
- PN-03: the dealer. PN-02 is explained elsewhere.
"""


def test_marked_blocks_are_read_with_their_phase_and_match() -> None:
    question, action = pages.examples(PAGE)

    assert (question.kind, question.phase, question.match) == ("question", "bid", {"seats": 3, "seed": 12})
    assert pages.actions(PAGE) == [("bid", {"type": "bid", "tricks": 4})]
    assert pages.comes_up(POOL_NAP, question)
    assert action.match == {}


def test_an_action_may_be_marked_for_several_phases() -> None:
    page = PAGE.replace("action: bid", "action: bid play")

    assert [phase for phase, _ in pages.actions(page)] == ["bid", "play"]


def test_an_action_that_is_legal_in_no_position_of_its_phase_is_found() -> None:
    wrong: list[tuple[str, Json]] = [("bid", {"type": "bid", "tricks": 6}), ("play", {"type": "pass"})]

    assert pages.never_legal(POOL_NAP, [("bid", {"type": "pass"}), *wrong], enough=2000) == wrong


@pytest.mark.parametrize(
    "wrong", [PAGE.replace('"tricks": 3', '"tricks": 2'), PAGE.replace("bid {", "play {"), PAGE.replace(', "…"', "")]
)
def test_a_question_that_does_not_come_up_is_found(wrong: str) -> None:
    assert not pages.comes_up(POOL_NAP, pages.examples(wrong)[0])


@pytest.mark.parametrize(
    ("told", "wrongly"),
    [
        ("| 2 to 100,000 | 50 |", "| 2 to 10,000 | 50 |"),
        ("| 2 to 100,000 | 50 |", "| 2 to 100,000 | 500 |"),
        ("| `rounds`, `last_player` | `rounds` |", "| `rounds`, `last_player` | `last_player` |"),
        ("| true or false | true |", "| true or false | false |"),
        ("| `pot_end` |", "| `pot` |"),
        ("| `min_bid` | 1 to 3 | 1 | the lowest bid |\n", ""),
    ],
)
def test_a_wrong_row_of_the_table_of_options_is_found(told: str, wrongly: str) -> None:
    page = rules_page("pool-nap")
    assert told in page

    assert pages.wrong_options(POOL_NAP, page.replace(told, wrongly, 1)) != []


def test_rulings_are_those_at_the_head_of_a_line() -> None:
    assert pages.rulings(PAGE) == ["PN-01", "PN-03"]
