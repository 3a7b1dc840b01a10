"""The version of a checkout, of copies without commits, and of what is built. `test_wheel.py` has the packages."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from referee.version import RELEASE
from tests.deploy.compose import ROOT
from tests.machine import require

UNKNOWN = f"{RELEASE}.dev0+unknown"
PURPOSE = "what is built from a checkout"
IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> str:
    """Run git and return what it prints. Skip the test without git, and where the project is no checkout."""
    program = require("git", PURPOSE, "2.15")
    if folder == ROOT and not (ROOT / ".git").exists():
        pytest.skip(f"NOT RUN: {PURPOSE}: no checkout")
    command = [program, "-C", str(folder), *IDENTITY, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit(folder: Path, message: str) -> str:
    """Commit everything and return the hash."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def version_of(folder: Path, **changes: str) -> str:
    """Run the file that finds the version, in the copy of the project in ``folder``."""
    ran = subprocess.run(
        [sys.executable, str(folder / "referee" / "version.py")],
        env=os.environ | changes, cwd="/", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stderr == ""
    return ran.stdout.removesuffix("\n")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a folder with the files on which the version depends, without commits."""
    folder = tmp_path / "copy"
    for name in (".gitattributes", "referee/version.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def checkout(copy: Path) -> Path:
    """Return a checkout with two commits."""
    git(copy, "init", "--quiet")
    commit(copy, "first")
    commit(copy, "second")
    return copy


def test_the_version_of_a_checkout_moves_on_with_its_commits_and_copies_have_that_of_theirs(
    checkout: Path, tmp_path: Path
) -> None:
    second, before = git(checkout, "rev-parse", "HEAD"), version_of(checkout)
    third = commit(checkout, "third")
    git(checkout, "worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"), "HEAD~1")
    git(tmp_path, "clone", "--quiet", "--depth", "1", checkout.as_uri(), "shallow")
    git(checkout, "archive", "--prefix", "archive/", "--output", str(tmp_path / "archive.tar"), "HEAD")
    shutil.unpack_archive(tmp_path / "archive.tar", tmp_path, filter="data")

    assert before == version_of(tmp_path / "linked") == f"{RELEASE}.dev2+g{second[:10]}"
    assert version_of(checkout) == f"{RELEASE}.dev3+g{third[:10]}"
    assert version_of(tmp_path / "shallow") == version_of(tmp_path / "archive") == f"{RELEASE}.dev0+g{third[:10]}"


def test_a_checkout_of_another_user_has_its_version_and_the_environment_names_no_other(
    checkout: Path, tmp_path: Path
) -> None:
    git(tmp_path, "init", "--quiet", "other")
    wanted = version_of(checkout)

    found = version_of(checkout, GIT_TEST_ASSUME_DIFFERENT_OWNER="1", GIT_DIR=str(tmp_path / "other" / ".git"))

    assert found == wanted


def test_without_git_or_a_commit_the_version_is_unknown(checkout: Path, tmp_path: Path) -> None:
    shutil.copytree(checkout / "referee", tmp_path / "empty" / "referee")
    git(tmp_path, "init", "--quiet", "empty")

    assert version_of(checkout, PATH="/nowhere") == UNKNOWN
    assert version_of(tmp_path / "empty") == UNKNOWN


@pytest.mark.parametrize(
    ("written", "version"),
    [
        (None, UNKNOWN),
        ("unknown", UNKNOWN),  # an image that was built without a version
        ("latest", UNKNOWN),
        ("\xff", UNKNOWN),
        ("0.1.0.dev7-g0123456789", "0.1.0.dev7+g0123456789"),  # of the name of an image
        ("0.1.0.dev7+g0123456789", "0.1.0.dev7+g0123456789"),
    ],
)
def test_a_copy_without_commits_has_the_version_that_was_written_into_it(
    copy: Path, written: str | None, version: str
) -> None:
    if written is not None:
        (copy / "referee" / "version.txt").write_text(f"{written}\n", encoding="latin-1")

    assert version_of(copy) == version
