"""Decide how long a friendly may last while other matches wait for slots. ``workers.friendly_watch`` ends it then."""

from typing import Final

from referee.games import catalogue
from referee.games.state import State

LEAST_S: Final = 900.0
USUAL_TIMES: Final = 3
TOO_LONG: Final = "it lasted longer than a friendly may while other matches wait for a slot"  # the public reason


def longest_s(game_name: str, seats: int, budget_ms: int) -> float:
    """Return how long a friendly may last while others wait: three times its usual duration, at least 15 minutes.

    Its usual duration is that of a match with the default options in which every answer takes the whole budget.
    Options do not change it: they can make a match last for days. A game that is not installed counts as a usual one.
    """
    questions = catalogue().get(game_name, State).questions_per_seat
    return max(LEAST_S, USUAL_TIMES * questions * seats * budget_ms / 1000)


def is_over(played_s: float, longest_s: float, *, is_slot_wanted: bool) -> bool:
    """Return whether a friendly has to end. If nobody waits for a slot, it may go on."""
    return is_slot_wanted and played_s > longest_s
