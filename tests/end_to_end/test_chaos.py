"""A short slice of the campaign in ``tools/chaos``; `make chaos` runs a long one."""

from collections.abc import Iterator
from pathlib import Path
from random import SystemRandom

import pytest

from tests.database import postgres
from tools.chaos.campaign import run_campaign
from tools.chaos.invariants import list_broken, render_table

INJURIES = 2


@pytest.fixture(params=["sqlite", "postgresql"])
def server(request: pytest.FixtureRequest) -> Iterator[postgres.Server | None]:
    """Return a server of its own for PostgreSQL, or None for SQLite."""
    if request.param == "sqlite":
        yield None
        return
    try:
        with postgres.server() as started:
            yield started
    except postgres.NoPostgres as error:
        if postgres.REQUIRED:
            raise
        pytest.skip(f"NOT RUN ON POSTGRESQL: {error}")


def test_whatever_is_injured_at_random_every_invariant_holds(tmp_path: Path, server: postgres.Server | None) -> None:
    seed = SystemRandom().randrange(10**6)
    print(f"seed {seed}")

    report = run_campaign(INJURIES, seed, tmp_path, longest_freeze_s=4.0, open_matches=6, server=server)

    assert list_broken(report.findings) == [], f"seed {seed}\n{render_table(report.findings)}"
