"""The rules pages agree with the games in the catalogue."""

import re
from pathlib import Path

import pytest

from referee.games import catalogue
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
def test_every_phase_has_a_question_and_every_type_of_action_an_example(name: str) -> None:
    wanted = pages.kinds_of_actions(catalogue()[name])
    page = rules_page(name)

    assert wanted <= {(phase, action["type"]) for phase, action in pages.actions(page)}
    assert {phase for phase, _ in wanted} == {one.phase for one in pages.examples(page) if one.kind == "question"}


@every_game
def test_every_question_of_the_page_comes_up(name: str) -> None:
    page = rules_page(name)
    questions = [one for one in pages.examples(page) if one.kind == "question"]

    assert questions
    assert page.count("```json") == len(pages.examples(page))
    assert [one for one in questions if not pages.comes_up(catalogue()[name], one)] == []


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
    rulings = {ruling for name in catalogue() for ruling in pages.rulings(rules_page(name))}

    assert rulings - pages.tested_rulings() == set()


def test_every_id_in_tests_and_code_is_a_ruling_of_a_page() -> None:
    known = {ruling for name in catalogue() for ruling in pages.rulings(rules_page(name))}
    letters = "|".join(sorted({ruling[:2] for ruling in known}))
    code = "\n".join(path.read_text() for path in (ROOT / "referee").rglob("*.py"))

    assert known >= {id for id in pages.tested_rulings() if id[:2] in letters.split("|")}
    assert known >= {*re.findall(rf"\b(?:{letters})-\d\d\b", code)}
