"""Pytest finds every file with tests, those of extras included."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("*.py"))


def has_tests(path: Path) -> bool:
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        for node in ast.parse(path.read_text()).body
    )


def test_every_file_with_tests_has_a_name_that_pytest_collects() -> None:
    assert [str(path) for path in FILES if has_tests(path) and not path.name.startswith("test_")] == []


def test_every_folder_with_tests_is_a_package_that_pytest_enters(pytestconfig: pytest.Config) -> None:
    folders = {folder for path in FILES if path.name.startswith("test_") for folder in path.parents}
    below = sorted(folder for folder in folders if TESTS in (folder, *folder.parents))
    ignored = pytestconfig.getini("norecursedirs")

    assert [str(folder) for folder in below if not (folder / "__init__.py").exists()] == []
    assert [str(folder) for folder in below if any(folder.match(pattern) for pattern in ignored)] == []
    assert pytestconfig.getini("testpaths") == ["tests"]
    assert [str(path) for path in TESTS.rglob("conftest.py") if "collect_ignore" in path.read_text()] == []
