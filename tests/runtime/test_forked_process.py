"""A process that is forked from one that has imported everything is as good as one of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.cli.running import comes_true
from tests.runtime import forking_program


def test_a_forked_process_has_its_own_surroundings_and_tells_how_it_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-m", forking_program.__name__, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"HIDDEN": "x"})

    said = json.loads(run.stdout.splitlines()[0])
    assert run.stdout.splitlines()[1:] == ["exit of the parent"]
    assert run.stderr == ""
    assert said["ended"] == {"describe": 7, "complain": 1, "fail": 1, "succeed": 0, "nothing": 1}
    assert said["running"] is None
    assert said["killed"] == -15
    assert comes_true(lambda: not Path(f"/proc/{said['orphan']}").exists())  # SIGTERM when its parent ended

    first, last = (tmp_path / "describe").read_text().splitlines()
    assert last == "exit of the child"
    assert json.loads(first) == {
        "argv": ["tests.runtime.forking_program:describe", "--first", "second"],
        "environment": {"ONLY": "this"},
        "folder": str(tmp_path),
        "input": True,
        "fds": [said["passed"]],
        "session": True,
        "name": "child-describe",
        "handlers": [True, 1],
        "wakeup": -1,
    }
    assert (tmp_path / "complain").read_text() == "this is why\n"
    assert (tmp_path / "fail").read_text().endswith("ValueError: broken\n")
    assert "has no attribute 'nothing'" in (tmp_path / "nothing").read_text()
    assert "No such file or directory" in (tmp_path / "astray").read_text().splitlines()[-1]
