"""The tests of the core pass in a copy of the project without extras: without all of them, and without some alone."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import referee_extras
from tests.cli.running import surroundings

ROOT = Path(__file__).parents[2]
LEFT_OUT = (  # what shows, installs, describes, measures or lists extras, and tests of their absence
    *("browser", "end_to_end", "deploy", "bench", "tools", "test_docs.py", "test_threats.py", "test_types.py"),
    *("test_enums.py", "extras/test_core_tests.py", "extras/test_without.py"),
)
OF_SERVICES = ("api", "extras", "workflows")  # folders of tests in which extras can meet each other
# Without the finder of an editable installation, which would find the folders that the copy lacks.
SITE = 'import sys\n\nsys.meta_path = [finder for finder in sys.meta_path if "editable" not in repr(finder)]\n'
LISTS = (referee_extras.EXTRAS, referee_extras.LIBRARIES)
ALL = (*LISTS[0], *LISTS[1])

pytestmark = pytest.mark.long


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a copy of the project."""
    environment = surroundings(PYTHONPATH=str(folder))
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def copy_without(names: tuple[str, ...], folder: Path) -> None:
    """Copy the project, and delete these extras: their folders, those of their tests, and their names in the list."""
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True)
    for path in listed.splitlines():
        if (ROOT / path).exists():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
    for name in names:
        shutil.rmtree(folder / "referee_extras" / name)
        shutil.rmtree(folder / "tests/extras" / name)
    kept = [tuple(name for name in listed if name not in names) for listed in LISTS]
    (folder / "referee_extras/__init__.py").write_text(f"EXTRAS, LIBRARIES = {kept}\n")
    (folder / "sitecustomize.py").write_text(SITE)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)  # some tests ask it for the files of the project
    (folder / "openapi.yaml").write_text(run(folder, "-m", "api.openapi").stdout)


@pytest.mark.parametrize(
    ("names", "folders"),
    [(ALL, [""]), (("series",), OF_SERVICES), (("notifications",), OF_SERVICES), (("pictures",), OF_SERVICES)],
    ids=["all", "series", "notifications", "pictures"],
)
def test_the_tests_of_the_core_pass_without(names: tuple[str, ...], folders: list[str], tmp_path: Path) -> None:
    copy_without(names, tmp_path)
    chosen = [f"tests/{name}" for name in folders] + [f"--ignore=tests/{path}" for path in LEFT_OUT]
    shared = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]

    ran = run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", *shared, *chosen)

    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
