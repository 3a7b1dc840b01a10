"""Another version of the service with the same schema, from the history of the checkout."""

import subprocess
import tarfile
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
MIGRATIONS = "referee/db/migrations/versions"
TABLES = ":(glob)referee/**/tables.py"  # the first migration creates what the models declare


class NoOtherVersion(Exception):
    """Raised if the history has no version to run beside this one; the message says why."""


class OtherVersion(NamedTuple):
    """Hold a version that was unpacked."""

    commit: str
    title: str
    checkout: Path


def unpack_oldest(folder: Path) -> OtherVersion:
    """Unpack the oldest version of the main line that has the current schema. Raise ``NoOtherVersion`` without one."""
    commit, *_ = _list_commits_changing(MIGRATIONS, TABLES)
    if commit == _git("rev-parse", "HEAD").decode().strip():
        raise NoOtherVersion("the newest commit changed the schema, so no other version has it")
    return _unpack(commit, folder)


def unpack_previous_schema(folder: Path) -> OtherVersion:
    """Unpack the newest version of the main line whose migrations are the first ones of the current version.

    Raise ``NoOtherVersion`` if there is none.
    """
    current = _read_migrations("HEAD")
    for commit in _list_commits_changing(MIGRATIONS):
        earlier = _read_migrations(commit)
        if earlier < current:
            return _unpack(commit, folder)
    raise NoOtherVersion("no version of the main line has a schema from which the current one follows")


def _list_commits_changing(*paths: str) -> list[str]:
    """Return the commits of the main line that changed one of these paths, newest first."""
    if not (ROOT / ".git").exists():
        raise NoOtherVersion("this is not a checkout of git")
    found = _git("log", "--first-parent", "--format=%H", "--", *paths).decode().split()
    if not found:
        raise NoOtherVersion("the checkout has no history")
    return found


def _read_migrations(commit: str) -> set[str]:
    """Return the names of the migrations of a version, each with the digest of its content."""
    return set(_git("ls-tree", commit, f"{MIGRATIONS}/").decode().splitlines())


def _unpack(commit: str, folder: Path) -> OtherVersion:
    folder.mkdir()
    with tarfile.open(fileobj=BytesIO(_git("archive", commit))) as archive:
        archive.extractall(folder, filter="data")
    title = _git("log", "-1", "--format=%h %s", commit).decode().strip()
    return OtherVersion(commit, title, folder)


def _git(*arguments: str) -> bytes:
    try:
        ran = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        raise NoOtherVersion("git is not installed") from None
    if ran.returncode:
        raise NoOtherVersion(ran.stderr.decode(errors="replace").strip())
    return ran.stdout
