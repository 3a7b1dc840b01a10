"""The conformity matches of the rules: a chance source any language can repeat, and the digest of a log."""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from referee.games.state import State
from referee.match.canonical import Json, dumps
from referee.match.chance import shuffle

Below = Callable[[int], int]
Draw = Callable[[Json], Any]  # the outcome of a chance request


def conformity_match(state: State, draw: Draw, choose: Callable[[int, int], int]) -> tuple[str, str]:
    """Play a match. Return a digest of its events, and one of all that its seats and the public see and may do.

    ``choose`` has the number of the decision, from 1, and of legal actions.
    """
    bounds = {"legal": state.legal_bound(state.players), "all": state.decision_bound(state.players, state.options)}
    decisions, log, views = 0, list[Json](), [dumps(bounds)]
    while not state.over:
        asked = state.chance()
        if asked is not None:
            news = state.resolve(draw(asked))
        else:
            decisions += 1
            seat = min(state.pending())
            legal = state.legal(seat)
            views.append(dumps([legal, state.default(seat), state.forced_action(seat)]))
            news = state.apply(seat, legal[choose(decisions, len(legal))])
        log += news
        for viewer in (None, *range(state.players)):
            shown = state.visible_events(news, viewer, state.options)
            views.append(dumps([shown, {} if viewer is None else state.observation(viewer)]))
    return digest(map(dumps, log)), digest(views)


def generator(seed: int) -> Below:
    """Return ``next(m)``: a number below m."""
    state = seed

    def below(m: int) -> int:
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return state // 65536 % m

    return below


def in_turn(decisions: int, count: int) -> int:
    """Return the index of the legal action that a seat chooses, unless it is drawn."""
    return 7 * decisions // 2 % count


def outcome(asked: Json, below: Below) -> Any:
    """Return the outcome of a chance request."""
    if asked["kind"] == "deck" or asked.get("ordered"):
        return shuffle(asked["cards"] if asked["kind"] == "deck" else asked["among"], below)
    return asked["among"][below(len(asked["among"]))]


def digest(rows: Iterable[bytes]) -> str:
    """Return the first 16 hex digits of the SHA-256 of the rows joined by newlines."""
    return hashlib.sha256(b"\n".join(rows)).hexdigest()[:16]
