"""Wall clocks that differ between hosts: a library, built with the C compiler, shifts that of a process.

libfaketime is not used, because ``time.sleep`` of Python does not return under it.
"""

import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("clock_shift.c")


class NoShift(Exception):
    """Raised if clocks cannot be shifted here; the message says why."""


def build_library(folder: Path) -> Path:
    """Compile the library and return its path. Raise ``NoShift`` if it cannot be built or has no effect."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise NoShift("no C compiler (cc) was found")
    library = folder / "clock_shift.so"
    built = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(SOURCE)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if built.returncode:
        raise NoShift(f"cc failed: {built.stderr.strip()[-300:]}")
    _check_effect(library)
    return library


def shift_settings(library: Path, seconds: int) -> dict[str, str]:
    """Return the environment of a process whose wall clock is ahead by ``seconds``."""
    return {"LD_PRELOAD": str(library), "CLOCK_SHIFT_S": str(seconds)}


def _check_effect(library: Path) -> None:
    program = "import time, datetime; print(time.time(), datetime.datetime.now().timestamp(), time.monotonic())"
    right, shifted = (
        [
            float(word)
            for word in subprocess.run(
                [sys.executable, "-c", program],
                env=shift_settings(library, seconds),
                capture_output=True,
                text=True,
                check=True,
            ).stdout.split()
        ]
        for seconds in (0, 1000)
    )
    ahead = [round((after - before) / 1000) for before, after in zip(right, shifted, strict=True)]
    if ahead != [1, 1, 0]:
        raise NoShift(f"clocks shifted by 1000 s were ahead by {ahead} thousand seconds")
