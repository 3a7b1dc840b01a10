"""Find the browsers of the browser tests; ``python tests/browser/chromium.py`` installs those that are missing.

The Chromium is searched for on PATH and among Playwright's; its headless shell comes first, since the tests with it
take two thirds of the time. Without any, or without a Firefox, the tests that need it are skipped. A missing one is
installed: on Debian by apt as root (or through sudo without a password), else by Playwright. Standard library only,
since every test run needs it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

FIREFOX_NAMES = ("firefox-esr", "firefox")
SHELL_NAMES = ("chromium-headless-shell", "chrome-headless-shell")
NAMES = (*SHELL_NAMES, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SNAP = b"snap"  # Ubuntu's /usr/bin/chromium-browser is a script that only asks for its snap
CACHES = ("~/.cache/ms-playwright", "~/Library/Caches/ms-playwright")
LEAST_CHROMIUM, LEAST_FIREFOX = "111", "121"  # the pages use color-mix() and :has()
WITHIN = ("chrome-linux*/chrome", "chrome-mac*/Chromium.app/Contents/MacOS/Chromium")
WITHIN_SHELL = ("chrome-headless-shell-*/chrome-headless-shell", "chrome-linux*/headless_shell")
HELP = """THERE IS NO CHROMIUM, which the tests of the pages and make gallery need. Do one of these and try again:
  as root on Debian:        apt-get install chromium-headless-shell
  with a network at hand:   .venv/bin/playwright install --with-deps chromium
  or put a chromium, chromium-browser or google-chrome on PATH"""


def found() -> str | None:
    """Return the path of a Chromium, None if there is none."""
    return _on_path(NAMES, "chromium") or next(_of_playwright(), None)


def find_firefox() -> str | None:
    """Return the path of a Firefox, None if there is none."""
    return _on_path(FIREFOX_NAMES, "firefox")


def _on_path(names: Sequence[str], snap: str) -> str | None:
    """Return the first of these programs that is not a script that asks for a snap that is missing."""
    for path in filter(None, map(shutil.which, names)):
        with open(path, "rb") as file:
            start = file.read(4096)
        if not (start.startswith(b"#!") and SNAP in start) or Path(f"/snap/bin/{snap}").exists():
            return path
    return None


def _of_playwright() -> Iterator[str]:
    """Return the browsers that ``playwright install`` installed, newest first."""
    chosen = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    for cache in [Path(chosen)] if chosen else [Path(cache).expanduser() for cache in CACHES]:
        for kind, patterns in (("chromium_headless_shell-*", WITHIN_SHELL), ("chromium-*", WITHIN)):
            for folder in sorted(cache.glob(kind), reverse=True):
                for pattern in patterns:
                    yield from map(str, folder.glob(pattern))


def find_shell() -> str | None:
    """Return the path of a Chromium that is a headless shell, None if there is none."""
    path = found()
    return path if path and Path(path).name in (*SHELL_NAMES, "headless_shell") else None


def install() -> bool:
    """Try to install a headless shell, or any Chromium if there is none; return whether there is one now."""
    playwright = [sys.executable, "-m", "playwright", "install"]
    own = [[[*playwright, *options, "chromium"]] for options in (["--with-deps"], [])]
    return (
        any(runs(*way) and find_shell() for way in _apt_ways(SHELL_NAMES[0]))
        or found() is not None
        or any(runs(*way) and found() is not None for way in own)
    )


def install_firefox() -> bool:
    """Try to install a Firefox as a package; return whether there is one now."""
    return any(runs(*way) and find_firefox() is not None for way in _apt_ways("firefox-esr"))


def _apt_ways(package: str) -> Iterator[list[list[str]]]:
    """Return the ways by apt, each a list of commands that must all succeed."""
    prefix = as_root()
    if prefix is not None and shutil.which("apt-get") and _is_debian():
        apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
        install_package = [*apt, "install", "-y", "--no-install-recommends", package]
        yield [install_package]  # with the lists of packages that are there
        yield [[*apt, "update"], install_package]


def as_root() -> list[str] | None:
    """Return the prefix of commands that root must run; None if this user cannot run them."""
    if os.geteuid() == 0:
        return []
    sudo = ["sudo", "-n"]
    return sudo if shutil.which("sudo") and runs([*sudo, "true"]) else None


def _is_debian() -> bool:
    """Return whether this is Debian itself: Ubuntu's package is empty and requires snap."""
    try:
        return "ID=debian" in Path("/etc/os-release").read_text().splitlines()
    except OSError:
        return False


def runs(*commands: Sequence[str]) -> bool:
    return all(subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0 for command in commands)


def extract_program(packages: Sequence[str], target: Path, program: Path, shows_version: str) -> bool:
    """Download one of these packages with apt and extract it to ``target``. Return whether its program starts.

    Nothing is installed. Remove ``target`` if the program does not start.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in packages:
            subprocess.run(["apt-get", "-qq", "-o", "APT::Sandbox::User=", "download", name], cwd=folder, check=False)
            for package in Path(folder).glob(f"{name}_*.deb"):
                runs(["dpkg-deb", "-x", str(package), str(target)])
            if program.exists() and runs([str(program), shows_version]):
                return True
    shutil.rmtree(target, ignore_errors=True)
    return False


def provide(
    what: str, find: Callable[[], str | None], install: Callable[[], bool], *, purpose: str, advice: str
) -> None:
    """Install a program if there is none, and say so. If it fails, show ``advice``: the tests go on without it."""
    if find() is not None:
        return
    print(f"no {what} here: {purpose}", flush=True)
    if not install():
        print(advice, file=sys.stderr)


def main() -> None:
    purpose = "installing one for the browser tests"
    lost = "NO FIREFOX COULD BE INSTALLED: the tests with it will be skipped"
    provide("Firefox", find_firefox, install_firefox, purpose=purpose, advice=lost)
    provide("headless Chromium", find_shell, install, purpose=purpose, advice=HELP)


if __name__ == "__main__":
    main()
