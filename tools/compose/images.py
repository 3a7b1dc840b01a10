"""Base images without a registry: made of the distribution's packages, under the names that our files use.

``debootstrap`` makes one file system with everything, once. A folder keeps it, and the wheels of the lock file.
"""

import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tools.compose.engine import run

IMAGES = Path(__file__).with_name("images")
ROOT = IMAGES.parent.parent.parent
SUITE: Final = "trixie"
PACKAGES: Final = (
    *("ca-certificates", "curl", "python3", "python3-pip", "nginx-light", "redis-server"),
    *("postgresql-17", "postgresql-client-17"),
)
PYTHON: Final = "313"  # of the suite
BASE = "referee-base"
VERSION_COMMANDS: Final = {
    "python": ["python3", "--version"],
    "nginx": ["nginx", "-v"],
    "redis": ["redis-server", "--version"],
    "postgres": ["/usr/lib/postgresql/17/bin/postgres", "--version"],
}


class Distribution:
    """Keep the file system and the wheels in ``folder``, and make images of them in an engine of our own."""

    def __init__(self, folder: Path, docker: Callable[..., str]) -> None:
        self.folder = folder
        self.docker = docker

    def prepare(self) -> str:
        """Make what is missing in the folder; return a sentence about it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        archive = self.folder / f"{SUITE}.tar"
        had = archive.exists()
        if not had:
            self._bootstrap(archive)
        wheels = self._download_wheels()
        return f"{SUITE} {'was there' if had else 'made'} ({archive.stat().st_size // 2**20} MiB), {wheels} wheels"

    def _bootstrap(self, archive: Path) -> None:
        tree = self.folder / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        included = f"--include={','.join(PACKAGES)}"
        command = ["debootstrap", "--variant=minbase", included, SUITE, str(tree)]  # of the default mirror
        run(command, {"DEBIAN_FRONTEND": "noninteractive"}, timeout_s=3600)
        pack_tree(tree, archive)
        shutil.rmtree(tree)

    def _download_wheels(self) -> int:
        wheels, lock = self.folder / "wheels", ROOT / "requirements.lock"
        wheels.mkdir(exist_ok=True)
        done = self.folder / "wheels-of.lock"  # the lock file whose wheels are complete
        if done.exists() and done.read_text() == lock.read_text():
            return len(list(wheels.glob("*.whl")))
        tag = sysconfig.get_platform().partition("-")[2].replace("-", "_")
        platforms = [f"--platform={kind}_{tag}" for kind in ("manylinux2014", "manylinux_2_17", "manylinux_2_28")]
        chosen = ["--only-binary=:all:", f"--python-version={PYTHON}", "--implementation=cp", *platforms]
        abis = [f"--abi={abi}" for abi in (f"cp{PYTHON}", "abi3", "none")]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *chosen, *abis]
        found = ["--find-links", str(wheels), "--dest", str(wheels), "--requirement", str(lock)]
        run([*command, *found], {})
        shutil.copy(lock, done)
        return len(list(wheels.glob("*.whl")))

    def build(self, workspace: Path) -> Iterator[str]:
        """Make an image for each name that Dockerfile and docker-compose.yml use, and say which version stands in."""
        self.docker("import", str(self.folder / f"{SUITE}.tar"), BASE)
        shutil.copytree(self.folder / "wheels", workspace / "wheels")
        for path in IMAGES.iterdir():
            shutil.copy(path, workspace)
        for name in find_base_images():
            kind = name.partition(":")[0]
            recipe = str(workspace / f"{kind}.Dockerfile")
            self.docker("build", "--quiet", "--tag", name, "--file", recipe, str(workspace))
            version = self.docker(
                "run", "--rm", "--entrypoint", VERSION_COMMANDS[kind][0], name, *VERSION_COMMANDS[kind][1:]
            )
            yield f"{name}: {version.strip()} of {SUITE}"


def pack_tree(tree: Path, archive: Path) -> None:
    """Write a file system to a tar file, without the downloads of its package manager."""
    for leftover in ("var/cache/apt/archives", "var/lib/apt/lists"):
        shutil.rmtree(tree / leftover, ignore_errors=True)
        (tree / leftover).mkdir()
    (tree / "etc/apt/sources.list").write_text("")  # there is no network to ask
    draft = archive.with_suffix(".draft")
    run(["tar", "-C", str(tree), "--one-file-system", "-cf", str(draft), "."], {}, timeout_s=1200)
    draft.rename(archive)


def find_python_image(checkout: Path) -> str:
    """Return the name of the image on which the Dockerfile of a checkout builds."""
    (name,) = re.findall(r"^FROM (\S+)$", (checkout / "Dockerfile").read_text(), re.MULTILINE)
    return str(name)


def find_base_images() -> list[str]:
    """Return the names of all images that Dockerfile and docker-compose.yml take from elsewhere."""
    named = [find_python_image(ROOT)]
    named += re.findall(r"^ +image: (\S+)$", (ROOT / "docker-compose.yml").read_text(), re.MULTILINE)
    return [name for name in dict.fromkeys(named) if not name.startswith("referee:")]
