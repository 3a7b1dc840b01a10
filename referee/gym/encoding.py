"""Encode observations and actions as arrays of fixed shapes. ``layouts`` selects the members to encode."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from referee.gym.layouts import Layout, layout
from referee.match.canonical import Json

Array = NDArray[np.float32]

CARDS: Final = (*(rank + suit for rank in "23456789TJQKA" for suit in "cdhs"), "X1", "X2", "X3", "X4")
PLACES: Final = {card: place for place, card in enumerate(CARDS)}


class Encoder:
    """Encode observations and actions of a game as arrays.

    ``parts`` has the shape of each part of an observation, and ``vector`` concatenates the parts in this order. Lists
    with one value per seat begin with the observing seat and are padded with zeros. Hidden cards are not counted.
    Numbers are not scaled.
    """

    def __init__(self, game_name: str, players: int) -> None:
        self.layout: Layout = layout(game_name)
        self.players = players

    @cached_property
    def parts(self) -> dict[str, tuple[int, ...]]:
        layout, seats = self.layout, self.layout.most_seats
        return {
            **{name: (len(words),) for name, words in layout.words.items()},
            "numbers": (len(layout.numbers),),
            **dict.fromkeys(layout.by_seat, (seats,)),
            **dict.fromkeys(layout.seats, (seats,)),
            **dict.fromkeys(layout.cards, (len(CARDS),)),
            **dict.fromkeys(layout.cards_by_seat, (seats, len(CARDS))),
        }

    @cached_property
    def length(self) -> int:
        """Return the length of the result of ``vector``."""
        return sum(int(np.prod(shape)) for shape in self.parts.values())

    @cached_property
    def action_length(self) -> int:
        """Return the length of an encoded action."""
        return len(self.layout.action_words) + len(self.layout.action_numbers) + len(CARDS)

    def dictionary(self, observation: Json) -> dict[str, Array]:
        """Return the parts of an observation as arrays, keyed by name, with the shapes in ``parts``."""
        layout, own = self.layout, observation["seat"]
        found = {name: _one_of(_get_member(observation, name), words) for name, words in layout.words.items()}
        found["numbers"] = np.array([_number(_get_member(observation, name)) for name in layout.numbers], np.float32)
        for name in layout.by_seat:
            found[name] = self._from_own([_number(value) for value in _all(observation, name)], own)
        for name in layout.seats:
            found[name] = self._seat(_get_member(observation, name), own)
        for name in layout.cards:
            found[name] = _count_cards(_all(observation, name))
        for name in layout.cards_by_seat:
            hands = [_count_cards(cards) for cards in _get_member(observation, name)]
            found[name] = self._from_own(hands, own)
        return found

    def vector(self, observation: Json) -> Array:
        """Return all parts of an observation concatenated into an array of shape (``length``,)."""
        return np.concatenate([part.ravel() for part in self.dictionary(observation).values()])

    def actions(self, legal: Sequence[Json]) -> Array:
        """Return an array with a row of ``action_length`` for each legal action."""
        rows = np.zeros((len(legal), self.action_length), np.float32)
        for row, action in zip(rows, legal, strict=True):
            row[:] = self._action(action)
        return rows

    def _action(self, action: Json) -> Array:
        layout = self.layout
        values = list(action.values())
        words = np.array([word in values for word in layout.action_words], np.float32)
        given = (action.get(name) for name in layout.action_numbers)
        numbers = np.array([_number(value) if isinstance(value, int) else 0 for value in given], np.float32)
        return np.concatenate([words, numbers, _count_cards(values)])

    def _from_own(self, values: Sequence[Any], own: int) -> Array:
        """Rotate a list with one value per seat so that ``own`` is first, and pad it with zeros to ``most_seats``."""
        turned = np.roll(np.array(values, np.float32), -own, axis=0)
        missing = [(0, self.layout.most_seats - len(turned)), *[(0, 0)] * (turned.ndim - 1)]
        return np.pad(turned, missing)

    def _seat(self, seat: int | None, own: int) -> Array:
        places = np.zeros(self.layout.most_seats, np.float32)
        if seat is not None:
            places[(seat - own) % self.players] = 1
        return places


def _get_member(observation: Json, name: str) -> Any:
    """Return the member with this dotted name, or None if an object on its path is None."""
    found: Any = observation
    for step in name.split("."):
        found = None if found is None else found[step]
    return found


def _all(observation: Json, name: str) -> list[Any]:
    """Return the values selected by a dotted name, where ``[]`` iterates over the entries of a list."""
    found: list[Any] = [observation]
    for step in name.split("."):
        found = [value[step.removesuffix("[]")] for value in found if value is not None]
        if step.endswith("[]"):
            found = [inner for value in found for inner in value]
    return found[0] if len(found) == 1 and isinstance(found[0], list) else found


def _number(value: Any) -> float:
    return 0.0 if value is None else float(value)


def _one_of(word: Any, words: Sequence[str]) -> Array:
    return np.array([word == known for known in words], np.float32)


def _count_cards(value: Any) -> Array:
    counts = np.zeros(len(CARDS), np.float32)
    for card in _cards(value):
        counts[PLACES[card]] += 1
    return counts


def _cards(value: Any) -> Iterator[str]:
    """Yield the face-up cards in a card or in nested lists of cards."""
    if isinstance(value, str) and value in PLACES:
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _cards(inner)
