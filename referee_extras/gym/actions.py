"""Number all actions of a game, so that a network can have one output for each action.

``python -m referee_extras.gym.actions`` prints the number of actions of each game, and with the name of a game its
actions.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from referee.errors import BadOption, IllegalAction
from referee.games import catalogue, game
from referee.games.cards import DECK, SUITS
from referee.games.pool_nap import NAP
from referee.games.prince_albert import EIGHT
from referee.games.prince_albert_votes import MOTIONS
from referee.games.prisoners_bids import ACTIONS as PRISONERS_BIDS
from referee.games.rummy_royal_options import MOST_BID
from referee.games.state import Seat
from referee.match.canonical import Json, dumps

Mask = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Numbering:
    """List the actions of a game in the order of their numbers. Increase ``version`` when a list changes.

    In the list, the seat of an exchange is counted from the seat that acts: 1 is the next seat clockwise.
    """

    version: int
    list_actions: Callable[[], Iterator[Json]]


class ActionSpace:
    """Map the actions of a game to the numbers from 0 to ``size`` - 1 and back, for any options of the game.

    ``size`` and the meaning of a number depend neither on the options nor on the number of seats. Other seats in
    actions are counted from the seat that acts, as in encoded observations. ``version`` increases if a number ever
    gets another meaning. Raise ``NoSuchGame``, or ``BadOption`` for an invalid number of seats or a game without a
    numbering.
    """

    def __init__(self, game_name: str, players: int) -> None:
        if players not in (seats := game(game_name).seats):
            raise BadOption("players", f"{game_name} is for {seats[0]} to {seats[-1]} seats, got {players!r}")
        self.game, self.players = game_name, players
        self.version = find_numbering(game_name).version
        self._listed = list_actions(game_name)
        self.size = len(self._listed)
        self._members = {name for action in self._listed for name in action}
        self._by_seat: dict[Seat, tuple[list[Json | None], dict[bytes, int]]] = {}

    def encode(self, action: Json, seat: Seat) -> int:
        """Return the number of an action of this seat, written as in ``legal_actions``. Raise ``IllegalAction``.

        Members that no action of the game has are ignored, as the protocol demands of bots.
        """
        numbers = self._tables(seat)[1]
        number = numbers.get(dumps(action))
        if number is None:
            known = {name: value for name, value in action.items() if name in self._members}
            number = numbers.get(dumps(known))
        if number is None:
            raise IllegalAction(f"{str(action)[:200]} is no action of {self.game} with {self.players} seats")
        return number

    def decode(self, number: int, seat: Seat) -> Json:
        """Return the action of this seat with this number. Raise ``IllegalAction`` if there is none at this table."""
        action = self._tables(seat)[0][number] if 0 <= number < self.size else None
        if action is None:
            raise IllegalAction(f"{number} is the number of no action of {self.game} with {self.players} seats")
        return {name: [*value] if isinstance(value, list) else value for name, value in action.items()}

    def encode_all(self, legal: Sequence[Json], seat: Seat) -> list[int]:
        """Return the numbers of legal actions, in their order. Raise ``IllegalAction`` like ``encode``."""
        return [self.encode(action, seat) for action in legal]

    def mask(self, legal: Sequence[Json], seat: Seat) -> Mask:
        """Return an array of shape (``size``,) with 1 for each legal action and 0 for all others."""
        mask = np.zeros(self.size, np.int8)
        mask[self.encode_all(legal, seat)] = 1
        return mask

    def _tables(self, seat: Seat) -> tuple[list[Json | None], dict[bytes, int]]:
        """Return the action of each number as this seat writes it, and the number of each action."""
        if seat not in self._by_seat:
            written = [self._write(action, seat) for action in self._listed]
            numbers = {dumps(action): number for number, action in enumerate(written) if action is not None}
            self._by_seat[seat] = written, numbers
        return self._by_seat[seat]

    def _write(self, action: Json, seat: Seat) -> Json | None:
        """Return an action of the list as this seat writes it, or None if it names a seat that the table lacks."""
        offset = action.get("from")
        if not isinstance(offset, int):
            return action
        return {**action, "from": (seat + offset) % self.players} if offset < self.players else None


@cache
def list_actions(game_name: str) -> tuple[Json, ...]:
    """Return all actions of a game in the order of their numbers. Callers must not modify them."""
    return tuple(find_numbering(game_name).list_actions())


def find_numbering(game_name: str) -> Numbering:
    """Return the numbering of a game. Raise ``NoSuchGame``, or ``BadOption`` if its actions are not numbered."""
    if game(game_name).name not in NUMBERINGS:
        raise BadOption("actions", f"the actions of {game_name} are not numbered; use indices of legal actions")
    return NUMBERINGS[game_name]


# -- the actions of each game; never change the order of a list without a new version --


def _list_pool_nap() -> Iterator[Json]:
    yield {"type": "pass"}
    yield from ({"type": "bid", "tricks": tricks} for tricks in range(1, NAP + 1))
    yield from ({"type": "play", "card": card} for card in DECK)


def _list_prince_albert() -> Iterator[Json]:
    yield {"type": "pass"}
    yield from ({"type": "bid", "cards": cards} for cards in range(EIGHT + 1))
    others = range(1, game("prince-albert").seats[-1])
    yield from ({"type": "exchange", "discard": card, "from": source} for card in DECK for source in ("deck", *others))
    named = ("all_in", "stay", "show", "hide", "check", "call", "bet", "raise", "fold")
    yield from ({"type": name} for name in named)
    yield from ({"type": "vote", "for": value} for pair in MOTIONS.values() for value in pair)
    yield from ({"type": "throw", "sign": sign} for sign in ("rock", "paper", "scissors"))


def _list_prisoners() -> Iterator[Json]:
    yield {"type": "pass"}
    yield from ({"type": "name_suit", "suit": suit} for suit in SUITS)
    yield from PRISONERS_BIDS.values()


def _list_rummy_royal() -> Iterator[Json]:
    yield from ({"type": name} for name in ("keep", "sell", "swap", "pass"))
    yield from ({"type": "lead", "card": card} for card in DECK)
    yield from ({"type": "bid", "amount": amount} for amount in range(1, MOST_BID + 1))


def _list_saint_poker() -> Iterator[Json]:
    yield from ({"type": "river", "card": card} for card in DECK)
    yield from ({"type": "take", "card": card} for card in DECK)
    yield from ({"type": "select", "cards": [*pair]} for pair in combinations(DECK, 2))


NUMBERINGS: Final[Mapping[str, Numbering]] = {
    "pool-nap": Numbering(1, _list_pool_nap),
    "prince-albert": Numbering(1, _list_prince_albert),
    "prisoners": Numbering(1, _list_prisoners),
    "rummy-royal": Numbering(1, _list_rummy_royal),
    "saint-poker": Numbering(1, _list_saint_poker),
}


def main(arguments: Sequence[str]) -> None:
    """Print the number of actions of each game, or all actions of the named games."""
    if not arguments:
        for name in sorted({*NUMBERINGS} & {*catalogue()}):
            print(f"{name:<14} {len(list_actions(name)):>5} actions, version {NUMBERINGS[name].version}")  # noqa: T201  # a command
    for name in arguments:
        for number, action in enumerate(list_actions(name)):
            print(number, dumps(action).decode())  # noqa: T201  # a command


if __name__ == "__main__":
    main(sys.argv[1:])
