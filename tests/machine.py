"""Programs of the machine that tests need: found in a version that is new enough, or the test is skipped.

``tests/conftest.py`` counts skipped tests under NOT RUN, with the reason.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache

import pytest


def require(
    name: str, purpose: str, least: str = "", *, asked: str = "--version", places: Sequence[str | None] = ()
) -> str:
    """Return the path of a program: the first in ``places`` or in PATH whose version is ``least`` or newer.

    Skip the test if there is none; the reason says what is wanted and what was found. ``asked`` is the argument with
    which the program shows its version.
    """
    paths = [path for path in (*places, shutil.which(name)) if path]
    versions = {path: version_of(path, asked) if least else () for path in paths}
    suitable = [path for path, version in versions.items() if version is not None and version >= numbers(least)]
    if suitable:
        return suitable[0]
    found = ", ".join(f"{path} is {dotted(version)}" for path, version in versions.items())
    wanted = f"{name} {least} or newer" if least else name
    pytest.skip(f"NOT RUN: {purpose}: no {wanted}{f' ({found})' if found else ''}")


@cache
def version_of(path: str, asked: str) -> tuple[int, ...] | None:
    """Return the version of a program, None if it does not show one."""
    try:
        ran = subprocess.run([path, asked], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"\d+(\.\d+)+", ran.stdout + ran.stderr)
    return numbers(found[0]) if found else None


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def dotted(version: tuple[int, ...] | None) -> str:
    return ".".join(map(str, version)) if version else "of no known version"
