"""Positions of Saint Poker for tests, and moves in short form."""

from referee.games.cards import DECK, in_order
from referee.games.saint_poker import SaintPoker
from referee.match.canonical import Json

Cards = str  # "2c Ah": as on the page


def dealt(hands: list[Cards], future: Cards = "", **options: object) -> SaintPoker:
    """Return round 1 with these hands, filled up to ten with unnamed cards."""
    state = SaintPoker.start(len(hands), options)
    named_cards = {*" ".join(hands).split(), *future.split()}
    spare = [card for card in DECK if card not in named_cards]
    full = [own.split() + [spare.pop(0) for _ in range(10 - len(own.split()))] for own in hands]
    laps = [own[lap] for lap in range(10) for own in full]
    up = future.split() + [spare.pop(0) for _ in range(5 - len(hands) - len(future.split()))]
    state.resolve(laps + up + spare)
    return state


def selecting(river: Cards, hands: list[Cards], *, round: int = 1, **options: object) -> SaintPoker:
    """Return this round at its selection; the first cards of the river come from the future river."""
    seats = len(hands)
    state = SaintPoker.start(seats, options)
    state.awaiting, state.unsent, state.round = None, [], round
    origins = [None] * (5 - seats) + [*range(seats)]
    state.river = [{"card": card, "from": origin} for card, origin in zip(river.split(), origins, strict=True)]
    state.hands = [in_order(own.split()) for own in hands]
    state.ask("select", range(seats), together=True)
    return state


def river(state: SaintPoker, *cards: str) -> list[Json]:
    """Choose the river cards of all seats, the last seat first. Return the events."""
    for seat in range(len(cards) - 1, 0, -1):
        assert state.apply(seat, {"type": "river", "card": cards[seat]}) == []
    return state.apply(0, {"type": "river", "card": cards[0]})


def select(state: SaintPoker, *pairs: Cards) -> list[Json]:
    for seat in range(len(pairs) - 1, 0, -1):
        assert state.apply(seat, {"type": "select", "cards": pairs[seat].split()}) == []
    return state.apply(0, {"type": "select", "cards": pairs[0].split()})


def take(state: SaintPoker, *cards: str) -> list[Json]:
    """Take these cards for the seats in turn. Return the events."""
    return [event for card in cards for event in state.apply(state.pending()[0], {"type": "take", "card": card})]
