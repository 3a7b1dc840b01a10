"""The pages of strategies: their code decides legally everywhere and beats what it claims to beat."""

import importlib.util
import json
import re
from itertools import islice
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from referee.conformance.positions import collect_questions, scenarios
from referee.games import catalogue
from referee.games import game as rules_of
from referee.match.time_limits import Limits

FOLDER = Path(__file__).parents[3] / "docs" / "strategies"
STEPS = ("step 1", "step 2")
SCENARIOS = 6
MATCHES = {"prisoners": 20, "rummy-royal": 20}  # 4 of the others, where the better player wins nearly always
named_game = pytest.mark.parametrize("game", sorted(catalogue()))


def measure() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measure", FOLDER / "measure.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@named_game
def test_each_step_decides_legally_with_all_options_and_numbers_of_seats(game: str) -> None:
    dice = Random(f"strategies {game}")
    drawn = list(islice(scenarios(rules_of(game), dice), SCENARIOS))
    asked = [json.loads(one.body) for scenario in drawn for one in collect_questions(scenario, Limits(), dice)]

    for name, choose in measure().steps_of(game).items():
        assert [one["observation"]["phase"] for one in asked if choose(one) not in one["legal_actions"]] == [], name


@named_game
def test_the_steps_beat_the_levels_that_the_page_says_they_beat(game: str) -> None:
    """With this seed the results are always the same, since neither the steps nor the house players use other dice."""
    module = measure()
    steps, matches = module.steps_of(game), MATCHES.get(game, 4)

    one = module.measure(game, steps["step 1"], "house:2", matches, "strategies")
    two = module.measure(game, steps["step 2"], "house:3", matches, "strategies")

    assert tuple(steps) == STEPS
    assert (one.errors, one.faults, two.errors, two.faults) == (0, {}, 0, {})
    assert one.score > 0.5
    assert two.score > 0.5


@named_game
def test_the_page_has_the_figures_of_the_command_that_it_names(game: str) -> None:
    text = (FOLDER / f"{game}.md").read_text()
    index = (FOLDER / "README.md").read_text()

    assert f"python docs/strategies/measure.py {game}" in text
    figures = re.findall(r"^(step \d), (house:\d): (0\.\d{3} ± 0\.\d{3})$", text, re.M)
    assert [(step, rival) for step, rival, _ in figures] == [(step, f"house:{n}") for step in STEPS for n in (2, 3)]
    assert figures[0][2] in index
    assert figures[3][2] in index
