"""Random play: outcomes, actions and their events."""

from collections.abc import Iterator
from random import Random
from typing import Any

from referee.games.state import State
from referee.match.canonical import Json


def random_outcome(asked: Json, rng: Random) -> Any:
    """Return a random outcome of this chance request."""
    if asked["kind"] == "deck":
        return rng.sample(asked["cards"], len(asked["cards"]))
    if asked.get("ordered"):
        return rng.sample(asked["among"], len(asked["among"]))
    return rng.choice(asked["among"])


def one_step(state: State, rng: Random) -> list[Json]:
    """Resolve one chance request, or play a random legal action of the first pending seat. Return the events."""
    asked = state.chance()
    if asked is not None:
        return state.resolve(random_outcome(asked, rng))
    seat = state.pending()[0]
    return state.apply(seat, rng.choice(state.legal(seat)))


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
