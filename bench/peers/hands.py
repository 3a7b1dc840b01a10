"""Rank poker hands of five and of seven cards with other projects and with ours.

Cards are names such as ``"Th"``, or are converted to the library's own format before the measurement. Every hand is
ranked once before the measurement.
"""

import importlib
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final

from referee.games.cards import DECK
from referee.games.poker import rank

Works = dict[str, Callable[[], int]]  # each ranks some hands and returns their number

HANDS: Final = 500


def works(
    label: str, evaluate: Callable[[Any], object], convert: Callable[[list[str]], Any], count: int = HANDS
) -> Works:
    """Return functions that rank hands of both sizes, converted to the format that ``evaluate`` takes."""

    def rank_all(hands: list[Any]) -> int:
        for hand in hands:
            evaluate(hand)
        return len(hands)

    prepared: Works = {}
    for size in (5, 7):
        dice = Random(size)
        hands = [convert(dice.sample(DECK, size)) for _ in range(count)]
        rank_all(hands)
        prepared[f"{size} cards, {label}"] = partial(rank_all, hands)
    return prepared


def names(hand: list[str]) -> list[str]:
    return hand


def ours() -> Works:
    return works("from names", rank, names)


def phevaluator() -> Works:
    library = importlib.import_module("phevaluator")

    def evaluate(hand: list[Any]) -> None:
        library.evaluate_cards(*hand)

    def to_ids(hand: list[str]) -> list[int]:
        return [library.Card.to_id(name) for name in hand]

    return works("from names", evaluate, names) | works("own format", evaluate, to_ids)


def eval7() -> Works:
    library = importlib.import_module("eval7")
    return works("own format", library.evaluate, lambda hand: [library.Card(name) for name in hand])


def treys() -> Works:
    library = importlib.import_module("treys")
    evaluate = partial(library.Evaluator().evaluate, [])
    return works("own format", evaluate, lambda hand: [library.Card.new(name) for name in hand])


def pokerkit() -> Works:
    library = importlib.import_module("pokerkit")
    return works("from names", library.StandardHighHand.from_game, "".join, count=20)


RANKERS: Final[dict[str, Callable[[], Works]]] = {
    "ours": ours,
    "phevaluator": phevaluator,
    "eval7": eval7,
    "treys": treys,
    "pokerkit": pokerkit,
}
