"""A short slice of the campaign in ``chaos``; `make chaos` runs a long one."""

from pathlib import Path
from random import SystemRandom

from tools.chaos import campaign


def test_whatever_is_killed_at_random_every_match_has_one_result_and_the_audit_is_clean(tmp_path: Path) -> None:
    campaign(12.0, SystemRandom().randrange(10**6), tmp_path, longest_stop_s=4.0)
