"""Playing positions on: outcomes and actions by dice, and the events in one list."""

from collections.abc import Iterator
from random import Random
from typing import Any

from referee.games.state import State
from referee.match.canonical import Json


def random_outcome(asked: Json, rng: Random) -> Any:
    """Any outcome this chance node can have."""
    if asked["kind"] == "deck":
        return rng.sample(asked["cards"], len(asked["cards"]))
    if asked.get("ordered"):
        return rng.sample(asked["among"], len(asked["among"]))
    return rng.choice(asked["among"])


def one_step(state: State, rng: Random) -> list[Json]:
    """Resolves one chance node, or plays any legal action of the seat that comes first."""
    asked = state.chance()
    if asked is not None:
        return state.resolve(random_outcome(asked, rng))
    seat = state.pending()[0]
    return state.apply(seat, rng.choice(state.legal(seat)))


def positions(state: State, rng: Random) -> Iterator[State]:
    """The position again and again, one step further each time, the end of the match included."""
    yield state
    while not state.over:
        one_step(state, rng)
        yield state


def answered_by_default(state: State, rng: Random) -> tuple[int, list[Json]]:
    """Plays the default for every seat until the end; gives the number of decisions and the event log."""
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
    """The events of this name."""
    return [row for row in log if row["event"] == event]
