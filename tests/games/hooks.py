"""Facts about each game that tests need: where its cards are, which are secret, how large its views may be, and which
matches are recorded as golden logs.

A game without an entry here fails the tests of all games.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.games.cards import DECK
from referee.games.prisoners import bid_cards, prisoners


@dataclass(frozen=True, slots=True)
class Hook:
    """Facts about one game. The sizes are the bounds of the rules page."""

    cards: Callable[[Any], Iterable[str]]  # every card once, wherever it is, after a deal
    secret: Callable[[Any, int | None], Iterable[str]]  # what a seat, or the public, may not know in this position
    observation_bytes: int
    event_bytes: int
    golden: Mapping[int, Mapping[str, Any]]  # options of its golden matches, by number of seats
    whole_deck: Callable[[Any], Iterable[str]] = lambda state: DECK
    chips: Callable[[Any], int] | None = None  # a sum that stays constant during a match
    story: Callable[[Any], Any] = lambda state: None  # public consequences of hidden cards
    short: Mapping[str, Any] = field(default_factory=dict)  # options that keep a match short


def unseen(deck: Sequence[str], secret: Iterable[str]) -> list[int]:
    """Return the positions in this deck of cards of which every copy is secret."""
    copies, secrets = Counter(deck), Counter(secret)
    return [place for place, card in enumerate(deck) if secrets[card] == copies[card]]


def hands_of_others(state: Any, viewer: int | None) -> Iterable[str]:
    return (card for seat, hand in enumerate(state.hands) if seat != viewer for card in hand)


def saint_poker_cards(state: Any) -> Iterable[str]:
    yield from (entry["card"] for entry in state.river)
    for cards in (*state.hands, *state.revealed, state.stock, state.future_river, state.discards):
        yield from cards


def saint_poker_secrets(state: Any, viewer: int | None) -> Iterable[str]:
    known = {card for cards in state.known for card in cards}
    yield from state.stock
    yield from (card for card in hands_of_others(state, viewer) if card not in known)


def pool_nap_cards(state: Any) -> Iterable[str]:
    for trick in state.tricks:
        yield from (laid["card"] for laid in trick["cards"])
    yield from (laid["card"] for laid in state.trick)
    for cards in (*state.hands, state.aside):
        yield from cards


def pool_nap_secrets(state: Any, viewer: int | None) -> Iterable[str]:
    yield from state.aside
    yield from hands_of_others(state, viewer)


def prisoners_cards(state: Any) -> Iterable[str]:
    yield from (settled["prisoner"] for settled in state.turned)
    yield state.prisoner
    for cards in (*state.hands, state.left_over, state.refuse, state.pile):
        yield from cards


def prisoners_secrets(state: Any, viewer: int | None) -> Iterable[str]:
    yield from state.pile
    yield from state.left_over
    yield from hands_of_others(state, viewer)


def rummy_royal_cards(state: Any) -> Iterable[str]:
    yield from (laid["card"] for laid in state.played)
    for cards in (*state.hands, state.dead):
        yield from cards


def rummy_royal_secrets(state: Any, viewer: int | None) -> Iterable[str]:
    blind = state.dealer if state.phase == "dealer" and not state.options["dealer_looks"] else None
    gave_up = viewer is not None and viewer == state.taker
    if not gave_up or (state.fate == "swapped" and not state.options["dealer_looks"]):
        yield from state.dead
    for seat, hand in enumerate(state.hands):
        if seat != viewer or seat == blind:
            yield from hand


def prince_albert_cards(state: Any) -> Iterable[str]:
    for cards in (*state.down, *state.up, *state.piles, state.deck):
        yield from cards


def prince_albert_secrets(state: Any, viewer: int | None) -> Iterable[str]:
    """Return cards that were never face up for the viewer in this round."""
    seen = set()
    for event in state.history:
        own = event.get("seat") == viewer
        match event["event"]:
            case "deal":
                seen |= {*event["up"], *(event["down"] if own else [])}
            case "exchange":
                if own or event["was"] == "up" or event["pile"] == "up":
                    seen.add(event["discard"])
                if own or event["was"] == "up" or event["from"] != "deck":
                    seen.add(event["drawn"])
            case "show":
                seen |= {*event["cards"]}
    return (card for card in DECK if card not in seen)


HOOKS = {
    "pool-nap": Hook(
        cards=pool_nap_cards,
        secret=pool_nap_secrets,
        observation_bytes=4096,
        event_bytes=2048,
        golden={3: {"rounds": 6}, 10: {"rounds": 3, "all_pass": "dealer_bids", "bid_cover": False}},
        chips=lambda state: sum(state.chips) + state.pot,
        short={"round_cap": 12},
    ),
    "prince-albert": Hook(
        cards=prince_albert_cards,
        secret=prince_albert_secrets,
        observation_bytes=10_240,
        event_bytes=1024,
        golden={
            4: {"max_rounds": 5, "vote": ["showing", "ties"]},
            5: {"max_rounds": 4, "cash": True, "holdem": True, "stack": 30, "rank_by": "chips", "point_value": 2},
        },
        chips=lambda state: sum(state.chips) + (0 if state.over else sum(state.paid)),
        short={"max_rounds": 5},
    ),
    "prisoners": Hook(
        cards=prisoners_cards,
        secret=prisoners_secrets,
        whole_deck=lambda state: bid_cards(state.options["decks"]) + prisoners(state.options["decks"]),
        observation_bytes=8192,
        event_bytes=2048,
        golden={2: {}, 5: {"direction": "anticlockwise", "bidding": "single", "deals": 2}},
        # Seats that cannot bid pass automatically; aces are played automatically.
        story=lambda state: (state.queue, state.bids, state.turned, state.refuse, state.claims),
        short={"deals": 2},
    ),
    "rummy-royal": Hook(
        cards=rummy_royal_cards,
        secret=rummy_royal_secrets,
        observation_bytes=4096,
        event_bytes=1024,
        golden={3: {"deals": 4}, 9: {"deals": 4, "ante": 2, "sequence": "89T", "dealer_looks": False, "max_bid": 4}},
        chips=lambda state: sum(state.stacks) + sum(state.board.values()),
        # Leads and missing colours follow from the cards alone, without a choice.
        story=lambda state: (state.played, state.no_colour),
        short={"deals": 4},
    ),
    "saint-poker": Hook(
        cards=saint_poker_cards,
        secret=saint_poker_secrets,
        observation_bytes=2048,
        event_bytes=1024,
        golden={2: {}, 5: {"rounds": 3, "final_pickup": False}},
    ),
}
