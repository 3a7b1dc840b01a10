"""A short slice of the campaign in ``tools/chaos``; `make chaos` runs a long one."""

from pathlib import Path
from random import SystemRandom

from tools.chaos.campaign import run_campaign
from tools.chaos.invariants import list_broken, render_table


def test_whatever_is_injured_at_random_every_invariant_holds(tmp_path: Path) -> None:
    seed = SystemRandom().randrange(10**6)
    print(f"seed {seed}")

    report = run_campaign(12, seed, tmp_path, longest_freeze_s=4.0)

    assert list_broken(report.findings) == [], f"seed {seed}\n{render_table(report.findings)}"
