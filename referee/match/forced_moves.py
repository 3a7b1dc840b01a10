"""Find the forced moves of seats in a log: moves that the rules made because the seat had no choice (PR-16, RR-13)."""

from collections.abc import Iterator
from typing import NamedTuple

from referee.games.state import Seat, State
from referee.match.canonical import Json


class ForcedMove(NamedTuple):
    """Name a seat and the place of its forced move among the events of a row, from 0."""

    place: int
    seat: Seat


def find_forced_moves(game: type[State], row: Json) -> Iterator[ForcedMove]:
    """Yield the forced moves in a row of a log of this game, in order.

    Moves that are forced in all worlds with the same visible events are not included, because nobody mistakes them for
    answers. The first event of a decision row is the decision itself.
    """
    is_decision = row["type"] == "decision"
    for place, event in enumerate(row.get("events", [])):
        answered = is_decision and place == 0 and event.get("seat") == row["seat"]
        if not answered and game.may_be_forced(event):
            yield ForcedMove(place, event["seat"])
