"""List the bids on a prisoner: all possible bids with their totals, and the bids that a hand allows.

``prisoners.py`` handles the turns and the consequences of bids. ``PR-nn`` are the rulings of its rules page.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, combinations
from operator import getitem

from referee.games.cards import DECK, ORDER, SUITS
from referee.games.state import Json

FACE_VALUE = {rank: value for value, rank in enumerate("23456789TA", 2)}
BID_CARDS = tuple(card for card in DECK if card[0] in FACE_VALUE)  # of one deck, canonical order
ACE = "A"


def total(cards: Sequence[str], suit: str) -> int:
    """Return the total of these cards as a bid on a prisoner of this suit, or 0 if they are not a bid."""
    if len({*cards}) < len(cards):  # PR-10
        return 0
    suits, ranks = {card[1] for card in cards}, {card[0] for card in cards}
    if suits == {suit}:
        return sum(FACE_VALUE[card[0]] for card in cards)
    if len(cards) < 2 or len(ranks) > 1:
        return 0
    value = FACE_VALUE[cards[0][0]]
    return value * len(cards) if suit in suits else value + len(cards)


def claims_earned(cards: Sequence[str], suit: str) -> int:
    """Return the jokers earned by a bid made before the first joker is turned."""
    if any(card[0] != ACE for card in cards):
        return 0
    if len(cards) == 4:
        return 2  # PR-14
    return int(len(cards) == 3 and suit in {card[1] for card in cards})  # PR-13


# -- all possible bids, created once; callers must not modify them --


def _combinations_from(cards: Sequence[str], least: int = 1) -> list[tuple[str, ...]]:
    """Return every combination of ``least`` or more of these cards."""
    return [chosen for size in range(least, len(cards) + 1) for chosen in combinations(cards, size)]


OF_SUIT = {suit: [card for card in BID_CARDS if card[1] == suit] for suit in SUITS}
OF_RANK = {rank: [card for card in BID_CARDS if card[0] == rank] for rank in FACE_VALUE}
SETS = [cards for own in OF_RANK.values() for cards in _combinations_from(own, 2)]  # pairs, threes, fours
ACTIONS: dict[tuple[str, ...], Json] = {
    cards: {"type": "bid", "cards": [*cards]}
    for cards in [*SETS, *(cards for own in OF_SUIT.values() for cards in _combinations_from(own))]
}


@dataclass(frozen=True, slots=True)
class Book:
    """List the bids on prisoners of one suit, in the order of legal actions. The index of a bid identifies it."""

    actions: list[Json]
    totals: list[int]  # non-decreasing
    places: dict[tuple[str, ...], int]  # by the cards in canonical order


def _book(suit: str) -> Book:
    within = [*SETS, *_combinations_from(OF_SUIT[suit])]
    totals = {cards: value for cards in within if (value := total(cards, suit))}
    bids = sorted(totals, key=lambda cards: (totals[cards], len(cards), [ORDER[card] for card in cards]))
    return Book(
        actions=[ACTIONS[cards] for cards in bids],
        totals=[totals[cards] for cards in bids],
        places={cards: place for place, cards in enumerate(bids)},
    )


BOOKS = {suit: _book(suit) for suit in SUITS}

# -- the bids within a hand --


def bids_within(hand: tuple[str, ...], suit: str, to_beat: int) -> list[Json]:
    """Return all bids with cards of this hand and a total above ``to_beat``, in the order of the book."""
    book, places = BOOKS[suit], places_within(hand, suit)
    first = bisect_right(book.totals, to_beat)
    return [*map(book.actions.__getitem__, places[bisect_left(places, first) :])]


def best_total(hand: tuple[str, ...], suit: str) -> int:
    """Return the total of the best bid of this hand, or 0 if it has none."""
    places = places_within(hand, suit)
    return BOOKS[suit].totals[places[-1]] if places else 0


# A set of cards is a number with one bit per card in canonical order. Each byte represents two ranks.
BIT = {card: 1 << place for place, card in enumerate(BID_CARDS)}
SUIT_BITS = {suit: sum(BIT[card] for card in own) for suit, own in OF_SUIT.items()}
BYTES = len(BID_CARDS) // 8


# Cache results, because the same hand is looked up many times while a prisoner is up for bids.
@lru_cache(maxsize=2048)
def places_within(hand: tuple[str, ...], suit: str) -> tuple[int, ...]:
    """Return, in ascending order, the indexes in the book of this suit of all bids with cards of this hand."""
    names = sum(map(BIT.__getitem__, {*hand}))  # equal cards of two decks count once
    sets = chain.from_iterable(map(getitem, _SET_PLACES[suit], names.to_bytes(BYTES, "little")))
    return tuple(sorted([*_suit_places(names & SUIT_BITS[suit], suit), *sets]))


@cache
def _suit_places(names: int, suit: str) -> tuple[int, ...]:
    """Return the indexes of bids with cards of only this suit. There are 1,024 sets of cards per suit to cache."""
    own = [card for card in OF_SUIT[suit] if names & BIT[card]]
    return tuple(sorted(map(BOOKS[suit].places.__getitem__, _combinations_from(own))))


def _set_places(suit: str, byte: int) -> list[list[int]]:
    """Return, for each value of this byte, the indexes of the pairs, threes and fours that its cards contain."""
    bits = {cards: sum(BIT[card] for card in cards) >> 8 * byte & 255 for cards in SETS}
    held = [(BOOKS[suit].places[cards], own) for cards, own in bits.items() if own]
    return [[place for place, own in held if own & names == own] for names in range(256)]


_SET_PLACES = {suit: [_set_places(suit, byte) for byte in range(BYTES)] for suit in SUITS}
