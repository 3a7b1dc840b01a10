"""Rank poker hands: describe the best five of up to seven cards by a list that can be compared."""

from collections.abc import Iterable

from referee.games.cards import DECK, RANKS, SUITS

Rank = list[int]  # [category, tie values …]; the greater list is the better hand

CATEGORIES = (
    "high card",
    "one pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
HIGH_CARD, PAIR, TWO_PAIR, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH = range(9)


def rank(cards: Iterable[str]) -> Rank:
    """Return the rank of the best five-card hand among five to seven different cards. Hands with equal ranks tie."""
    total = sum(map(_CODE.__getitem__, cards), _START)
    if total & _FIVE_OF_A_SUIT:
        return _flush(total, cards)
    return [*_BY_RANKS[total & _RANKS_ONLY]]


def category(rank: Rank) -> str:
    """Return the name of the category of a rank, such as "full house"."""
    return CATEGORIES[rank[0]]


# A card is a number, and a hand is the sum of its cards. Three bits for each of the 13 ranks count the cards of that
# rank. Above them, four bits for each suit count its cards from 3, so that five cards of the suit set their top bit.
_SUITS_FROM = 3 * len(RANKS)
_RANKS_ONLY = (1 << _SUITS_FROM) - 1
_START = 0x3333 << _SUITS_FROM
_FIVE_OF_A_SUIT = 0x8888 << _SUITS_FROM
_CODE = {card: (1 << 3 * RANKS.index(card[0])) + (1 << _SUITS_FROM + 4 * SUITS.index(card[1])) for card in DECK}


class _RankCache(dict[int, Rank]):
    """Cache hand ranks, keyed by the rank part of a sum: at most 49,205 entries for seven cards."""

    def __missing__(self, counts: int) -> Rank:
        self[counts] = rank = _rank_without_flush(counts)
        return rank


_BY_RANKS = _RankCache()


def _rank_without_flush(counts: int) -> Rank:
    """Return the rank of the best hand, ignoring flushes."""
    count = {value: counts >> 3 * (value - 2) & 7 for value in range(14, 1, -1)}
    held = [value for value in count if count[value]]
    fours, threes = [v for v in held if count[v] == 4], [v for v in held if count[v] == 3]
    pairs = [v for v in held if count[v] == 2]
    top = _straight_top(held)
    if fours:
        return [FOUR, fours[0], *_kickers(held, fours, 1)]
    if threes and len(threes) + len(pairs) > 1:
        return [FULL_HOUSE, threes[0], max(threes[1:] + pairs)]
    if top:
        return [STRAIGHT, top]
    if threes:
        return [THREE, threes[0], *_kickers(held, threes, 2)]
    if len(pairs) > 1:
        return [TWO_PAIR, *pairs[:2], *_kickers(held, pairs[:2], 1)]
    if pairs:
        return [PAIR, pairs[0], *_kickers(held, pairs, 3)]
    return [HIGH_CARD, *held[:5]]


def _flush(total: int, cards: Iterable[str]) -> Rank:
    # If five of seven cards have one suit, neither four of a kind nor a full house is possible.
    index = ((total & _FIVE_OF_A_SUIT) >> _SUITS_FROM).bit_length() // 4 - 1
    suit = SUITS[index]
    held = sorted((2 + RANKS.index(card[0]) for card in cards if card[1] == suit), reverse=True)
    top = _straight_top(held)
    return [STRAIGHT_FLUSH, top] if top else [FLUSH, *held[:5]]


def _straight_top(held: list[int]) -> int:
    """Return the top rank of the best straight, or 0. ``held`` is descending without duplicates; aces are also low."""
    for i in range(len(held) - 4):
        if held[i] - held[i + 4] == 4:
            return held[i]
    return 5 if held[:1] == [14] and held[-4:] == [5, 4, 3, 2] else 0


def _kickers(held: list[int], used: list[int], count: int) -> list[int]:
    return [value for value in held if value not in used][:count]
