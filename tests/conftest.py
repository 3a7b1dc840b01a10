"""What holds for all tests: their order, who runs them, and that the processes they start can be interrupted."""

import gc
import signal
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests.lanes import Lanes

FIRST = (  # folders
    *("end_to_end", "browser", "service", "cli", "deploy", "bench", "tools", "upgrade", "api"),
    *("tournaments", "matches", "ladders", "webhooks", "db", "bots", "accounts", "workers"),
)
settings.register_profile("tests", deadline=None, max_examples=50)  # by default, a slow machine fails tests
settings.load_profile("tests")
pytest_plugins = ("tests.database.fixtures",)


def pytest_configure() -> None:
    """Restore Ctrl-C: a shell lets its background processes ignore it, and their children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long as a whole comes first, so that at the end no process of the test run is left alone with it."""
    places = {folder: place for place, folder in enumerate(FIRST)}
    items[:] = take_one_value_on_postgresql(items)
    items.sort(key=lambda item: places.get(item.path.parent.name, len(FIRST)))


def take_one_value_on_postgresql(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests without the repetitions of a test on PostgreSQL with other values of its parameters."""
    taken: set[str] = set()
    kept = []
    for item in items:
        test = item.nodeid.partition("[")[0]
        on_postgresql = isinstance(item, pytest.Function) and "postgresql" in parameters_of(item)
        if not on_postgresql or test not in taken:
            kept.append(item)
        if on_postgresql:
            taken.add(test)
    return kept


def parameters_of(item: pytest.Function) -> list[object]:
    """Return the parameters of the fixtures that choose a database."""
    found = item.callspec.params if hasattr(item, "callspec") else {}
    return [found[name] for name in ("url", "empty_url") if name in found]


def pytest_collection_finish() -> None:
    """The tests themselves stay to the end: nobody need look through them for garbage again and again."""
    gc.collect()
    gc.freeze()


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
