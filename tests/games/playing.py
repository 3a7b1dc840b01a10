"""Random play: outcomes, actions and their events. Decks are shuffled or, for some tests, rigged."""

from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from referee.errors import BadOption
from referee.games import catalogue
from referee.games.cards import RANK
from referee.games.options import Option
from referee.games.state import State
from referee.match import chance
from referee.match.canonical import Json
from tests.games.hooks import HOOKS

LONGEST_MATCH = 500  # decisions; longer ones only repeat their rounds


class RiggedDice(Random):
    """Rig decks so that equal hands, long suits and the like are frequent; often choose the first or default action.

    If seats exchanged and folded as often as in purely random play, most ties would be broken.
    """


def random_outcome(asked: Json, rng: Random) -> Any:
    """Return a random outcome of this chance request."""
    drawn = chance.random_outcome(asked, rng)
    return rigged(drawn, rng) if asked["kind"] == "deck" and isinstance(rng, RiggedDice) else drawn


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


def row(log: list[Json], event: str) -> Json:
    """Return the only event with this name."""
    (only,) = named(log, event)
    return only


def fresh(name: str, count: int = 16) -> Iterator[tuple[State, Random]]:
    """Yield new matches with any number of seats and any options, and dice to play them, every other time rigged."""
    rules = catalogue()[name]
    for number in range(count):
        dice = (Random, RiggedDice)[number % 2](f"{name} {number}")
        state = any_match(rules, dice, 0.5)
        if state.decision_bound(state.players, state.options) > LONGEST_MATCH:
            state = rules.start(state.players, {**state.options, **HOOKS[name].short})
        yield state, dice


def any_match(game: type[State], dice: Random, share: float = 0.3) -> State:
    """Return a match with a random number of seats, sometimes with options other than the defaults."""
    while True:
        given = {spec.name: any_value(spec, dice) for spec in game.option_specs if dice.random() < share}
        try:
            return game.start(dice.choice(game.seats), given)
        except BadOption:
            continue  # contradictory options


def any_value(spec: Option, dice: Random) -> Any:
    match spec.kind:
        case "bool":
            return dice.random() < 0.5
        case "choice":
            return dice.choice(spec.choices)
        case "list":
            return dice.sample(spec.choices, dice.randint(0, len(spec.choices)))
        case _:
            return dice.randint(spec.low, min(spec.high, spec.low + 12))
