"""A disk that is really full: a small file system in memory."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.machine import require


@contextmanager
def mounted(folder: Path, *, mib: int) -> Iterator[Path]:
    """Mount a file system of this size on a new folder. Skip the test, loudly, where only root may do that."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={mib}m"]
    program = require("mount", "a disk that is really full")
    result = subprocess.run([program, *options, "none", str(folder)], capture_output=True, text=True, check=False)
    if result.returncode:
        pytest.skip(f"NOT RUN: a disk that is really full, which needs root ({result.stderr.strip()})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Write until nothing fits any more."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (65_536, 512, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler
