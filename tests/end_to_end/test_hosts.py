"""A short slice of the campaign in ``tools/hosts``; `make hosts` runs all scenarios with more hosts."""

from pathlib import Path
from random import SystemRandom

import pytest

from tests.database import postgres
from tools.chaos.invariants import list_broken, render_table
from tools.hosts.campaign import Size, run_campaign
from tools.hosts.lan import why_unavailable
from tools.hosts.silences import render_windows

CUT_S = 24.0  # longer than a lease, and than a match may stand still


def test_K1_when_a_host_is_cut_off_its_matches_go_on_at_another_within_20_s(tmp_path: Path) -> None:
    if reason := why_unavailable():
        pytest.skip(f"several hosts NOT RUN: {reason}")
    seed = SystemRandom().randrange(10**6)
    try:
        size = Size(1, 2, open_matches=10, cut_s=CUT_S, latency_ms=100, most_rounds=2)
        report = run_campaign(["worker cut off"], seed, tmp_path, size)
    except postgres.NoPostgres as error:
        if postgres.REQUIRED:
            raise
        pytest.skip(f"NOT RUN ON POSTGRESQL: {error}")

    (window,) = report.windows
    shown = f"seed {seed}\n{render_windows(report.windows)}\n{render_table(report.findings)}"
    assert list_broken(report.findings) == [], shown
    assert window.too_long == [], shown
    assert window.moved > 0, shown
    assert window.find_quantile(1) > 5, shown  # a match waited for the lease of the host that was cut off
    if not report.not_tested:  # the wall clocks of the hosts differ by two minutes
        assert {"worker1", "worker2"} <= set(report.clocks_noticed), shown
