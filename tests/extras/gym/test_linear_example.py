"""The example in NumPy: a short training beats a house player, and its weights play as a bot."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from referee.cli import main
from referee_extras.gym.actions import ActionSpace
from referee_extras.gym.encoding import Encoder
from tests.cli.running import PATIENCE_S, surroundings

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "learning.md"
SHORT = ("--iterations", "4", "--matches", "40", "--opponents", "house:2", "--check", "20")  # some seconds of CPU time
RESULT = re.compile(r"against house:2: ([0-9.]+) ± ([0-9.]+) \(20 deals, 80 matches\)")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a copy of the example after a short training, and what the training printed."""
    folder = tmp_path_factory.mktemp("trained") / "linear"
    shutil.copytree(ROOT / "examples/linear", folder, ignore=shutil.ignore_patterns("__pycache__", "weights.*"))
    ran = subprocess.run(
        [sys.executable, "train.py", *SHORT], cwd=folder, env=surroundings(OPENBLAS_NUM_THREADS="1"),
        capture_output=True, text=True, timeout=PATIENCE_S * 3, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return folder, ran.stdout


def test_a_short_training_beats_the_novice_by_more_than_three_standard_errors(trained: tuple[Path, str]) -> None:
    folder, printed = trained

    result = RESULT.search(printed)

    assert result, printed
    share, error = map(float, result.groups())
    assert share - 3 * error > 0.5  # equal seeds give equal training
    size, length = ActionSpace("pool-nap", 4).size, Encoder("pool-nap", 4).length
    assert np.load(folder / "weights.npy").shape == (size, length + 1)


def test_the_bot_of_the_example_and_the_one_on_the_page_play_without_faults(
    trained: tuple[Path, str], tmp_path: Path
) -> None:
    shown = re.search(r"<!-- test: served -->\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert shown
    assert len([line for line in shown[1].splitlines() if line and not line.startswith(("import", "from"))]) <= 12
    shutil.copy(trained[0] / "weights.npy", tmp_path)
    (tmp_path / "bot.py").write_text(shown[1])

    played = CliRunner().invoke(
        main,
        ["play", "pool-nap", str(trained[0]), str(tmp_path / "bot.py"), "house:1", "house:1", "--json", "--seed", "1"],
    )

    result = json.loads(played.output)
    assert result["faults"] == [0, 0, 0, 0], played.output
    assert max(result["placements"][:2]) <= 2
