"""The tests of races, locks and erasure, repeated with PostgreSQL; queries are tested on both databases by area."""

from dataclasses import replace
from pathlib import Path

import pytest

from referee.settings import Settings
from tests.api.test_admission import (  # noqa: F401  # run here with the settings below
    test_E10_no_race_gets_an_entry_past_the_cap,
)
from tests.api.test_deletion import (  # noqa: F401
    test_E27_an_owner_can_export_everything_and_nothing_of_it_is_left_after_the_deletion,
    test_E27_what_a_running_match_needs_is_erased_when_it_is_over,
    test_F15_acts_of_deleted_accounts_can_lose_names_and_nothing_else,
)
from tests.api.test_idempotency import test_E10_of_two_edits_at_once_one_is_refused  # noqa: F401
from tests.api.test_recovery import (  # noqa: F401
    ada,
    test_E30_no_token_gets_a_secret_in_the_moment_in_which_it_ends,
    test_E30_of_two_recoveries_at_the_same_time_one_succeeds,
)
from tests.api.test_tournaments import test_E10_of_two_starts_at_once_one_takes_effect  # noqa: F401
from tests.surroundings import settings_for


@pytest.fixture
def settings(postgres_url: str, tmp_path: Path) -> Settings:
    return replace(settings_for(tmp_path), database_url=postgres_url)
