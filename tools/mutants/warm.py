"""Run tests on planted faults, each in a child process forked from this process, which has done the slow imports.

``python -m tools.mutants.warm`` runs in a copy of the project. It reads one job per line as JSON and writes one result
per line. It imports no module of the project itself, so that each child imports the module with the planted fault.
"""

import json
import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

import hypothesis
import hypothesis.strategies
import pytest

MEMORY_BYTES = 2 * 1024**3  # a fault may fill a list without end
NO_DATABASE = ["-p", "no:tests.database.fixtures"]  # it would import the rules before any test file does
PATIENCE = 20  # limit of wall time as a multiple of the limit of CPU time, for busy machines and tests that sleep


class Witness:
    """Remember the first test that failed, or the first file that could not be imported."""

    def __init__(self) -> None:
        self.failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            self.failed = f"import of {report.nodeid}"

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Run the tests in the order in which they were named."""
        places = {name: place for place, name in enumerate(config.args)}
        items.sort(key=lambda item: places.get(item.nodeid, 0))


def main() -> int:
    sys.dont_write_bytecode = True
    warm_up()
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(run(**job)), flush=True)
    return 0


def warm_up() -> None:
    """Import everything that pytest imports at its first use."""
    run_tests([__file__])
    assert hypothesis.strategies


def run(arguments: list[str], cpu_s: float, *, rules: bool) -> dict[str, Any]:
    """Run these tests in a child process, and kill the processes that they leave behind.

    Return ``cpu_s`` and, as ``caught``, the first test that failed or "".
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s) + 1, int(cpu_s) + 2))
        if rules:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        signal.alarm(int(cpu_s * PATIENCE) + 1)
        os.write(writing, run_tests([*NO_DATABASE, *arguments] if rules else arguments).encode())
        os._exit(0)
    os.close(writing)
    _, status, used = os.wait4(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    with os.fdopen(reading) as result:  # what it wrote fits into the pipe
        caught = result.read()
    seconds = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status):
        ended = os.WTERMSIG(status)
        too_long = ended in (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM)
        caught = "time limit" if too_long else f"signal {ended}"
    elif os.WEXITSTATUS(status):
        caught = f"end of the process with {os.WEXITSTATUS(status)}"
    return {"caught": caught, "cpu_s": seconds}


def run_tests(arguments: list[str]) -> str:
    """Run these tests in this process without output. Return the first test that failed, or ""."""
    witness = Witness()
    with open(os.devnull, "w") as nowhere:  # opened before pytest begins to capture output
        out, err = os.dup(1), os.dup(2)
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        # Use plain asserts, because rewriting them takes longer than running the tests.
        plain = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain"]
        code = pytest.main([*plain, *arguments], plugins=[witness])
        os.dup2(out, 1)
        os.dup2(err, 2)
    if witness.failed or code == pytest.ExitCode.OK:
        return witness.failed
    return f"pytest: {pytest.ExitCode(code).name.lower()}"


if __name__ == "__main__":
    sys.exit(main())
