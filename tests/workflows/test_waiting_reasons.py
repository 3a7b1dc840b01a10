"""Reasons to wait as a whole: each has a case."""

from collections import Counter

import pytest

from referee.errors import NotFound
from referee.workflows.explaining import waiting
from referee.workflows.explaining.waiting_reasons import REASONS
from tests.database.checks import on_one_database
from tests.database.world import World
from tests.workflows import test_waiting_for_matches, test_waiting_in_tournaments, test_waiting_on_official_ladders

SUBJECTS = (test_waiting_for_matches, test_waiting_in_tournaments, test_waiting_on_official_ladders)


def test_every_reason_has_one_case() -> None:
    assert Counter(code for subject in SUBJECTS for code in subject.CASES) == Counter(list(REASONS))


@on_one_database
def test_an_unknown_bot_is_not_found(world: World) -> None:
    with world.database.read() as session, pytest.raises(NotFound):
        waiting.explain_waiting(session, "bot_0", runner_slots=4)
