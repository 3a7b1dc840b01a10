"""The lock files: complete, with the hashes of every file, which installations require; the Python versions agree."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.deploy.compose import ROOT
from tests.deploy.test_version import git

RUNTIME = ROOT / "requirements.lock"
DEVELOPMENT = ROOT / "requirements-dev.lock"
COMPILER = ROOT / "requirements-uv.lock"
PEERS = ROOT / "bench" / "peers" / "requirements.lock"

_PIN = re.compile(r"(?P<requirement>[A-Za-z0-9_.-]+==[^=\s;*]+( ; .+?)?)(?P<hashes>( --hash=sha256:[0-9a-f]{64})+)")
LOCK_FILES = (RUNTIME, DEVELOPMENT, COMPILER, PEERS)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MAKEFILE = (ROOT / "Makefile").read_text()


def read_lock(path: Path) -> dict[str, str]:
    """Return the lines of a lock file by the normalized name. Each has a pinned version and the hashes of its files."""
    joined = re.sub(r" \\\n\s*", " ", path.read_text())
    lines = [line for line in joined.splitlines() if not line.startswith("#")]
    assert [line for line in lines if not _PIN.fullmatch(line)] == []
    pins: dict[str, str] = {canonicalize_name(line.partition("==")[0]): line for line in lines}
    assert len(pins) == len(lines) > 0
    return pins


def requirements(*groups: list[str]) -> list[Requirement]:
    return [Requirement(text) for group in groups for text in group]


REQUIRED: dict[Path, list[Requirement]] = {
    RUNTIME: requirements(PROJECT["project"]["dependencies"], PROJECT["dependency-groups"]["build"]),
    DEVELOPMENT: requirements(
        PROJECT["project"]["dependencies"],
        PROJECT["dependency-groups"]["build"],
        *PROJECT["project"]["optional-dependencies"].values(),
    ),
    COMPILER: requirements(PROJECT["dependency-groups"]["lock"]),
    PEERS: requirements(PROJECT["dependency-groups"]["peers"]),
}


def test_these_are_all_lock_files() -> None:
    listed = git(ROOT, "ls-files", "-co", "--exclude-standard", "*.lock")

    assert {ROOT / line for line in listed.splitlines()} == set(LOCK_FILES)


@pytest.mark.parametrize("path", LOCK_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_it_pins_what_the_project_requires_with_hashes_and_names_no_registry(path: Path) -> None:
    pins = read_lock(path)
    required = {canonicalize_name(each.name): each.specifier for each in REQUIRED[path] if each.name != "referee"}

    assert not re.search(r"://|^ *-(-index-url|-extra-index-url|-find-links|f|i)\b", path.read_text(), re.MULTILINE)
    versions = {name: line.partition("==")[2].split()[0] for name, line in pins.items()}
    missing = [name for name, wanted in required.items() if not wanted.contains(versions.get(name, "0"))]
    assert not missing, f"{path.name} does not agree with pyproject.toml; run make lock"


def test_the_tests_run_with_the_versions_of_the_service() -> None:
    development = read_lock(DEVELOPMENT)

    assert {name: development.get(name) for name in read_lock(RUNTIME)} == read_lock(RUNTIME)


def test_whoever_installs_a_lock_file_requires_its_hashes() -> None:
    text = (ROOT / "Dockerfile").read_text() + MAKEFILE
    installs = re.findall(r"^.*(?:\$\((?:INSTALL|LOCKED)\)|pip install).*\.lock$", text, re.MULTILINE)

    assert len(installs) == 4
    assert "LOCKED := $(INSTALL) --require-hashes\n" in MAKEFILE
    assert all("$(LOCKED)" in line or "--require-hashes" in line for line in installs)
    assert re.search(r"\$\(PEERS\)/bin/python -m pip .* install --no-deps --require-hashes", MAKEFILE)


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
