"""The lock files: complete, with the hashes of every file, which each installation requires."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.deploy.compose import ROOT
from tests.deploy.locks import COMPILER, DEVELOPMENT, PEERS, RUNTIME, read_lock
from tests.deploy.test_version import git

LOCK_FILES = (RUNTIME, DEVELOPMENT, COMPILER, PEERS)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MAKEFILE = (ROOT / "Makefile").read_text()


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

    assert pins
    assert all(pin.hashes for pin in pins.values())
    assert not re.search(r"://|^ *-(-index-url|-extra-index-url|-find-links|f|i)\b", path.read_text(), re.MULTILINE)
    missing = [name for name, wanted in required.items() if name not in pins or not wanted.contains(pins[name].version)]
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
