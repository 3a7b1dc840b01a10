"""A service for each test, or for each file whose tests do one another no harm."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.service import Service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with Service(tmp_path) as service:
        yield service
