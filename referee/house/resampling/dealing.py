"""Deal hidden cards at random to hands, some of which cannot have certain cards."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from random import Random

ATTEMPTS = 12  # random deals before one is repaired
MIXING = 100, 4  # proposed exchanges after a repair: in all, and per card more
SWAPS = 0.75  # share of these that exchange two cards, not three


def deal(
    cards: Sequence[str], sizes: Sequence[int], chance: Random, excluded: Sequence[Collection[str]] = ()
) -> list[list[str]]:
    """Return hands of these sizes, dealt from ``cards``, which must be as many as the sizes add up to.

    Hand i gets no card of ``excluded[i]``. All such deals are equally likely if one of a few random deals fits;
    otherwise a deal that fits is mixed by random exchanges, so they are nearly so. Raise ``ValueError`` if none exists.
    """
    assert sum(sizes) == len(cards), f"{len(cards)} cards for hands of {sizes}"
    dealt = list(cards)
    for _ in range(ATTEMPTS):
        chance.shuffle(dealt)
        hands = _split(dealt, sizes)
        if not any(card in never for hand, never in zip(hands, excluded, strict=False) for card in hand):
            return hands
    places = [excluded[hand] if hand < len(excluded) else () for hand, size in enumerate(sizes) for _ in range(size)]
    dealt = _repair(dealt, places)
    _mix(dealt, places, chance)
    return _split(dealt, sizes)


def _split(cards: Sequence[str], sizes: Sequence[int]) -> list[list[str]]:
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    return [[*cards[start:end]] for start, end in pairwise(ends)]


def _repair(cards: Sequence[str], places: Sequence[Collection[str]]) -> list[str]:
    """Move as few cards as needed, along augmenting paths of a bipartite matching of cards and places."""
    at: list[str | None] = [None if card in never else card for card, never in zip(cards, places, strict=True)]

    def put(card: str, tried: set[int]) -> bool:
        for place, never in enumerate(places):
            if place in tried or card in never:
                continue
            tried.add(place)
            other = at[place]
            if other is None or put(other, tried):
                at[place] = card
                return True
        return False

    for card, never in zip(cards, places, strict=True):
        if card in never and not put(card, set()):
            raise ValueError(f"no hand can have {card}")
    return [card for card in at if card is not None]


def _mix(cards: list[str], places: Sequence[Collection[str]], chance: Random) -> None:
    """Exchange two or three cards where they fit, because exchanges of two alone cannot reach every deal."""
    count, draw = len(cards), chance.random
    least, each = MIXING
    for _ in range(least + each * count):
        one, two, three = int(draw() * count), int(draw() * count), int(draw() * count)
        first, second = cards[one], cards[two]
        if draw() < SWAPS:
            if first not in places[two] and second not in places[one]:
                cards[one], cards[two] = second, first
        elif one != two != three != one:
            third = cards[three]
            if not (first in places[two] or second in places[three] or third in places[one]):
                cards[two], cards[three], cards[one] = first, second, third
