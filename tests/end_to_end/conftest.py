"""One service for the tests of a file, which leave its matches finished and its database as it should be."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.bots import Bots
from tests.end_to_end.service import Service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("service")) as service:
        yield service


@pytest.fixture(scope="module")
def bots(service: Service) -> Iterator[Bots]:
    """Start Redis and a scheduler for two bots."""
    with Bots() as bots:
        service.begin(bots, latency_ms=20)
        yield bots
