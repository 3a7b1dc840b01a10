"""One service with all its processes for the files of ``tests.lanes.RUNNING_HALL``, which one process runs."""

from collections.abc import Iterator

import pytest

from tests.cli.hall import RunningHall, hall


@pytest.fixture(scope="session")
def running_hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHall]:
    with hall(tmp_path_factory.mktemp("hall")) as opened:
        yield opened
