"""Recorded matches. A change of one byte is a change of the rules or of the log, and wants its reason told.

``tests/games/hooks.py`` lists these matches; ``python -m tests.golden`` writes them again.
"""

from pathlib import Path
from random import Random

from referee.match.canonical import Json
from referee.match.log import reveal_line
from referee.match.match import Match
from referee.match.reveal import Reveal
from tests.games.hooks import HOOKS
from tests.match.playing import SEED, at_random, header, played

FOLDER = Path(__file__).parent
RECORDED: dict[str, tuple[str, int, Json]] = {
    f"{game}-{seats}": (game, seats, {**options})
    for game, hook in HOOKS.items()
    for seats, options in hook.golden.items()
}


def recorded(name: str) -> list[bytes]:
    """The match of this name as the engine plays it today."""
    game, seats, options = RECORDED[name]
    match: Match = played(header(game, seats, options), at_random(Random(name)))
    return [*match.lines, reveal_line(len(match.lines), match.lines[-1], Reveal.without_nonces(SEED, seats).to_json())]


def path(name: str) -> Path:
    return FOLDER / f"{name}.ndjson"
