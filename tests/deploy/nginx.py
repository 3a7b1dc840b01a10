"""Find the nginx of the tests; ``python -m tests.deploy.nginx`` puts one into the environment if there is none.

On Debian and Ubuntu, apt downloads the package of the distribution, and it is extracted into the environment: nothing
is installed or started, and only updating the lists of packages needs root.
"""

import os
import shutil
import sys
from pathlib import Path

from tests.browser.chromium import as_root, extract_program, provide, runs

TARGET = Path(sys.prefix) / "nginx"
PROGRAM = TARGET / "usr" / "sbin" / "nginx"
PACKAGES = ("nginx", "nginx-core")  # Ubuntu had the program in the second one
HELP = """THERE IS NO NGINX, which the tests of the proxy need. Do one of these and try again:
  on Debian or Ubuntu:      apt-get update, then make nginx
  elsewhere:                put nginx on PATH, or its path into REFEREE_NGINX"""


def found() -> str | None:
    """Return the path of an nginx, None if there is none."""
    named = os.environ.get("REFEREE_NGINX")
    places = (named, shutil.which("nginx"), "/usr/sbin/nginx", str(PROGRAM))
    return next((path for path in places if path and os.access(path, os.X_OK)), None)


def install() -> bool:
    """Download and extract the package, with the lists of packages that are there, then with new ones."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return False
    prefix = as_root()
    if _extract():
        return True
    return prefix is not None and runs([*prefix, "apt-get", "-qq", "update"]) and _extract()


def _extract() -> bool:
    return extract_program(PACKAGES, TARGET, PROGRAM, "-v")


if __name__ == "__main__":
    provide("nginx", found, install, purpose="downloading one for the tests of the proxy", advice=HELP)
