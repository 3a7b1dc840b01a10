"""The checks of the campaign notice every planted fault, and nothing without one.

`make test` plants three of them. The others have the mark `long`, as has the scenario that locks the database for 12 s;
`make chaos-planted` plants all faults in random campaigns.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.database import postgres
from tools.chaos.invariants import list_broken, render_table
from tools.chaos.planted import FAULTS, replace
from tools.chaos.scenarios import (
    EXPOSURES,
    LAZY_FLUSH,
    SCENARIOS,
    Scene,
    kill_backend,
    lock_and_kill,
    play,
    run_scenario,
)


@pytest.fixture(scope="module")
def lazy_server() -> Iterator[Callable[[], postgres.Server]]:
    """Return a function that starts a server, or skips the test if none can be started."""
    try:
        with postgres.server(**LAZY_FLUSH) as server:
            yield lambda: server
    except postgres.NoPostgres as error:
        if postgres.REQUIRED:
            raise
        reason = f"NOT RUN ON POSTGRESQL: {error}"
        yield lambda: pytest.skip(reason)


def _empty_server(lazy_server: Callable[[], postgres.Server]) -> postgres.Server:
    server = lazy_server()
    server.end_sessions("postgres")
    server.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return server


def test_every_planted_fault_has_a_scenario_that_shows_it() -> None:
    assert EXPOSURES.keys() == FAULTS.keys()


LONG = {
    *("rating outside the transaction", "wall-clock lease", "commit not flushed", "asked before the commit"),
    *("swallowed timeout", "replay from scratch"),
}


def long_if(is_long: bool) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.long,) if is_long else ()


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(scenario, marks=long_if(scenario is lock_and_kill))
        for scenario in SCENARIOS
        if scenario is not play  # as in others, nothing else is played there
    ],
    ids=lambda scenario: scenario.__name__,
)
def test_without_a_planted_fault_every_invariant_holds(
    scenario: Callable[[Scene], None], tmp_path: Path, lazy_server: Callable[[], postgres.Server]
) -> None:
    server = _empty_server(lazy_server) if scenario is kill_backend else None

    findings = run_scenario(scenario, tmp_path, server=server)

    assert list_broken(findings) == [], render_table(findings)


@pytest.mark.parametrize("fault", [pytest.param(fault, marks=long_if(fault in LONG)) for fault in EXPOSURES])
def test_a_planted_fault_breaks_an_invariant(
    fault: str, tmp_path: Path, lazy_server: Callable[[], postgres.Server]
) -> None:
    exposure = EXPOSURES[fault]
    server = _empty_server(lazy_server) if exposure.database == "postgresql" else None

    findings = run_scenario(exposure.scenario, tmp_path, fault=fault, server=server)

    assert any(exposure.example in case for case in findings[exposure.breaks].broken), render_table(findings)


class _Part:
    def call(self, key: str) -> str:
        return key


def test_a_fault_that_no_longer_meets_the_code_cannot_be_planted() -> None:
    with pytest.raises(AttributeError):
        replace(_Part, "gone", lambda self, key: key)
    with pytest.raises(TypeError, match=r"_Part\.call takes self, key"):
        replace(_Part, "call", lambda self: "")


def test_a_planted_fault_that_is_never_reached_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="reached the planted fault"):
        run_scenario(lambda scene: None, tmp_path, fault="swallowed timeout")
