"""The wheel: it contains all files of the packages, the documents and the starter bots, and runs without a checkout."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from fnmatch import fnmatch
from importlib.metadata import Distribution
from pathlib import Path

import httpx
import pytest

from referee.version import RELEASE
from tests.deploy.compose import ROOT
from tests.deploy.processes import PATIENCE_S, environment_here, free_port, process
from tests.deploy.test_version import commit, git, version_of
from tests.end_to_end.processes import until

PACKAGES = ("api", "referee", "referee_extras", "workers")
COPIED = ("docs/*.md", "docs/games/*.md", "bots/*/bot.*", "bots/*/go.mod")  # to referee/files
BUILD = "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"


def project_files() -> list[str]:
    """Return the files of the project that are, or would be, committed."""
    listed = git(ROOT, "ls-files", "-co", "--exclude-standard", "-z")
    return sorted(name for name in set(listed.split("\0")) if name and (ROOT / name).exists())


def build(hook: str, tree: Path, out: Path) -> Path:
    """Run a hook of the build backend in ``tree`` and return the only file that it writes to ``out``."""
    ran = subprocess.run(
        [sys.executable, "-c", BUILD, hook, str(out)], cwd=tree, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    (built,) = out.iterdir()
    return built


def contents(wheel: Path) -> dict[str, bytes]:
    """Return the files of a wheel except its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout of most of the project, with one commit, without anything that was installed or built."""
    copy = tmp_path_factory.mktemp("tree")
    others = ("bench/", "examples/", "tests/api/", "tests/browser/", "tests/extras/", "tests/games/", "tools/")
    for name in (name for name in project_files() if not name.startswith(others)):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name, follow_symlinks=False)
    git(copy, "init", "--quiet")
    commit(copy, "first")
    return copy


@pytest.fixture(scope="module")
def version(tree: Path) -> str:
    """Return the version of the checkout."""
    return f"{RELEASE}.dev1+g{git(tree, 'rev-parse', 'HEAD')[:10]}"


@pytest.fixture(scope="module")
def wheel(tree: Path, version: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from an archive of the sources, which was built from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.unpack_archive(build("build_sdist", tree, folder / "sdist"), folder / "sources", filter="data")
    (extracted,) = (folder / "sources").iterdir()
    assert version_of(extracted) == version
    assert not (extracted / "tests").exists()
    return build("build_wheel", extracted, folder / "wheel")


def test_the_project_has_no_symbolic_links() -> None:
    assert [name for name in project_files() if (ROOT / name).is_symlink()] == []


def test_it_contains_every_file_of_the_packages_and_what_they_read_from_elsewhere(wheel: Path, version: str) -> None:
    expected = {name: name for name in project_files() if name.split("/")[0] in PACKAGES}
    expected |= {f"referee/files/{name}": name for name in project_files() if any(map(fits(name), COPIED))}

    found = contents(wheel)

    assert found.pop("referee/version.txt") == f"{version}\n".encode()
    assert set(found) == set(expected)
    assert [name for name, source in expected.items() if found[name] != (ROOT / source).read_bytes()] == []


def fits(name: str) -> Callable[[str], bool]:
    """Return a function that tells whether a pattern, whose stars match no slash, fits the name."""
    return lambda pattern: fnmatch(name, pattern) and name.count("/") == pattern.count("/")


# -- installed --


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the content of the wheel, as installers unpack it."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.unpack_archive(wheel, folder, format="zip")
    return folder


@pytest.fixture
def settings(installed: Path, tmp_path: Path) -> dict[str, str]:
    """Return an environment in which the installed packages are found, and not those of the project."""
    return environment_here(REFEREE_DATA=str(tmp_path / "data"), PYTHONPATH=str(installed), PYTHONSAFEPATH="1")


def run(settings: dict[str, str], folder: Path, *arguments: str) -> str:
    command = [sys.executable, *arguments]
    ran = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_its_metadata_have_the_command_and_the_version_of_the_checkout(
    installed: Path, settings: dict[str, str], tmp_path: Path, version: str
) -> None:
    (metadata,) = Distribution.discover(name="referee", path=[str(installed)])
    (command,) = metadata.entry_points.select(group="console_scripts")

    assert metadata.version == version
    assert (command.name, command.value) == ("referee", "referee.cli:main")
    assert run(settings, tmp_path, "-m", "referee", "--version") == f"referee, version {version}\n"
    program = "from importlib.util import find_spec; print(*(find_spec(name).origin for name in ('referee', 'api')))"
    found = run(settings, tmp_path, "-c", program)
    assert all(Path(file).is_relative_to(installed) for file in found.split())


def test_a_starter_bot_from_it_plays_a_match(settings: dict[str, str], tmp_path: Path) -> None:
    program = "import sys; from referee.cli import main; from shlex import split\n"
    program += "for line in sys.argv[1:]: main(split(line), standalone_mode=line.startswith('play'))"
    commands = ("rules pool-nap", "new-bot mybot --json", "play saint-poker mybot house:3 --seed 1")

    said = run(settings, tmp_path, "-c", program, *commands)

    assert said.startswith((ROOT / "docs/games/pool-nap.md").read_text())
    assert re.search(r"^ +\d +mybot ", said, re.MULTILINE)


def test_its_service_has_all_pages_and_files_and_says_its_version_everywhere(
    settings: dict[str, str], tmp_path: Path, version: str
) -> None:
    port = free_port()
    with (
        process(f"{sys.executable} -m referee up --port {port} --workers 1", settings, tmp_path) as up,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=PATIENCE_S) as client,
    ):
        until(lambda: is_ready(client), "a service that is ready")
        shown = {path: client.get(path) for path in ("/", "/guides/checking", "/games/pool-nap", "/docs", "/replay")}
        linked = {path for page in shown.values() for path in re.findall(r'(?:src|href)="(/static/[^"#]+)"', page.text)}
        files = {path: client.get(path) for path in linked}
        ready = client.get("/readyz").json()
        up.terminate()
        up.wait(PATIENCE_S)

    assert {path: page.status_code for path, page in shown.items() if page.status_code != 200} == {}
    assert "Pool Nap" in shown["/games/pool-nap"].text
    assert len(files) > 10
    assert {path: file.status_code for path, file in files.items() if file.status_code != 200} == {}
    assert ready["version"] == version
    for name in ("api", "worker-1", "scheduler"):
        started = json.loads((tmp_path / "data" / "logs" / f"{name}.log").read_text().partition("\n")[0])
        assert (started["event"], started["version"]) == ("process_started", version)


def is_ready(client: httpx.Client) -> bool:
    try:
        return bool(client.get("/readyz").json()["status"] == "ok")
    except (httpx.TransportError, ValueError):
        return False
