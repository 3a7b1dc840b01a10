"""A match as a learner plays it: an action is its number in the legal list, the cards come from dice it was given."""

from collections.abc import Mapping
from random import Random
from typing import Any

from referee.errors import IllegalAction
from referee.games import game
from referee.games.state import Event, Seat, State
from referee.match.canonical import Json


class LearningTable:
    """A match under way. Seats that decide at once are asked by rising number and see nothing of one another."""

    def __init__(self, game_name: str, players: int, options: Mapping[str, Any] | None, dice: Random) -> None:
        self.game = game_name
        self.state: State = game(game_name).start(players, options)
        self.events: list[Event] = []
        self._dice = dice
        self._deal()

    @property
    def to_act(self) -> Seat | None:
        """Who is asked; None when the match is over."""
        pending = self.state.pending()
        return min(pending) if pending else None

    def legal(self) -> list[Json]:
        """What the seat that is asked may do, in the order of the rules page; empty when the match is over."""
        seat = self.to_act
        return [] if seat is None else self.state.legal(seat)

    def act(self, number: int) -> list[Event]:
        """Plays the action of this number in ``legal`` and gives what happened, chance included.

        Raises ``IllegalAction`` for a number that is not in the list; nothing is changed then.
        """
        seat, legal = self.to_act, self.legal()
        if seat is None or not 0 <= number < len(legal):
            raise IllegalAction(f"action {number} is not one of the {len(legal)} legal ones")
        happened = self.state.apply(seat, legal[number])
        self.events += happened
        return happened + self._deal()

    def _deal(self) -> list[Event]:
        happened: list[Event] = []
        while (asked := self.state.chance()) is not None:
            happened += self.state.resolve(outcome_of(asked, self._dice))
        self.events += happened
        return happened


def outcome_of(asked: Json, dice: Random) -> Any:
    """A fair outcome of what chance is asked for."""
    match asked:
        case {"kind": "deck", "cards": cards}:
            return dice.sample(cards, len(cards))
        case {"ordered": True, "among": among}:
            return dice.sample(among, len(among))
    return dice.choice(asked["among"])
