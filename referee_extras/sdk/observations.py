"""Declare the types of each game's observation. ``members`` returns the explanations on the game's rules page.

A card is a string like ``"Th"``. Values that differ by seat are tuples with one entry per seat.
"""

import re
from typing import Literal

from referee.rulebook import rules_page
from referee_extras.sdk.views import ReadOnly, View

Seat = int
Card = str
Suit = Literal["c", "d", "h", "s"]


class Observation(ReadOnly):
    """Declare the members that the observations of all games have."""

    game: str
    seat: Seat
    players: int
    options: View
    phase: str
    to_act: tuple[Seat, ...]


# -- Pool Nap --


class CardPlayed(ReadOnly):
    seat: Seat
    card: Card


class TricksBid(ReadOnly):
    seat: Seat
    tricks: int


class Trick(ReadOnly):
    leader: Seat
    cards: tuple[CardPlayed, ...]
    winner: Seat


class PoolNap(Observation):
    phase: Literal["bid", "play", "over"]
    round: int
    round_limit: int
    dealer: Seat
    chips: tuple[int, ...]
    pot: int
    out_round: tuple[int | None, ...]
    hand: tuple[Card, ...]
    hand_sizes: tuple[int, ...]
    bids: tuple[TricksBid, ...]
    bid: int
    bidder: Seat | None
    trump: Suit | None
    trick: tuple[CardPlayed, ...]
    tricks: tuple[Trick, ...]
    tricks_won: tuple[int, ...]


# -- Prince Albert --


class Pile(ReadOnly):
    cards: int
    top: Card | None


class PrinceAlbert(Observation):
    phase: Literal["vote", "throw", "bet1", "bidding", "bet2", "drawing", "all_in", "bet3", "show", "over"]
    round: int
    opener: Seat
    scores: tuple[int, ...]
    chips: tuple[int, ...]
    hands: tuple[tuple[Card, ...], ...]
    deck: int
    bids: tuple[int | None, ...]
    bid: int | None
    bid_out: tuple[bool, ...]
    low_bidders: tuple[Seat, ...]
    drawn: tuple[int, ...]
    draw_out: tuple[bool, ...]
    piles: tuple[Pile, ...]
    all_in: tuple[bool, ...]
    shown: tuple[bool, ...]
    folded: tuple[bool, ...]
    pot: int
    paid: tuple[int, ...]
    put: tuple[int, ...]
    to_call: int
    raises: int
    motion: str | None
    previous: tuple[View, ...]
    history: tuple[View, ...]


# -- Prisoners --


class CardsBid(ReadOnly):
    seat: Seat
    cards: tuple[Card, ...]
    total: int


class Turned(ReadOnly):
    prisoner: Card
    suit: Suit
    to: Seat | None


class Prisoners(Observation):
    phase: Literal["name_suit", "bid", "over"]
    deal: int
    dealer: Seat
    leader: Seat
    hand: tuple[Card, ...]
    hand_sizes: tuple[int, ...]
    prisoner: Card | None
    suit: Suit | None
    high: CardsBid | None
    bids: tuple[CardsBid, ...]
    turned: tuple[Turned, ...]
    prisoners_left: int
    refuse: tuple[Card, ...]
    left_over: int
    joker_seen: bool
    claims: tuple[Seat, ...]
    scores: tuple[int, ...]


# -- Rummy Royal --


class ExtraHand(ReadOnly):
    fate: Literal["undecided", "aside", "swapped", "auction", "sold", "unsold"]
    seat: Seat | None
    price: int


class Auction(ReadOnly):
    amount: int
    seat: Seat | None
    passed: tuple[Seat, ...]


class NoColour(ReadOnly):
    seat: Seat
    colour: Literal["black", "red"]
    after: int


class RummyRoyal(Observation):
    phase: Literal["dealer", "auction", "lead", "over"]
    deal: int
    dealer: Seat
    hand: tuple[Card, ...]
    hand_sizes: tuple[int, ...]
    stacks: tuple[int, ...]
    board: View
    extra: ExtraHand
    dead_size: int
    discarded: tuple[Card, ...] | None
    auction: Auction
    colour: Literal["any", "black", "red"]
    played: tuple[CardPlayed, ...]
    no_colour: tuple[NoColour, ...]


# -- Saint Poker --


class SaintPoker(Observation):
    phase: Literal["river", "select", "pickup", "over"]
    round: int
    scores: tuple[int, ...]
    hand: tuple[Card, ...]
    hand_sizes: tuple[int, ...]
    known: tuple[tuple[Card, ...], ...]
    river: tuple[View, ...]
    future_river: tuple[Card, ...]
    stock_size: int
    revealed: tuple[tuple[Card, ...], ...]
    ranks: tuple[tuple[int, ...] | None, ...]
    pickup_order: tuple[Seat, ...]
    lap: int
    discards: tuple[Card, ...]


OBSERVATIONS: dict[str, type[Observation]] = {
    "pool-nap": PoolNap,
    "prince-albert": PrinceAlbert,
    "prisoners": Prisoners,
    "rummy-royal": RummyRoyal,
    "saint-poker": SaintPoker,
}


def phases(game: str) -> tuple[str, ...]:
    """Return the phases in which a game asks questions, from its rules page. Raise ``NoSuchGame`` if it is unknown."""
    named = re.findall(r"^<!-- action: (.+) -->$", rules_page(game), re.MULTILINE)
    return tuple(dict.fromkeys(" ".join(named).split()))


def members(game: str) -> dict[str, str]:
    """Return the explanation of each member of the game's observation, from its rules page.

    Raise ``NoSuchGame`` if the game is unknown.
    """
    section = rules_page(game).partition("## What your bot sees")[2].partition("\n## ")[0]
    explained: dict[str, str] = {}
    for names, meaning in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| (.*) \|$", section, re.MULTILINE):
        explained |= dict.fromkeys(re.findall(r"\w+", names), meaning)
    return explained
