"""The worth of a policy, and the examples: short trainings gain, and their results play as bots."""

import json
import re
import runpy
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from referee.cli import main
from referee.errors import BadOption, IllegalAction
from referee.games import catalogue
from referee.house.players import find_player
from referee.match.canonical import Json
from referee_extras.gym.actions import ActionSpace
from referee_extras.gym.encoding import Encoder
from referee_extras.gym.evaluation import evaluate
from tests.cli.running import PATIENCE_S, surroundings

ROOT = Path(__file__).parents[3]
PAGES = ROOT / "docs" / "learning.md", ROOT / "docs" / "house-players.md"


def player(level: str, game_name: str) -> Any:
    return partial(find_player(level)(Random(1)).decide, game_name)


@pytest.mark.parametrize("game_name", sorted(catalogue()))
def test_a_player_equals_itself_exactly_when_every_seat_has_the_same_cards(game_name: str) -> None:
    found = evaluate(player("house:first", game_name), game_name, opponents="house:first", deals=3)

    assert found.share == pytest.approx(0.5)
    assert found.error == pytest.approx(0.0)
    assert found.matches == 3 * catalogue()[game_name].standard_seats


def test_the_better_player_is_ahead_by_more_than_its_error() -> None:
    found = evaluate(player("house:3", "saint-poker"), "saint-poker", opponents="house:2", deals=30, seed=2)

    assert found.share - 3 * found.error > 0.5
    assert str(found) == f"{found.share:.3f} ± {found.error:.3f} (30 deals, 60 matches)"


def test_each_deal_is_played_from_each_seat_with_the_same_cards() -> None:
    hands: list[tuple[int, tuple[str, ...]]] = []

    def note(question: Json) -> Json:
        seen = question["observation"]
        if (seen["round"], seen["phase"]) == (1, "river"):
            hands.append((seen["seat"], (*seen["hand"],)))
        action: Json = question["legal_actions"][0]
        return action

    evaluate(note, "saint-poker", 3, {"rounds": 1}, opponents=note, deals=2)

    per_match = [{*hands[first : first + 3]} for first in range(0, len(hands), 3)]
    assert len(per_match) == 6
    assert per_match[0] == per_match[1] == per_match[2]
    assert per_match[3] == per_match[4] == per_match[5]
    assert per_match[0] != per_match[3]


def test_equal_seeds_give_equal_figures_and_others_do_not() -> None:
    same, again, other = (
        evaluate(player("house:2", "prisoners"), "prisoners", opponents="house:1", deals=4, seed=seed)
        for seed in (1, 1, 2)
    )

    assert same == again
    assert same != other


def test_a_single_deal_and_an_illegal_policy_are_refused() -> None:
    with pytest.raises(BadOption, match="at least 2"):
        evaluate(player("house:1", "pool-nap"), "pool-nap", deals=1)
    with pytest.raises(IllegalAction, match="not in legal_actions"):
        evaluate(lambda question: {"type": "bid", "tricks": 77}, "pool-nap", deals=2)


def test_the_command_of_the_baselines_prints_a_row_for_each_level_and_strategy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wishes = ["--games", "saint-poker", "--deals", "2", "--search-deals", "0"]
    monkeypatch.setattr(sys, "argv", ["baselines.py", *wishes])

    runpy.run_path(str(ROOT / "examples/baselines.py"))["main"]()

    head, _, *rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert head in (ROOT / "docs/baselines.md").read_text()
    names = [row.split("|")[1].strip("` ")[-7:].strip() for row in rows]
    assert names == ["house:1", "house:2", "house:3", "step 1", "step 2"]
    assert all(len(re.findall(r"[01]\.\d{3} ± 0\.\d{3} \(2\)|0\.5, equal", row)) == 3 for row in rows)


def train(name: str, folder: Path, *wishes: str) -> str:
    """Return what a training with these options prints; its bot and the result are then in ``folder``."""
    shutil.copytree(ROOT / "examples" / name, folder, ignore=shutil.ignore_patterns("__pycache__", "weights.*"))
    ran = subprocess.run(
        [sys.executable, "train.py", *wishes], cwd=folder, env=surroundings(OPENBLAS_NUM_THREADS="1"),
        capture_output=True, text=True, timeout=PATIENCE_S * 3, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def play(*players: str) -> dict[str, Any]:
    """Return the result of a match of Pool Nap, in which nobody made a fault."""
    played = CliRunner().invoke(main, ["play", "pool-nap", *players, "house:1", "house:1", "--json", "--seed", "1"])
    result: dict[str, Any] = json.loads(played.output)
    assert not any(result["faults"]), played.output
    return result


def test_a_short_training_gains_and_its_bot_plays(tmp_path: Path) -> None:
    folder = tmp_path / "learned"

    printed = train("learning", folder, "--generations", "2", "--matches", "6", "--seed", "1")

    before, after = map(float, re.findall(r"(?:before|after) ([+-][0-9.]+)", printed))
    assert after > before  # equal seeds give equal training
    assert json.loads((folder / "weights.json").read_text()).keys() >= {"high", "lead_trump"}
    play(str(folder))


@pytest.mark.parametrize("name", ["aec", "openspiel", "house", "learner", "evaluate"])
def test_what_the_page_shows_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = "".join(page.read_text() for page in PAGES)
    code = re.search(rf"<!-- test: {name} -->\n```python\n(.*?)```", text, re.DOTALL)
    assert code

    exec(code[1], {"__name__": "__main__"})  # the page's own code is what is tested

    assert re.fullmatch(r"\[-?[0-9.]+(, -?[0-9.]+)+\]\n", capsys.readouterr().out)


def test_a_short_training_beats_the_novice_and_its_bot_and_the_one_on_the_page_play(tmp_path: Path) -> None:
    folder = tmp_path / "linear"
    wishes = ["--iterations", "2", "--matches", "30", "--opponents", "house:2", "--check", "8"]

    printed = train("linear", folder, *wishes)

    result = re.search(r"against house:2: ([0-9.]+) ± ([0-9.]+) \(8 deals, 32 matches\)", printed)
    assert result, printed
    share, error = map(float, result.groups())
    assert share - 3 * error > 0.5  # equal seeds give equal training
    size, length = ActionSpace("pool-nap", 4).size, Encoder("pool-nap", 4).length
    assert np.load(folder / "weights.npy").shape == (size, length + 1)
    shown = re.search(r"<!-- test: served -->\n```python\n(.*?)```", PAGES[0].read_text(), re.DOTALL)
    assert shown
    assert len([line for line in shown[1].splitlines() if line and not line.startswith(("import", "from"))]) <= 12
    shutil.copy(folder / "weights.npy", tmp_path)
    (tmp_path / "bot.py").write_text(shown[1])
    assert max(play(str(folder), str(tmp_path / "bot.py"))["placements"][:2]) <= 2
