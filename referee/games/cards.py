"""Define the two-letter cards and the full deck. Each game defines how its cards rank."""

from collections.abc import Iterable

RANKS = "23456789TJQKA"  # low to high
SUITS = "cdhs"
DECK: tuple[str, ...] = tuple(rank + suit for rank in RANKS for suit in SUITS)  # canonical order
UNKNOWN = "??"

RANK: dict[str, int] = {card: 2 + RANKS.index(card[0]) for card in DECK}  # 2 to 14
ORDER: dict[str, int] = {card: index for index, card in enumerate(DECK)}


def in_order(cards: Iterable[str]) -> list[str]:
    """Return the cards in canonical order: by rank, low to high, then by suit ``c d h s``."""
    return sorted(cards, key=ORDER.__getitem__)
