"""Reasons to wait: each has a bot to which it applies."""

from collections import Counter
from inspect import getmembers, isfunction

import pytest

from referee.errors import NotFound
from referee.workflows.explaining import waiting
from referee.workflows.explaining.waiting_reasons import REASONS
from tests.database.checks import on_one_database
from tests.database.world import World
from tests.workflows import waiting_for_matches, waiting_in_tournaments, waiting_on_official_ladders

CASES = [
    (name.rstrip("_"), build)
    for subject in (waiting_for_matches, waiting_in_tournaments, waiting_on_official_ladders)
    for name, build in getmembers(subject, isfunction)
    if build.__module__ == subject.__name__ and not name.startswith("_")
]


def test_every_reason_has_one_case() -> None:
    assert Counter(code for code, _ in CASES) == Counter(list(REASONS))


@on_one_database
@pytest.mark.parametrize("code", dict(CASES))
def test_the_reason_is_the_true_one(world: World, code: str) -> None:
    bot_id, where, expected = dict(CASES)[code](world)

    found = world.read(waiting.explain_waiting, bot_id, runner_slots=4)

    told = (
        {one.match_id: one.reason for one in found.matches}
        | {one.tournament_id: one.reason for one in found.tournaments}
        | {one.ladder_id: one.reason for one in found.ladders}
    )
    assert (found.reason if where is None else told[where]) == expected
    assert expected.code == code
    assert "None" not in expected.text


@on_one_database
def test_an_unknown_bot_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        world.read(waiting.explain_waiting, "bot_0", runner_slots=4)
