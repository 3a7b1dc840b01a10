"""The service works without its extras: in a copy without their folder, and without each one of them in the list."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from referee import plugs
from referee_extras import EXTRAS
from tests.cli.running import surroundings
from tests.extras.service_without import list_commands

ROOT = Path(__file__).parents[2]
KEPT = ("referee", "api", "workers", "docs", "bots", "README.md")
SCRIPT = "tests/extras/service_without.py"
OWN_PATHS = {  # of operations of the API, by extra: how they begin
    "exchanges": "/api/v1/ladders/{ladder_id}/exchanges",
    "openings": "/api/v1/openings",
    "analysis": "/api/v1/tournaments/{tournament_id}/crosstable",
    "search": "/api/v1/search",
    "notifications": "/api/v1/webhooks",
    "series": "/api/v1/series",
    "classes": "/api/v1/accounts/class",
    "retention": "/api/v1/disk-use",
}


def run(folder: Path, *names: str) -> dict[str, Any]:
    """Return what the script printed in ``folder``, keyed by what was left out."""
    ran = subprocess.run(
        [sys.executable, str(ROOT / SCRIPT), *names],
        cwd=folder,
        env=surroundings(PYTHONPATH=str(folder)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    reports = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('{"without"')]
    return {report["without"]: report for report in reports}


def test_without_their_folder_the_service_is_built_and_plays(tmp_path: Path) -> None:
    for name in KEPT:
        (tmp_path / name).symlink_to(ROOT / name)

    found = run(tmp_path, "all")["all"]

    assert found["extras"] == []
    assert set(found["statuses"].values()) == {200}
    assert [path for path in found["paths"] if path.startswith(tuple(OWN_PATHS.values()))] == []


def test_without_one_extra_the_others_stay() -> None:
    commands = {
        extra.name: [f"{command.group} {command.name} " for command in extra.commands] for extra in plugs.extras()
    }
    reports = run(ROOT, *EXTRAS)
    assert list(reports) == [*EXTRAS]
    for name, found in reports.items():
        own = {path for path in list_commands() if any(each in f"{path} " for each in commands[name])}
        assert found["extras"] == [each for each in EXTRAS if each != name]
        assert set(found["statuses"].values()) == {200}
        assert set(list_commands()) - set(found["commands"]) == own
        for other, start in OWN_PATHS.items():
            assert any(path.startswith(start) for path in found["paths"]) == (other != name)
