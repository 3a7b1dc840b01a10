"""Record which tests run which lines of the product in a copy of the project, and how long each test takes.

As a plugin of pytest, this module writes the times, and has coverage follow the processes that tests start. Such a
process may serve all tests of a file, so its lines count for each of them.
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import coverage
import pytest

SETTINGS = """[run]
data_file = {folder}/.coverage
source = {sources}
context = ${{PYTEST_CURRENT_TEST-}}
parallel = true
patch = _exit, fork
sigterm = true
disable_warnings = no-data-collected
"""
SETTINGS_NAME, TIMES_NAME = "mutants.coveragerc", "mutants-times.json"

_times: dict[str, float] = defaultdict(float)
_failed: set[str] = set()


def record(folder: Path, sources: Sequence[str], arguments: Sequence[str]) -> None:
    """Run pytest with these arguments, and write what ``LineCoverage`` reads."""
    settings = folder / SETTINGS_NAME
    paths = ",".join(str(folder / source) for source in sources)
    settings.write_text(SETTINGS.format(folder=folder, sources=paths))
    covered = [f"--cov-config={settings}", "--cov", "--cov-context=test", "--cov-report="]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.mutants.line_coverage", *covered, *arguments]
    surroundings = {**os.environ, "PYTHONPATH": str(folder)}
    surroundings.pop("PYTEST_CURRENT_TEST", None)  # of a test of this tool
    subprocess.run(command, cwd=folder, env=surroundings, check=False)


def pytest_runtest_setup() -> None:
    """Have the processes that the test starts measure themselves, but not those of the run of the tests."""
    os.environ["COVERAGE_PROCESS_START"] = str(Path(__file__).parent.parent.parent / SETTINGS_NAME)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _times[report.nodeid] += report.duration
    if not report.passed:
        _failed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        times = {test: took for test, took in _times.items() if test not in _failed}
        (session.config.rootpath / TIMES_NAME).write_text(json.dumps(times))


class LineCoverage:
    """Answer which tests run a line. Tests that failed without a fault are left out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.times: dict[str, float] = json.loads((folder / TIMES_NAME).read_text())
        self._data = coverage.CoverageData(str(folder / ".coverage"))
        self._data.read()
        self._of_file: dict[str, set[str]] = defaultdict(set)
        for test in self.times:
            self._of_file[test.partition("::")[0]].add(test)

    def tests_of(self, path: str, line: int) -> set[str]:
        """Return the tests that run this line, themselves or in a process that their file has started.

        What runs at import runs before any test: then return the tests that run any line of the file.
        """
        by_line = self._data.contexts_by_lineno(str(self.folder / path))
        named = self._tests_named(by_line.get(line, []))
        if named or line not in by_line:
            return named
        return self._tests_named(context for contexts in by_line.values() for context in contexts)

    def _tests_named(self, contexts: Iterable[str]) -> set[str]:
        found: set[str] = set()
        for context in contexts:
            if context.endswith(")"):  # "tests/test_file.py::test_name (call)", of a process
                found |= self._of_file[context.partition("::")[0]]
            else:  # "tests/test_file.py::test_name|run"
                found.add(context.rpartition("|")[0])
        return found & self.times.keys()
