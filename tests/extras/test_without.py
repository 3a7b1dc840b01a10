"""The service works without its extras: without their package, and without some of them in the list."""

import json
import subprocess
import sys
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import pytest

from referee import plugs
from referee_extras import EXTRAS
from tests.cli.running import surroundings
from tests.extras.service_without import ALL, list_commands

ROOT = Path(__file__).parents[2]
RUNS = 6  # for up to 20 extras
SCRIPT = "tests/extras/service_without.py"
OWN_PATHS = {  # of operations of the API, by extra: how they begin
    "exchanges": "/api/v1/ladders/{ladder_id}/exchanges",
    "analysis": "/api/v1/tournaments/{tournament_id}/crosstable",
    "search": "/api/v1/search",
    "notifications": "/api/v1/webhooks",
    "series": "/api/v1/series",
    "classes": "/api/v1/accounts/class",
    "retention": "/api/v1/disk-use",
}


CHOICES = list(islice(combinations(range(RUNS), RUNS // 2), len(EXTRAS)))
LEFT_OUT = [[name for name, runs in zip(EXTRAS, CHOICES, strict=True) if number in runs] for number in range(RUNS)]


@pytest.fixture(scope="module")
def reports() -> dict[str, Any]:
    """Return what the script prints, keyed by what was left out."""
    ran = subprocess.run(
        [sys.executable, SCRIPT, ALL, *map(",".join, LEFT_OUT)],
        cwd=ROOT,
        env=surroundings(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('{"without"')]
    return {report["without"]: report for report in found}


def test_without_their_package_the_service_is_built_and_plays(reports: dict[str, Any]) -> None:
    found = reports[ALL]

    assert found["extras"] == []
    assert set(found["statuses"].values()) == {200}
    assert [path for path in found["paths"] if path.startswith(tuple(OWN_PATHS.values()))] == []


def test_without_some_extras_the_others_stay(reports: dict[str, Any]) -> None:
    """Each extra is left out of half of the runs, by a choice of its own: some run has one of two without the other."""
    own = {extra.name: [f"{command.group} {command.name} " for command in extra.commands] for extra in plugs.extras()}
    assert len(CHOICES) == len(EXTRAS)

    for names in LEFT_OUT:
        found = reports[",".join(names)]
        lost = {path for path in list_commands() for name in names if any(each in f"{path} " for each in own[name])}
        assert found["extras"] == [each for each in EXTRAS if each not in names]
        assert set(found["statuses"].values()) == {200}
        assert set(list_commands()) - set(found["commands"]) == lost
        for other, start in OWN_PATHS.items():
            assert any(path.startswith(start) for path in found["paths"]) == (other not in names)
