"""Find promtool; ``python -m tests.metrics.promtool`` puts one into the environment if there is none.

On Debian and Ubuntu, apt downloads the package of Prometheus, and it is extracted into the environment: nothing is
installed or started.
"""

import os
import shutil
import sys
from pathlib import Path

from tests.browser.chromium import extract_program, provide

TARGET = Path(sys.prefix) / "prometheus"
PROGRAM = TARGET / "usr" / "bin" / "promtool"
LEAST = "2.42"  # the oldest version that was tried
HELP = """THERE IS NO PROMTOOL, which loads the alert rules in tests. Do one of these and try again:
  on Debian or Ubuntu:      apt-get update, then make promtool
  elsewhere:                put promtool on PATH, or its path into REFEREE_PROMTOOL"""


def found() -> str | None:
    """Return the path of a promtool, or None if there is none."""
    named = os.environ.get("REFEREE_PROMTOOL")
    places = (named, shutil.which("promtool"), str(PROGRAM))
    return next((path for path in places if path and os.access(path, os.X_OK)), None)


def install() -> bool:
    """Download the package of Prometheus and extract it to ``TARGET``. Return whether its promtool starts."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return False
    return extract_program(["prometheus"], TARGET, PROGRAM, "--version")


if __name__ == "__main__":
    provide("promtool", found, install, purpose="downloading one for the tests of the alert rules", advice=HELP)
