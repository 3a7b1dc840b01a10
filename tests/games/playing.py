"""Random play: outcomes, actions and their events. Decks are shuffled or, for some tests, rigged."""

from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from referee.games.cards import RANK
from referee.games.state import State
from referee.match.canonical import Json


class RiggedDice(Random):
    """Rig decks so that equal hands, long suits and the like are frequent; often choose the first or default action.

    If seats exchanged and folded as often as in purely random play, most ties would be broken.
    """


def random_outcome(asked: Json, rng: Random) -> Any:
    """Return a random outcome of this chance request."""
    if asked["kind"] == "deck":
        deck = rng.sample(asked["cards"], len(asked["cards"]))
        return rigged(deck, rng) if isinstance(rng, RiggedDice) else deck
    if asked.get("ordered"):
        return rng.sample(asked["among"], len(asked["among"]))
    return rng.choice(asked["among"])


def rigged(deck: list[str], rng: Random) -> list[str]:
    """Return these shuffled cards in an order that puts equal ranks, a suit or the aces together."""
    first = {mark: place for place, card in reversed([*enumerate(deck)]) for mark in card}  # of each rank and suit
    match rng.choice(("aces", "suits", "runs", "ranks", "ranks")):
        case "aces":
            return sorted(deck, key=lambda card: card[0] != "A")
        case "suits":
            return sorted(deck, key=lambda card: first[card[1]])
        case "runs":
            return sorted(deck, key=lambda card: (first[card[1]], RANK.get(card, 0)))
        case _:
            return _in_blocks(deck, first, rng.randint(2, 4), apart=rng.random() < 0.5)


def _in_blocks(deck: list[str], first: Mapping[str, int], size: int, *, apart: bool) -> list[str]:
    """Return the cards in blocks of equal ranks, which, dealt one by one, make equal hands for ``size`` seats.

    ``apart`` puts another card after each of the first blocks, for a table with a seat more.
    """
    before = Counter[str]()
    turns = list[tuple[int, int, str]]()
    for card in deck:
        turns.append((before[card[0]] // size, first[card[0]], card))
        before[card[0]] += 1
    order = [card for *_, card in sorted(turns, key=lambda turn: turn[:2])]
    for place in range(size, len(deck) // 2, size + 1) if apart else ():
        order.insert(place, order.pop())
    return order


def one_step(state: State, rng: Random) -> list[Json]:
    """Resolve one chance request, or play a random legal action of the first pending seat. Return the events."""
    asked = state.chance()
    if asked is not None:
        return state.resolve(random_outcome(asked, rng))
    seat = state.pending()[0]
    legal = state.legal(seat)
    if isinstance(rng, RiggedDice) and rng.random() < 0.5:
        legal = [legal[0], state.default(seat)]
    return state.apply(seat, rng.choice(legal))


def positions(state: State, rng: Random) -> Iterator[State]:
    """Yield the position after every step, up to the end of the match."""
    yield state
    while not state.over:
        one_step(state, rng)
        yield state


def answered_by_default(state: State, rng: Random) -> tuple[int, list[Json]]:
    """Play the default for every seat until the end. Return the number of decisions and the event log."""
    decisions, log = 0, []
    while not state.over:
        asked = state.chance()
        if asked is not None:
            log += state.resolve(random_outcome(asked, rng))
            continue
        decisions += 1
        seat = state.pending()[0]
        log += state.apply(seat, state.default(seat))
    return decisions, log


def named(log: list[Json], event: str) -> list[Json]:
    """Return the events with this name."""
    return [row for row in log if row["event"] == event]
