"""What the battery must be told about a game: where its cards lie, which are secret, how large its views may be.

A game without an entry here fails the battery.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from referee.cards import DECK


@dataclass(frozen=True, slots=True)
class Hook:
    """The sizes are the bounds of the rules page."""

    cards: Callable[[Any], Iterable[str]]  # every card once, wherever it lies; after a deal
    secret: Callable[[Any, int | None], Iterable[str]]  # what a seat, or the public, may not know now
    whole_deck: tuple[str, ...]
    longest_list: Callable[[int], int]  # of legal actions, by number of seats
    observation_bytes: int
    event_bytes: int
    chips: Callable[[Any], int] | None = None  # the same sum at every moment of a match
    short: Mapping[str, Any] = field(default_factory=dict)  # options for a match whose others would make it very long


def saint_poker_cards(state: Any) -> Iterable[str]:
    yield from (entry["card"] for entry in state.river)
    for cards in (*state.hands, *state.revealed, state.stock, state.future_river, state.discards):
        yield from cards


def saint_poker_secrets(state: Any, viewer: int | None) -> Iterable[str]:
    yield from state.stock
    for seat, hand in enumerate(state.hands):
        if seat != viewer:
            yield from (card for card in hand if card not in state.known[seat])


def pool_nap_cards(state: Any) -> Iterable[str]:
    for trick in state.tricks:
        yield from (laid["card"] for laid in trick["cards"])
    yield from (laid["card"] for laid in state.trick)
    for cards in (*state.hands, state.aside):
        yield from cards


def pool_nap_secrets(state: Any, viewer: int | None) -> Iterable[str]:
    yield from state.aside
    for seat, hand in enumerate(state.hands):
        if seat != viewer:
            yield from hand


HOOKS = {
    "pool-nap": Hook(
        cards=pool_nap_cards,
        secret=pool_nap_secrets,
        whole_deck=DECK,
        longest_list=lambda seats: 6,
        observation_bytes=4096,
        event_bytes=2048,
        chips=lambda state: sum(state.chips) + state.pot,
        short={"round_cap": 12},
    ),
    "saint-poker": Hook(
        cards=saint_poker_cards,
        secret=saint_poker_secrets,
        whole_deck=DECK,
        longest_list=lambda seats: max(36, 5 + 2 * seats),
        observation_bytes=2048,
        event_bytes=1024,
    ),
}
