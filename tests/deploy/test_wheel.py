"""The wheel: it contains all files of the packages, the documents and the starter bots, and runs without a checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

import httpx
import pytest

from referee.version import RELEASE
from tests.deploy.compose import ROOT
from tests.deploy.processes import PATIENCE_S, environment_here, free_port, process, until
from tests.deploy.test_version import commit, git, version_of

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
    """Return a checkout of the project, with one commit, without anything that was installed or built."""
    copy = tmp_path_factory.mktemp("tree")
    for name in project_files():
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
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("build_wheel", tree, tmp_path_factory.mktemp("wheel"))


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


def test_an_archive_of_the_sources_builds_the_same_wheel(tree: Path, wheel: Path, version: str, tmp_path: Path) -> None:
    sources = build("build_sdist", tree, tmp_path / "sdist")
    shutil.unpack_archive(sources, tmp_path / "sources", filter="data")
    (extracted,) = (tmp_path / "sources").iterdir()

    assert contents(build("build_wheel", extracted, tmp_path / "wheel")) == contents(wheel)
    assert version_of(extracted) == version
    assert not (extracted / "tests").exists()


# -- installed --


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of programs of a new environment with the wheel, and with the libraries of this one.

    A path in a .pth file adds the libraries alone: the .pth files there, such as that of an editable installation, are
    not read.
    """
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, symlinks=True)
    programs = home / "bin"
    command = [sys.executable, "-m", "pip", "--isolated", "--python", str(programs / "python"), "install", "--no-deps"]
    subprocess.run([*command, "--no-index", "--no-compile", str(wheel)], check=True, capture_output=True)
    (libraries,) = home.glob("lib/python*/site-packages")
    (libraries / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """Return an empty folder to run commands in."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def settings_of(installed: Path, empty: Path) -> dict[str, str]:
    """Return an environment in which only the installed package can be found."""
    path = f"{installed}:{os.environ['PATH']}"
    return environment_here(PATH=path, REFEREE_DATA=str(empty / "data"), PYTHONSAFEPATH="", PYTHONPATH="")


def run(installed: Path, empty: Path, *command: str) -> str:
    settings = settings_of(installed, empty)
    ran = subprocess.run(
        [str(installed / command[0]), *command[1:]],
        cwd=empty,
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_it_is_imported_from_where_it_is_installed(installed: Path, empty: Path) -> None:
    found = run(installed, empty, "python", "-c", "import referee, api; print(referee.__file__, api.__file__)")

    assert all(Path(file).is_relative_to(installed.parent) for file in found.split())


def test_its_command_and_its_metadata_have_the_version_of_the_checkout(
    installed: Path, empty: Path, version: str
) -> None:
    metadata = run(
        installed, empty, "python", "-c", "from importlib import metadata; print(metadata.version('referee'))"
    )

    assert metadata == f"{version}\n"
    assert run(installed, empty, "referee", "--version") == f"referee, version {version}\n"


def test_a_starter_bot_from_it_plays_a_match(installed: Path, empty: Path) -> None:
    assert run(installed, empty, "referee", "rules", "pool-nap") == (ROOT / "docs/games/pool-nap.md").read_text()

    run(installed, empty, "referee", "new-bot", "mybot")
    said = run(installed, empty, "referee", "play", "saint-poker", "mybot", "house:3", "--seed", "1")

    assert "mybot" in said


def test_its_service_has_all_pages_and_files_and_says_its_version_everywhere(
    installed: Path, empty: Path, version: str
) -> None:
    port = free_port()
    site = f"http://127.0.0.1:{port}"
    settings = settings_of(installed, empty)

    with (
        process(f"{installed}/referee up --port {port} --workers 1", settings, empty) as up,
        httpx.Client(base_url=site, trust_env=False, timeout=PATIENCE_S) as client,
    ):
        until(lambda: is_ready(client))
        shown = {path: client.get(path) for path in ("/", "/guides/checking", "/games/pool-nap", "/docs", "/replay")}
        linked = {path for page in shown.values() for path in re.findall(r'(?:src|href)="(/static/[^"#]+)"', page.text)}
        files = {path: client.get(path) for path in linked}
        ready = client.get("/readyz").json()
        run(installed, empty, "referee", "admin", "backup", "backup.tar")
        up.terminate()
        up.wait(PATIENCE_S)

    assert {path: page.status_code for path, page in shown.items() if page.status_code != 200} == {}
    assert "Pool Nap" in shown["/games/pool-nap"].text
    assert len(files) > 10
    assert {path: file.status_code for path, file in files.items() if file.status_code != 200} == {}
    assert ready["version"] == version
    assert f"of Referee {version}:" in run(installed, empty, "referee", "admin", "backup", "--check", "backup.tar")
    for name in ("api", "worker-1", "scheduler"):
        started = json.loads((empty / "data" / "logs" / f"{name}.log").read_text().partition("\n")[0])
        assert (started["event"], started["version"]) == ("process_started", version)


def is_ready(client: httpx.Client) -> bool:
    try:
        return bool(client.get("/readyz").json()["status"] == "ok")
    except (httpx.TransportError, ValueError):
        return False
