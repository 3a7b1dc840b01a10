"""Five and seven cards ranked by the rankers of others and by ours, every hand met once before the clock starts.

From names such as ``"Th"``, or from a library's own form of cards, made beforehand.
"""

import importlib
from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from typing import Any, Final

from referee.games.cards import DECK
from referee.games.poker import rank

Work = Callable[[], int]  # ranks some hands and gives how many

HANDS: Final = 500
SIZES: Final = (5, 7)


def hands(size: int) -> list[list[str]]:
    rng = Random(size)
    return [rng.sample(DECK, size) for _ in range(HANDS)]


def by_list(evaluate: Callable[[Any], object], made: Iterable[Any]) -> Work:
    kept = list(made)

    def work() -> int:
        for hand in kept:
            evaluate(hand)
        return len(kept)

    work()
    return work


def by_cards(evaluate: Callable[..., object], made: Iterable[Any]) -> Work:
    kept = list(made)

    def work() -> int:
        for hand in kept:
            evaluate(*hand)
        return len(kept)

    work()
    return work


def ours() -> dict[str, Work]:
    return {f"{size} cards, from names": by_list(rank, hands(size)) for size in SIZES}


def phevaluator() -> dict[str, Work]:
    library = importlib.import_module("phevaluator")
    evaluate, card = library.evaluate_cards, library.Card
    own = {name: card.to_id(name) for name in DECK}
    return {
        **{f"{size} cards, from names": by_cards(evaluate, hands(size)) for size in SIZES},
        **{
            f"{size} cards, own form": by_cards(evaluate, [[own[c] for c in hand] for hand in hands(size)])
            for size in SIZES
        },
    }


def eval7() -> dict[str, Work]:
    library = importlib.import_module("eval7")
    own = {name: library.Card(name) for name in DECK}
    return {
        f"{size} cards, own form": by_list(library.evaluate, [[own[c] for c in hand] for hand in hands(size)])
        for size in SIZES
    }


def treys() -> dict[str, Work]:
    library = importlib.import_module("treys")
    evaluate = partial(library.Evaluator().evaluate, [])
    own = {name: library.Card.new(name) for name in DECK}
    return {
        f"{size} cards, own form": by_list(evaluate, [[own[c] for c in hand] for hand in hands(size)]) for size in SIZES
    }


def pokerkit() -> dict[str, Work]:
    from_game = importlib.import_module("pokerkit").StandardHighHand.from_game
    return {
        f"{size} cards, from names": by_list(from_game, ["".join(hand) for hand in hands(size)[:20]]) for size in SIZES
    }


RANKERS: Final[dict[str, Callable[[], dict[str, Work]]]] = {
    "ours": ours,
    "phevaluator": phevaluator,
    "eval7 (C)": eval7,
    "treys": treys,
    "PokerKit": pokerkit,
}
