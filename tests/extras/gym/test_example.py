"""The learning example: a short training improves it, and the result plays as a bot."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli import main
from tests.cli.running import PATIENCE_S, surroundings

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "learning"
PAGES = ROOT / "docs" / "learning.md", ROOT / "docs" / "house-players.md"


def test_a_short_training_gains_and_its_bot_plays(tmp_path: Path) -> None:
    folder = tmp_path / "learned"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", "weights.json"))
    wishes = ["--generations", "5", "--matches", "10", "--seed", "1"]

    trained = subprocess.run(
        [sys.executable, "train.py", *wishes],
        cwd=folder, env=surroundings(), capture_output=True, text=True, timeout=PATIENCE_S * 3, check=False,
    )  # fmt: skip
    played = CliRunner().invoke(main, ["play", "pool-nap", str(folder), "house:1", "house:1", "--json"])

    assert trained.returncode == 0, trained.stderr
    before, after = map(float, re.findall(r"(?:before|after) ([+-][0-9.]+)", trained.stdout))
    assert after > before  # equal seeds give equal training
    assert json.loads((folder / "weights.json").read_text()).keys() >= {"high", "lead_trump"}
    assert json.loads(played.output)["faults"] == [0, 0, 0]


@pytest.mark.parametrize("name", ["aec", "openspiel", "house", "learner", "evaluate"])
def test_what_the_page_shows_runs(name: str) -> None:
    text = "".join(page.read_text() for page in PAGES)
    code = re.search(rf"<!-- test: {name} -->\n```python\n(.*?)```", text, re.DOTALL)
    assert code

    ran = subprocess.run(
        [sys.executable, "-c", code[1]], env=surroundings(), capture_output=True, text=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(r"\[-?[0-9.]+(, -?[0-9.]+)+\]\n", ran.stdout)
