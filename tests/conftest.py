"""The order of the tests: files that start processes and wait for them come first, so that at the end no process of
the test run is left alone with one of them."""

import pytest

FIRST = ("end_to_end", "cli", "deploy", "bench", "mutants", "api", "store", "workers")  # folders


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {folder: place for place, folder in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.path.parent.name, len(FIRST)))
