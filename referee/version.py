"""Find the version of the program: the next release, the number of commits, and the commit.

A checkout asks git. ``setup.py`` and the Dockerfile write it to ``version.txt`` beside this file; `git archive` writes
the commit into this file. ``python3 referee/version.py`` prints it, with nothing installed.
"""

import re
import subprocess
from pathlib import Path

RELEASE = "0.2.0"  # the next one; alone, the version of house players, which would be new players at each commit
_PACKAGE = Path(__file__).resolve().parent
_GIT = _PACKAGE.parent / ".git"
_ARCHIVED = "$Format:%H$"  # `git archive` replaces it (.gitattributes)
_WRITTEN = re.compile(r"[0-9.]+\.dev[0-9]+[+-](g[0-9a-f]+|unknown)")  # the name of an image contains no plus sign
_TIMEOUT_S = 10.0


def find_version() -> str:
    """Return the version, such as ``0.2.0.dev1214+g64dbda5512``.

    The number is 0 where the commits cannot be counted, as in a shallow clone, and the commit is ``unknown`` without
    git. Changes that are not committed are not part of it.
    """
    if _GIT.exists():
        return _version_of_checkout()
    try:
        written = (_PACKAGE / "version.txt").read_text().strip()
    except (OSError, ValueError):
        written = ""
    if _WRITTEN.fullmatch(written):
        return written.replace("-", "+")
    return _compose("0", "" if "$" in _ARCHIVED else _ARCHIVED)


def _version_of_checkout() -> str:
    is_shallow, commit = _ask_git("rev-parse", "--is-shallow-repository", "HEAD") or ("", "")
    counted = _ask_git("rev-list", "--count", commit) if is_shallow == "false" else None
    return _compose(counted[0] if counted else "0", commit)


def _compose(commits: str, commit: str) -> str:
    return f"{RELEASE}.dev{commits}+{f'g{commit[:10]}' if commit else 'unknown'}"


def _ask_git(*arguments: str) -> list[str] | None:
    """Return the words of the answer, or None without one.

    Naming the repository prevents git from taking another one from the environment, and from refusing that of another
    user, whose program is running already.
    """
    command = ["git", "--git-dir", str(_GIT), *arguments]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)  # noqa: S603
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return ran.stdout.split()


if __name__ == "__main__":
    print(find_version())  # noqa: T201
