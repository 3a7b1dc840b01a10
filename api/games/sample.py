"""Play the first decisions of a match between house players, for the table that is drawn on the page of a game."""

from functools import cache
from hashlib import sha256
from random import Random
from typing import Any, Final

from referee.games import game
from referee.house.players import find_player
from referee.match.chance import CommittedChance

Json = dict[str, Any]
PLAYER: Final = "house:3"
TURNS: Final = 4  # decisions of each seat, at most; the last seat has one less, so that a trick is not complete


@cache
def sample_position(name: str) -> Json:
    """Return ``header`` and ``rows`` of the beginning of a match, as the viewer reads them. They never change."""
    rules = game(name)
    seats = rules.standard_seats
    state = rules.start(seats, {})
    chance = CommittedChance(sha256(name.encode()).digest(), "", [])
    player, draws = find_player(PLAYER)(Random(name)), {"deck": 0, "draw": 0}  # noqa: S311  # shown, not played for
    events: list[list[Json]] = []
    for _ in range(seats * TURNS - 1):
        while not state.over and (asked := state.chance()) is not None:
            events.append(state.resolve(chance.outcome(asked, draws[asked["kind"]])))
            draws[asked["kind"]] += 1
        if state.over:
            break
        seat = state.pending()[0]
        legal = state.legal(seat)
        question = {"observation": state.observation(seat), "legal_actions": legal}
        events.append(state.apply(seat, legal[0] if len(legal) == 1 else player.decide(name, question)))
    header = {"game": name, "options": state.options, "seats": seats, "players": []}
    return {
        "header": header,
        "rows": [{"row": at + 1, "type": "chance", "events": row} for at, row in enumerate(events)],
    }
