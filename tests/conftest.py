"""What holds for all tests: their order, who runs them, and that the processes they start can be interrupted."""

import asyncio
import gc
import inspect
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.lanes import Lanes

FIRST = (  # folders
    *("end_to_end", "browser", "service", "cli", "deploy", "bench", "tools", "api"),
    *("tournaments", "matches", "ladders", "notifications", "db", "bots", "accounts", "workers"),
)
SAMPLED = ("tournaments", "ladders", "workflows", "friendlies", "notifications")  # folders
RACES = (  # files about what transactions do to each other
    *("test_deletion_races", "test_match_end", "test_pausing", "test_ratings", "test_two_schedulers"),
    "test_void_proposals",
)
settings.register_profile("tests", deadline=None, max_examples=50)  # by default, a slow machine fails tests
settings.load_profile("tests")
gc.disable()  # until all tests are collected
pytest_plugins = ("tests.database.fixtures",)


def pytest_configure() -> None:
    """Restore Ctrl-C: a shell lets its background processes ignore it, and their children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before tests with the mark ``long`` are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long as a whole comes first, so that at the end no process of the test run is left alone with it."""
    places = {folder: place for place, folder in enumerate(FIRST)}
    leave_to_long_runs([item for item in items if runs_on_postgresql(item)])
    items.sort(key=lambda item: places.get(item.path.parent.name, len(FIRST)))


def runs_on_postgresql(item: pytest.Item) -> bool:
    """Return whether the fixture of a database that is to be either system gives this test PostgreSQL."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return "postgresql" in (parameters.get("url"), parameters.get("empty_url"))


def leave_to_long_runs(on_postgresql: list[pytest.Item]) -> None:
    """Mark repetitions of a test with other values, and of the tests of some folders all but every third one.

    They cost twice as much as on SQLite, where all of them run; what remains still executes the statements of an area.
    """
    numbers: dict[Path, dict[str, int]] = {}
    for item in on_postgresql:
        known = numbers.setdefault(item.path, {})
        test = item.nodeid.partition("[")[0]
        is_sampled = item.path.parent.name in SAMPLED and item.path.stem not in RACES
        if test in known or (is_sampled and len(known) % 3):
            item.add_marker("long")
        known.setdefault(test, len(known))


def pytest_collection_finish() -> None:
    """The tests themselves stay to the end: nobody need look through them for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine, in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="session", autouse=True)
def _own_config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's tokens and the width of their terminal out of the tests, and ours out of the user's files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COLUMNS", raising=False)  # pytest-xdist sets it
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Lanes:
    return Lanes(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count loudly the tests that were skipped, each because a part is missing on this machine."""
    reasons = [str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", [])]
    missing = Counter(reason.removeprefix("Skipped: ") for reason in reasons)
    if missing:
        terminalreporter.section("NOT RUN", red=True, bold=True)
        for reason, count in missing.most_common():
            terminalreporter.write_line(f"{count} tests: {reason}")
