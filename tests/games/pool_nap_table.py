"""Positions of Pool Nap for tests, and moves in short form."""

from referee.games.cards import DECK
from referee.games.pool_nap import PoolNap
from referee.match.canonical import Json

PASS: Json = {"type": "pass"}
HANDS_A = ["9s Td Jd Qh Kh", "2h 3h Qs Ks As", "8d 9d Ts Js Ah"]
PLAY_A = "As Ts 9s Ks Js Td Qs 8d Jd 3h Ah Kh 9d Qh 2h"


def begun(hands: list[str] = HANDS_A, *, dealer: int = 0, **options: object) -> PoolNap:
    """Return round 1 before the first bid, with these hands by seat."""
    state = PoolNap.start(len(hands), options)
    state.resolve(dealer)
    state.resolve(deck_for(hands, state.order))
    return state


def deck_for(hands: list[str], order: list[int]) -> list[str]:
    """Return the deck that deals these hands: three cards to each seat in order, then two."""
    cards = [hands[seat].split() for seat in order]
    dealt = [card for own in cards for card in own[:3]] + [card for own in cards for card in own[3:]]
    return dealt + [card for card in DECK if card not in dealt]


def bid(state: PoolNap, *tricks: int) -> list[Json]:
    """Bid these tricks for the seats in turn, 0 being a pass. Return the events."""
    actions = [{"type": "bid", "tricks": own} if own else PASS for own in tricks]
    return [event for action in actions for event in state.apply(state.pending()[0], action)]


def play(state: PoolNap, cards: str) -> list[Json]:
    """Play these cards for the seats in turn. Return the events."""
    actions = [{"type": "play", "card": card} for card in cards.split()]
    return [event for action in actions for event in state.apply(state.pending()[0], action)]


def next_deal(state: PoolNap, hands: list[str] | None = None) -> list[Json]:
    return state.resolve(deck_for(hands, state.order) if hands else list(DECK))
