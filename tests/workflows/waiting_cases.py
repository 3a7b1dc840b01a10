"""Shared by the tests of waiting reasons: cases by code, and the comparison with what the service explains."""

from collections.abc import Callable

from referee.workflows.explaining import waiting
from referee.workflows.explaining.waiting_reasons import Reason
from tests.database.world import World

Case = Callable[
    [World], tuple[str, str | None, Reason]
]  # the bot; its match, tournament or ladder (None: the most important reason); the reason expected


def register_in(cases: dict[str, Case]) -> Callable[[Case], Case]:
    """Return a decorator that puts a builder into ``cases`` under the code that is its name."""

    def case(builder: Case) -> Case:
        cases[builder.__name__.rstrip("_")] = builder
        return builder

    return case


def assert_is_the_reason(world: World, code: str, case: Case) -> None:
    """Build the case and compare the reason that the service gives with the one expected, which must be ``code``."""
    bot_id, where, expected = case(world)

    with world.database.read() as session:
        found = waiting.explain_waiting(session, bot_id, runner_slots=4)

    told = (
        {one.match_id: one.reason for one in found.matches}
        | {one.tournament_id: one.reason for one in found.tournaments}
        | {one.ladder_id: one.reason for one in found.ladders}
    )
    reason = found.reason if where is None else told[where]
    assert reason == expected
    assert expected.code == code
    assert "None" not in expected.text
