"""Run a match for learning, without log, clock or bots; ``dice`` deal the cards."""

from collections.abc import Mapping
from random import Random
from typing import Any

from referee.errors import IllegalAction
from referee.games import game
from referee.games.state import Event, Seat, State
from referee.match.canonical import Json
from referee.match.chance import random_outcome


class LearningTable:
    """Represent a running match. Seats that decide concurrently act in order, without seeing each other's choices.

    ``to_act`` is the seat to act, counted from 0, or None when the match is over. Change ``state`` only with ``act``.
    """

    def __init__(self, game_name: str, players: int, options: Mapping[str, Any] | None, dice: Random) -> None:
        self.game = game_name
        self.state: State = game(game_name).start(players, options)
        self.first_scores = self.state.scores()  # before chance deals anything
        self.events: list[Event] = []
        self._dice = dice
        self._deal()

    def legal(self) -> list[Json]:
        """Return the legal actions of the seat to act in the order of the rules page, or [] when the match is over."""
        return self._legal[:]

    def act(self, number: int) -> list[Event]:
        """Play the action with this index in ``legal()``, and return the events, including those of chance.

        Raise ``IllegalAction`` and change nothing if the index is out of range.
        """
        legal = self._legal
        if not 0 <= number < len(legal):
            raise IllegalAction(f"index {number} is out of range: there are {len(legal)} legal actions")
        return self.play(legal[number])

    def play(self, action: Json) -> list[Event]:
        """Play an action of the seat to act, and return the events, including those of chance.

        Raise ``IllegalAction`` and change nothing if it is not legal, or if the match is over.
        """
        if self.to_act is None:
            raise IllegalAction("the match is over, so no action is legal")
        happened = self.state.apply(self.to_act, action)
        self.events += happened
        return happened + self._deal()

    def question(self) -> Json:
        """Return what a house player needs to decide for the seat to act: its observation and its legal actions."""
        seat = self.to_act
        assert seat is not None, "nobody is asked when the match is over"
        return {
            "observation": self.state.observation(seat),
            "legal_actions": self._legal[:],
            "default_action": self.state.default(seat),
        }

    def _deal(self) -> list[Event]:
        """Draw all outcomes that are due, and return their events. Note who acts then, and the legal actions."""
        happened: list[Event] = []
        while (asked := self.state.chance()) is not None:
            happened += self.state.resolve(random_outcome(asked, self._dice))
        self.events += happened
        self.to_act: Seat | None = min(self.state.pending(), default=None)
        self._legal = [] if self.to_act is None else self.state.legal(self.to_act)
        return happened
