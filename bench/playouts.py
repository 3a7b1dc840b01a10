"""Matches of the bare engine played at random, for benchmarks: no match, no log, no network."""

from collections.abc import Callable
from random import Random
from typing import Any

from referee.games.state import State

Json = dict[str, Any]


def play(game: type[State], seats: int, decisions: int, rng: Random) -> None:
    """Random matches, one after the other, until so many decisions were made."""
    random = rng.random
    state = game.start(seats)
    while decisions:
        pending = state.pending()
        if not pending:
            state = passed(state, rng)
            continue
        legal = state.legal(pending[0])
        state.apply(pending[0], legal[int(random() * len(legal))])
        decisions -= 1


def play_watched(
    game: type[State], seats: int, decisions: int, rng: Random, look: Callable[[State, int], object]
) -> None:
    """The same with a look at each decision."""
    random = rng.random
    state = game.start(seats)
    while decisions:
        pending = state.pending()
        if not pending:
            state = passed(state, rng)
            continue
        look(state, pending[0])
        legal = state.legal(pending[0])
        state.apply(pending[0], legal[int(random() * len(legal))])
        decisions -= 1


def passed(state: State, rng: Random) -> State:
    """The position after chance has brought what nobody decides; a fresh match where this one is over."""
    asked = state.chance()
    if asked is None:
        return state.start(state.players)
    state.resolve(outcome(asked, rng))
    return state


def outcome(asked: Json, rng: Random) -> Any:
    """What chance brings. It is drawn the cheap way, for the rules are to be measured and not the dice."""
    if asked["kind"] == "deck":
        return shuffled(asked["cards"], rng)
    if asked.get("ordered"):
        return shuffled(asked["among"], rng)
    return rng.choice(asked["among"])


def shuffled(members: list[Any], rng: Random) -> list[Any]:
    """By a random number for each member: five times as fast as ``sample``."""
    numbers = [rng.random() for _ in members]
    return [members[place] for place in sorted(range(len(members)), key=numbers.__getitem__)]
