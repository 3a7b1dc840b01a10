"""Another version of the service with the same schema, from the history of the checkout."""

import subprocess
import tarfile
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
MIGRATIONS = "referee/db/migrations/versions"


class NoOtherVersion(Exception):
    """Raised if the history has no version to run beside this one; the message says why."""


class OtherVersion(NamedTuple):
    """Hold a version that was unpacked."""

    commit: str
    title: str
    checkout: Path


def unpack_oldest(folder: Path) -> OtherVersion:
    """Unpack the oldest version of the main line that has the current schema. Raise ``NoOtherVersion`` without one."""
    if not (ROOT / ".git").exists():
        raise NoOtherVersion("this is not a checkout of git")
    commit = _git("log", "--first-parent", "-1", "--format=%H", "--", MIGRATIONS).decode().strip()
    head = _git("rev-parse", "HEAD").decode().strip()
    if commit == head:
        raise NoOtherVersion("the newest commit changed the schema, so no other version has it")
    folder.mkdir()
    with tarfile.open(fileobj=BytesIO(_git("archive", commit))) as archive:
        archive.extractall(folder, filter="data")
    title = _git("log", "-1", "--format=%h %s", commit).decode().strip()
    return OtherVersion(commit, title, folder)


def _git(*arguments: str) -> bytes:
    ran = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=False)
    if ran.returncode:
        raise NoOtherVersion(ran.stderr.decode(errors="replace").strip())
    return ran.stdout
