"""One service with all its processes, for the commands that need more of it than the API."""

from collections.abc import Iterator

import pytest

from tests.cli.hall import RunningHall, hall


@pytest.fixture(scope="package")
def running_hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHall]:
    with hall(tmp_path_factory.mktemp("hall")) as opened:
        yield opened
