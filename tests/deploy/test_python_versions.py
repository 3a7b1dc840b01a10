"""The Python versions that the project names agree: the lowest in every tool, the highest in the README."""

import re
import tomllib

from tests.deploy.compose import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TRIED = [line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if " :: Python :: " in line]


def test_the_tools_check_and_lock_for_the_lowest_version() -> None:
    lowest = TRIED[0]
    makefile = (ROOT / "Makefile").read_text()

    assert PROJECT["project"]["requires-python"] == f">={lowest}"
    assert PROJECT["tool"]["mypy"]["python_version"] == lowest
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{lowest.replace('.', '')}"
    assert re.findall(r"--python-version (\S+)", makefile) == [lowest]
    assert set(re.findall(r"Python (3\.\d+)", makefile)) == {lowest}


def test_the_readme_names_the_lowest_and_the_highest_version_that_were_tried() -> None:
    readme = (ROOT / "README.md").read_text()

    assert f"Python {TRIED[0]} or newer (tried up to {TRIED[-1]})" in readme
