"""The tests that depend most on the database, repeated with PostgreSQL."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from referee.db.engine import Database
from referee.db.upgrading import upgrade
from referee.settings import Settings
from tests.api.test_admission import (  # noqa: F401
    test_a_tournament_with_too_few_entries_is_cancelled_at_its_start_and_entrants_are_told,
    test_an_organiser_approves_or_refuses_each_bot,
    test_an_unlisted_tournament_is_found_by_its_address_only,
    test_E10_no_race_gets_an_entry_past_the_cap,
    test_E10_two_approvals_of_the_last_place_fill_it_once,
    test_guests_need_no_code_and_without_a_code_only_guests_enter,
)
from tests.api.test_bots import (  # noqa: F401  # run here with the settings below
    test_a_bot_is_paused_resumed_checked_and_retired,
    test_bots_are_listed_by_owner_and_status,
    test_E5_only_the_owner_sees_what_is_private,
)
from tests.api.test_deletion import (  # noqa: F401
    test_an_export_reads_more_than_a_page,
    test_E14_a_name_that_was_given_up_is_held_for_its_owner,
    test_E27_a_deleted_bot_keeps_the_names_it_played_under_and_nothing_else,
    test_E27_an_owner_who_alone_runs_a_tournament_hands_it_over_first,
    test_E27_nothing_that_says_who_an_owner_was_is_left_after_the_deletion,
    test_E27_the_last_operator_stays_and_operators_delete_no_operators,
    test_E27_what_a_running_match_needs_is_erased_when_it_is_over,
    test_F15_acts_of_deleted_accounts_can_lose_names_and_nothing_else,
)
from tests.api.test_entries import test_entries_are_seeded_listed_and_paged  # noqa: F401
from tests.api.test_faults import (  # noqa: F401
    faulty,
    rival,
    test_D1_evidence_is_for_the_owner_at_once_and_for_others_never_or_later,
)
from tests.api.test_idempotency import (  # noqa: F401
    test_E7_the_kept_answer_does_not_show_the_token,
    test_E9_a_refused_request_may_be_tried_again,
    test_E9_another_request_with_the_key_is_refused,
    test_E9_the_same_request_gets_the_same_answer_and_one_effect,
    test_E10_of_many_at_once_one_takes_effect,
    test_E10_of_two_edits_at_once_one_is_refused,
)
from tests.api.test_ladders import (  # noqa: F401
    test_a_ladder_is_shown_as_it_stood_after_any_act,
    test_F12_a_ladder_shows_ratings_as_of_a_result,
    test_the_history_of_a_rating_is_a_chain,
)
from tests.api.test_lists import (  # noqa: F401
    test_E11_a_cursor_of_one_ladder_does_not_fit_another,
    test_E11_pages_follow_one_another_without_gap_or_overlap,
)
from tests.api.test_matches import (  # noqa: F401
    test_a_match_is_cancelled_by_the_account_that_created_it,
    test_D1_the_log_opens_when_its_deal_group_is_over,
    test_E15_the_log_is_an_attachment_that_no_browser_runs,
    test_matches_are_found_by_filter,
)
from tests.api.test_recovery import (  # noqa: F401
    test_E30_no_token_gets_a_secret_in_the_moment_in_which_it_ends,
    test_E30_of_two_recoveries_at_the_same_time_one_succeeds,
)
from tests.api.test_rounds import (  # noqa: F401
    test_a_bracket_shows_what_is_over_what_is_played_and_what_is_to_come,
    test_D13_a_round_tells_who_sits_at_a_rated_table_when_it_is_over,
)
from tests.api.test_standings import test_a_table_moves_with_results_voids_and_withdrawals  # noqa: F401
from tests.api.test_tournaments import (  # noqa: F401
    test_a_tournament_runs_from_draft_to_standings,
    test_bots_enter_and_withdraw,
    test_E10_of_two_starts_at_once_one_takes_effect,
)
from tests.database import databases, postgres
from tests.surroundings import settings_for


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    try:
        with postgres.server() as running:
            running.execute("CREATE DATABASE api")
            empty = Database(running.url("api"))
            upgrade(empty)
            empty.dispose()
            yield running
    except postgres.NoPostgres as error:
        if postgres.REQUIRED:
            pytest.fail(f"PostgreSQL is required here: {error}")
        pytest.skip(f"NOT RUN ON POSTGRESQL: {error}")


@pytest.fixture
def settings(server: postgres.Server, tmp_path: Path) -> Settings:
    return replace(settings_for(tmp_path), database_url=databases.postgres_url(server, "api"))
