"""Encode observations as arrays of fixed shapes. ``layouts`` selects the members to encode."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate
from operator import itemgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from referee.games.state import Seat
from referee.match.canonical import Json
from referee_extras.gym.layouts import Layout, layout

Array = NDArray[np.float32]
Row = memoryview  # of an array of zeros: numbers are written to it twice as fast as to the array itself
Read = Callable[[Json], Any]  # returns a member of an observation, or a list of members
Write = Callable[[Json, Row], None]  # writes a part of an observation to its places in a row

CARDS: Final = (*(rank + suit for rank in "23456789TJQKA" for suit in "cdhs"), "X1", "X2", "X3", "X4")


class Encoder:
    """Encode observations of a game as arrays.

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
        return sum(map(math.prod, self.parts.values()))

    def dictionary(self, observation: Json) -> dict[str, Array]:
        """Return the parts of an observation as arrays, keyed by name, with the shapes in ``parts``."""
        vector, starts = self.vector(observation), self._starts
        return {
            name: vector[starts[name] : starts[name] + math.prod(shape)].reshape(shape)
            for name, shape in self.parts.items()
        }

    def vector(self, observation: Json) -> Array:
        """Return all parts of an observation concatenated into an array of shape (``length``,)."""
        vector = np.zeros(self.length, np.float32)
        row = vector.data
        for write in self._writers[observation["seat"]]:
            write(observation, row)
        return vector

    @cached_property
    def _starts(self) -> dict[str, int]:
        """Return the place in ``vector`` at which each part begins."""
        sizes = map(math.prod, self.parts.values())
        return dict(zip(self.parts, accumulate(sizes, initial=0), strict=False))

    @cached_property
    def _writers(self) -> list[list[Write]]:
        """Return the functions that write the parts of an observation, by observing seat."""
        return [self._writers_of(seat) for seat in range(self.players)]

    def _writers_of(self, own: Seat) -> list[Write]:
        layout, starts = self.layout, self._starts
        turned = [(seat - own) % self.players for seat in range(self.players)]

        def by_seat(name: str) -> list[int]:
            return [starts[name] + place for place in turned]

        def cards_by_seat(name: str) -> list[dict[str, int]]:
            return [_places(CARDS, starts[name] + place * len(CARDS)) for place in turned]

        numbers, first = [*map(_reader, layout.numbers)], starts["numbers"]
        return [
            *(partial(_mark, _reader(name), _places(words, starts[name])) for name, words in layout.words.items()),
            partial(_write_numbers, partial(_read_each, numbers), range(first, first + len(numbers))),
            *(partial(_write_numbers, _reader(name), by_seat(name)) for name in layout.by_seat),
            *(partial(_mark, _reader(name), dict(enumerate(by_seat(name)))) for name in layout.seats),
            *(partial(_write_cards, _reader(name), _places(CARDS, starts[name])) for name in layout.cards),
            *(partial(_write_hands, _reader(name), cards_by_seat(name)) for name in layout.cards_by_seat),
        ]


def _places(values: Iterable[str], start: int) -> dict[str, int]:
    """Return the place of each value, counted from ``start``."""
    return {value: place for place, value in enumerate(values, start)}


# -- writing a part --


def _mark(read: Read, places: Mapping[Any, int], observation: Json, row: Row) -> None:
    """Write 1 to the place of the member's value, if it has one."""
    place = places.get(read(observation))
    if place is not None:
        row[place] = 1


def _write_numbers(read: Read, places: Iterable[int], observation: Json, row: Row) -> None:
    for place, number in zip(places, read(observation) or (), strict=False):
        if number:
            row[place] = number


def _write_cards(read: Read, places: Mapping[str, int], observation: Json, row: Row) -> None:
    _count_cards(read(observation), places, row)


def _write_hands(read: Read, places: Sequence[Mapping[str, int]], observation: Json, row: Row) -> None:
    for places_of_seat, cards in zip(places, read(observation) or (), strict=False):
        _count_cards(cards, places_of_seat, row)


def _count_cards(value: Any, places: Mapping[str, int], row: Row) -> None:
    """Count the face-up cards in a card or in nested lists of cards, each at its place."""
    for inner in value if isinstance(value, list) else [value]:
        if isinstance(inner, str):
            if inner in places:
                row[places[inner]] += 1
        elif isinstance(inner, list):
            _count_cards(inner, places, row)


# -- reading a member --


def _reader(name: str) -> Read:
    """Return a function that returns the member of an observation with this dotted name.

    The function returns None if an object on the path is None. If ``[]`` in the name iterates over the entries of a
    list, it returns a list with the members of all entries.
    """
    steps = name.split(".")
    if "[]" in name:
        return partial(_read_all, [(step.removesuffix("[]"), step.endswith("[]")) for step in steps])
    return itemgetter(name) if len(steps) == 1 else partial(_read_member, steps)


def _read_member(steps: Sequence[str], observation: Json) -> Any:
    found: Any = observation
    for step in steps:
        found = None if found is None else found[step]
    return found


def _read_all(steps: Sequence[tuple[str, bool]], observation: Json) -> list[Any]:
    found: list[Any] = [observation]
    for step, is_list in steps:
        found = [value[step] for value in found if value is not None]
        if is_list:
            found = [inner for value in found for inner in value]
    return found


def _read_each(readers: Sequence[Read], observation: Json) -> list[Any]:
    return [read(observation) for read in readers]
