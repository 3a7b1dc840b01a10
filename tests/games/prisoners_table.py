"""Positions of Prisoners for tests: hands, pile and bids."""

from collections import Counter

from referee.games.cards import in_order
from referee.games.prisoners import Prisoners, bid_cards, prisoners
from referee.match.canonical import Json

PASS: Json = {"type": "pass"}
HANDS = {  # of the second example, three seats
    0: "2c 2d 2h 2s 3c 3d 3s 4c 4d 4s 5c 5d 9h",
    1: "3h 5h 5s 6c 6d 6h 6s 7c 7d 7h 7s 8c Th",
    2: "4h 8d 8h 8s 9c 9d 9s Tc Td Ts Ac Ad Ah",
}
TEN_HEARTS = "2h 3h 4h 5h 6h 7h 8h 9h Th Ah"


def dealt(
    hands: dict[int, str], pile: str, *, players: int = 4, dealer: int = 0, **options: object
) -> tuple[Prisoners, list[Json]]:
    """Return deal 1 at its first question, and its events so far.

    Unnamed cards fill the hands by seat in canonical order; unnamed prisoners follow in theirs.
    """
    state = Prisoners.start(players, options)
    log = state.resolve(dealer)
    decks = state.options["decks"]
    log += state.resolve(filled(pile.split(), prisoners(decks)))
    return state, log + state.resolve(deck_for(hands, state))


def begun(hands: dict[int, str], pile: str, *, players: int = 4, dealer: int = 0, **options: object) -> Prisoners:
    return dealt(hands, pile, players=players, dealer=dealer, **options)[0]


def deck_for(hands: dict[int, str], state: Prisoners) -> list[str]:
    """Return the deck that deals these hands; the dealer gets the last card of each lap."""
    cards, players = bid_cards(state.options["decks"]), state.players
    size = len(cards) // players
    own = {seat: hands.get(seat, "").split() for seat in range(players)}
    rest = in_order((Counter(cards) - Counter(card for named in own.values() for card in named)).elements())
    for seat in range(players):
        missing = size - len(own[seat])
        own[seat], rest = own[seat] + rest[:missing], rest[missing:]
    assert state.dealer is not None
    step = 1 if state.options["direction"] == "clockwise" else -1
    lap = [(state.dealer + step * (1 + place)) % players for place in range(players)]
    return [own[seat][i] for i in range(size) for seat in lap] + rest


def filled(first: list[str], cards: list[str]) -> list[str]:
    """Return these cards first, then the others in order."""
    return [*first, *(Counter(cards) - Counter(first)).elements()]


def say(state: Prisoners, *said: str) -> list[Json]:
    """Bid these cards for the seats in turn, an empty text being a pass. Return the events."""
    actions = [{"type": "bid", "cards": cards.split()} if cards else PASS for cards in said]
    return [event for action in actions for event in state.apply(state.pending()[0], action)]


def all_pass(state: Prisoners) -> list[Json]:
    """Pass for every seat asked about this prisoner. Return the events."""
    settled, log = len(state.turned), list[Json]()
    while state.pending() and len(state.turned) == settled:
        log += say(state, "")
    return log
