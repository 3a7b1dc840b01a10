"""The checks of the campaign notice every planted fault, and nothing without one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.database import postgres
from tools.chaos.invariants import list_broken, render_table
from tools.chaos.planted import FAULTS
from tools.chaos.scenarios import EXPOSURES, LAZY_FLUSH, SCENARIOS, Scene, kill_backend, run_scenario


@pytest.fixture(scope="module")
def lazy_server() -> Iterator[Callable[[], postgres.Server]]:
    """Return a function that starts a server, or skips the test if none can be started."""
    try:
        with postgres.server(**LAZY_FLUSH) as server:
            yield lambda: server
    except postgres.NoPostgres as error:
        if postgres.REQUIRED:
            raise
        reason = str(error)
        yield lambda: pytest.skip(reason)


def _empty_server(lazy_server: Callable[[], postgres.Server]) -> postgres.Server:
    server = lazy_server()
    server.end_sessions("postgres")
    server.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return server


def test_every_planted_fault_has_a_scenario_that_shows_it() -> None:
    assert EXPOSURES.keys() == FAULTS.keys()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_without_a_planted_fault_every_invariant_holds(
    scenario: Callable[[Scene], None], tmp_path: Path, lazy_server: Callable[[], postgres.Server]
) -> None:
    server = _empty_server(lazy_server) if scenario is kill_backend else None

    findings = run_scenario(scenario, tmp_path, server=server)

    assert list_broken(findings) == [], render_table(findings)


@pytest.mark.parametrize("fault", EXPOSURES)
def test_a_planted_fault_breaks_an_invariant(
    fault: str, tmp_path: Path, lazy_server: Callable[[], postgres.Server]
) -> None:
    exposure = EXPOSURES[fault]
    server = _empty_server(lazy_server) if exposure.postgres else None

    findings = run_scenario(exposure.scenario, tmp_path, fault=fault, server=server)

    assert exposure.breaks in list_broken(findings), render_table(findings)
