"""The conformity matches of the rules pages: a chance source any language can repeat, and the digest of a log."""

import hashlib
from collections.abc import Callable
from typing import Any

from referee.games.state import State
from referee.match.canonical import Json, dumps
from referee.match.chance import shuffle


def conformity_match(game: type[State], players: int, options: Json, seed: int) -> tuple[State, int, list[Json]]:
    """Play the match of the page's last table. Return the final position, the number of decisions and the event log."""
    below = generator(seed)
    state, decisions, log = game.start(players, options), 0, []
    while not state.over:
        asked = state.chance()
        if asked is not None:
            log += state.resolve(outcome(asked, below))
            continue
        decisions += 1
        seat = min(state.pending())
        legal = state.legal(seat)
        log += state.apply(seat, legal[(7 * decisions // 2) % len(legal)])
    return state, decisions, log


def generator(seed: int) -> Callable[[int], int]:
    """Return ``next(m)`` of the rules pages."""
    state = seed

    def below(m: int) -> int:
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return state // 65536 % m

    return below


def outcome(asked: Json, below: Callable[[int], int]) -> Any:
    """Return the outcome of the rules pages' chance source."""
    if asked["kind"] == "deck":
        return shuffle(asked["cards"], below)
    if asked.get("ordered"):
        return shuffle(asked["among"], below)
    return asked["among"][below(len(asked["among"]))]


def digest(log: list[Json]) -> str:
    """Return the first 16 hex digits of the SHA-256 of the rows joined by newlines."""
    return hashlib.sha256(b"\n".join(map(dumps, log))).hexdigest()[:16]
