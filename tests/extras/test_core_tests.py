"""The tests of the core pass in a copy of the project without extras: without all of them, and without some alone."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import referee_extras
from tests.cli.running import surroundings

ROOT = Path(__file__).parents[2]
PARTS = (
    *("referee", "referee_extras", "api", "workers", "tests", "bots", "bench", "tools", "deploy", "docs", "examples"),
    *("pyproject.toml", "README.md", "requirements.lock", "requirements-dev.lock", "openapi.yaml"),
)
LEFT_OUT = (  # tests of documents, packages and whole services, where extras are described, installed or shown
    *("browser", "end_to_end", "deploy", "bench", "tools", "words", "extras/test_core_tests.py"),
    *("extras/test_without.py", "test_docs.py", "test_words.py", "test_threats.py", "test_types.py", "test_layers.py"),
)
# Without the finder of an editable installation, which would find the folders that the copy lacks.
RUN = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
import pytest
sys.exit(pytest.main())
"""
LISTS = (referee_extras.EXTRAS, referee_extras.LIBRARIES)
ALL = (*LISTS[0], *LISTS[1])

pytestmark = pytest.mark.long


def copy_without(names: tuple[str, ...], folder: Path) -> None:
    """Copy the project, and delete these extras: their folders, those of their tests, and their names in the list."""
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        else:
            shutil.copy(source, folder / part)
    for name in names:
        shutil.rmtree(folder / "referee_extras" / name)
        shutil.rmtree(folder / "tests/extras" / name)
    kept = [tuple(name for name in listed if name not in names) for listed in LISTS]
    (folder / "referee_extras/__init__.py").write_text(f"EXTRAS, LIBRARIES = {kept}\n")


@pytest.mark.parametrize("names", [ALL, ("series",), ("notifications",), ("pictures",)], ids=lambda names: names[0])
def test_the_tests_of_the_core_pass_without(names: tuple[str, ...], tmp_path: Path) -> None:
    copy_without(names, tmp_path)
    ignored = [f"--ignore=tests/{path}" for path in LEFT_OUT]

    ran = subprocess.run(
        [sys.executable, "-c", RUN, "-q", "-p", "no:cacheprovider", "tests", *ignored],
        cwd=tmp_path,
        env=surroundings(PYTHONPATH=str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
