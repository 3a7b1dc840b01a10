"""Recorded matches. A change of one byte is a change of the rules or of the log, and wants its reason told.

``python -m tests.golden`` writes them anew.
"""

from pathlib import Path
from random import Random

from referee.match.canonical import Json
from referee.match.log import reveal_line
from referee.match.match import Match
from tests.match.playing import SEED, at_random, header, played

FOLDER = Path(__file__).parent
RECORDED: dict[str, tuple[str, int, Json]] = {
    "saint-poker-2": ("saint-poker", 2, {}),
    "saint-poker-5": ("saint-poker", 5, {"rounds": 3, "final_pickup": False}),
    "pool-nap-3": ("pool-nap", 3, {"rounds": 6}),
    "pool-nap-10": ("pool-nap", 10, {"rounds": 3, "all_pass": "dealer_bids", "bid_cover": False}),
    "prince-albert-4": ("prince-albert", 4, {"max_rounds": 5, "vote": ["showing", "ties"]}),
    "prince-albert-5": (
        "prince-albert",
        5,
        {"max_rounds": 4, "cash": True, "holdem": True, "stack": 30, "rank_by": "chips", "point_value": 2},
    ),
    "prisoners-2": ("prisoners", 2, {}),
    "prisoners-5": ("prisoners", 5, {"direction": "anticlockwise", "bidding": "single", "deals": 2}),
    "rummy-royal-3": ("rummy-royal", 3, {"deals": 4}),
    "rummy-royal-9": (
        "rummy-royal",
        9,
        {"deals": 4, "ante": 2, "sequence": "89T", "dealer_looks": False, "max_bid": 4},
    ),
}


def recorded(name: str) -> list[bytes]:
    """The match of this name as the engine plays it today."""
    game, seats, options = RECORDED[name]
    match: Match = played(header(game, seats, options), at_random(Random(name)))
    return [*match.lines, reveal_line(len(match.lines), match.lines[-1], SEED, [""] * seats, [""] * seats)]


def path(name: str) -> Path:
    return FOLDER / f"{name}.ndjson"
