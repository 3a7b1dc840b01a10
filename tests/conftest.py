"""What holds for all tests: their order, and that the processes they start can be interrupted."""

import signal

import pytest

FIRST = ("end_to_end", "cli", "deploy", "bench", "mutants", "api", "store", "workers")  # folders


def pytest_configure() -> None:
    """A shell lets what it starts in the background ignore Ctrl-C, and whoever is started from there inherits it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start processes and wait for them come first, so that at the end no process of the test run is left
    alone with one of them."""
    places = {folder: place for place, folder in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.path.parent.name, len(FIRST)))
