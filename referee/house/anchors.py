"""Look up the calibrated ratings of house players, which serve as anchors of the official ladders."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from referee.games import game as rules_of
from referee.house.calibration import LevelRating, load_ratings
from referee.house.players import NoSuchHousePlayer, find_player
from referee.ratings.elo import MICRO


def anchor_rating(game: str, options: Mapping[str, Any], seats: int, address: str) -> int | None:
    """Return the constant rating of a house player in micro-points, or None if it is no anchor under these terms.

    ``options`` are complete. Only tables with the standard options and the calibrated number of seats have anchors.
    """
    try:
        found = _calibration().get((game, seats, find_player(address).key))
    except NoSuchHousePlayer:
        return None
    return None if found is None or options != _standard_options(game, seats) else found.rating * MICRO


def anchor_errors(game: str, seats: int) -> dict[float, float]:
    """Return the standard errors of the anchors of a game, keyed by rating, both in points."""
    return {
        float(found.rating): float(found.error)
        for found in _calibration().values()
        if (found.game, found.seats) == (game, seats)
    }


@cache
def _calibration() -> dict[tuple[str, int, str], LevelRating]:
    return {(found.game, found.seats, str(found.level)): found for found in load_ratings()}


@cache
def _standard_options(game: str, seats: int) -> Mapping[str, Any]:
    return rules_of(game).start(seats, {}).options
