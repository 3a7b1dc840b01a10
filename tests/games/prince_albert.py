"""Positions of Prince Albert for tests, and moves in the short form of the rules page."""

from typing import Any

from referee.games.cards import DECK
from referee.games.prince_albert import PrinceAlbert
from referee.match.canonical import Json
from tests.games.playing import named

WORDS = {"A": "all_in", "s": "stay", "S": "show", "H": "hide", "k": "check", "c": "call", "r": "raise", "f": "fold"}
SIGNS = {"rock", "paper", "scissors"}

# Five hands without common cards, each better than the one before.
HIGH, PAIR, ACES = "2c 4d 5h 7s 8c", "Kd Kc 9d 6c 3h", "As Ad 9s 6h 3c"
TRIPS, FLUSH = "Qc Qd Qs 4c 7d", "2h 4h 8h Th Jh"
EQUAL = ["As Ad 9s 6h 3c", "Ac Ah 9d 6c 3d"]  # better than the first


def begun(hands: list[str], *, opener: int = 0, points: list[int] | None = None, **options: Any) -> PrinceAlbert:
    """Return round 1 after deal and antes, with these hands by seat; in Hold'em the down cards come first."""
    state = PrinceAlbert.start(len(hands), options)
    state.points = points or state.points
    state.resolve(opener)
    state.resolve(deck_for(hands, opener))
    return state


def deck_for(hands: list[str], opener: int, then: str = "") -> list[str]:
    """Return the deck that deals these hands card by card from the opener, followed by these cards."""
    own = [hands[(opener + step) % len(hands)].split() for step in range(len(hands))]
    dealt = [hand[lap] for lap in range(5) for hand in own]
    return topped(" ".join(dealt) + " " + then)


def topped(cards: str) -> list[str]:
    """Return a deck with these cards on top, then the others in canonical order."""
    top = cards.split()
    return top + [card for card in DECK if card not in top]


def meant(move: str, phase: str) -> Json:
    """``b2`` bid 2, ``p`` pass, ``x3c`` exchange for the deck, ``x3c<1`` for a pile, ``vall`` vote, ``rock`` …"""
    if move in SIGNS:
        return {"type": "throw", "sign": move}
    if move == "p":
        return {"type": "pass"}
    if move[0] == "v":
        return {"type": "vote", "for": move[1:]}
    if move[0] == "b":
        return {"type": "bet"} if phase.startswith("bet") else {"type": "bid", "cards": int(move[1:])}
    if move[0] == "x":
        card, _, pile = move[1:].partition("<")
        return {"type": "exchange", "discard": card, "from": int(pile) if pile else "deck"}
    return {"type": WORDS[move]}


def play(state: PrinceAlbert, moves: str) -> list[Json]:
    """Play each ``seat:move``. Return the events."""
    log: list[Json] = []
    for step in moves.split():
        seat, _, move = step.partition(":")
        log += state.apply(int(seat), meant(move, state.phase))
    return log


def follow(
    seats: int, options: Json, draws: list[Any], decks: list[str], moves: str
) -> tuple[PrinceAlbert, list[Json]]:
    """Play a worked example. Return the position after its last move, chance included, and all events."""
    state, drawn, dealt = PrinceAlbert.start(seats, options), iter(draws), map(topped, decks)
    log = settled(state, drawn, dealt)
    for step in moves.split():
        log += play(state, step)
        log += settled(state, drawn, dealt)
    return state, log


def settled(state: PrinceAlbert, draws: Any, decks: Any) -> list[Json]:
    log: list[Json] = []
    while (asked := state.chance()) is not None:
        log += state.resolve(next(decks, [*DECK]) if asked["kind"] == "deck" else next(draws))
    return log


def rounds(log: list[Json], *members: str) -> list[list[Any]]:
    """Return these members of every finished round."""
    return [[row[member] for member in members] for row in named(log, "round_end")]


def pots(log: list[Json]) -> list[list[Any]]:
    return [[row["chips"], row["rivals"], row["seats"], row["shares"]] for row in named(log, "pot")]


def bids_open(state: PrinceAlbert) -> list[int | None]:
    """Return the legal bids of the asked seat in order, None for a pass."""
    return [action.get("cards") for action in state.legal(state.pending()[0])]


def kinds_open(state: PrinceAlbert) -> list[str]:
    return [action["type"] for action in state.legal(state.pending()[0])]
