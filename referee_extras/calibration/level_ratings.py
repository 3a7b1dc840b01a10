"""Make ratings of comparisons: each level met the one below, at the standard number of seats of the game.

The rating difference of two levels is the one at which Elo expects the measured share of placements.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

import referee
from referee.games import game
from referee.house.calibration import FILE, LevelRating, load_ratings
from referee.house.players import LEVELS, find_player
from referee_extras.calibration.comparison import Comparison

ANCHOR_LEVEL, ANCHOR_RATING = 3, 1500
HEAD: Final = "# Ratings of the house players, written by `referee house calibrate`. Errors are standard errors.\n"


def rate_levels(comparisons: Sequence[Comparison]) -> list[LevelRating]:
    """Return the ratings of all levels of one game, from comparisons of each level with the one below."""
    by_level = {int(find_player(compared.pairing.player).key): compared for compared in comparisons}
    steps = {level: rating_difference(compared) for level, compared in by_level.items()}
    pairing = comparisons[0].pairing
    ratings = []
    for level in range(1, len(LEVELS) + 1):
        between = [steps[step] for step in range(min(level, ANCHOR_LEVEL) + 1, max(level, ANCHOR_LEVEL) + 1)]
        ahead = math.copysign(sum(points for points, _ in between), level - ANCHOR_LEVEL)
        ratings.append(
            LevelRating(
                pairing.game,
                level,
                round(ANCHOR_RATING + ahead),
                round(math.hypot(*(error for _, error in between))),
                pairing.seats,
                by_level[max(level, 2)].deals,
                referee.__version__,
                game(pairing.game).rules_version,
            )
        )
    return ratings


def rating_difference(compared: Comparison) -> tuple[float, float]:
    """Return the difference in points at which Elo expects this share, and its error.

    A share of 0 or 1 counts as half a deal less, because no finite difference explains it.
    """
    margin = 0.5 / (compared.deals + 1)
    share = min(max(compared.share, margin), 1 - margin)
    points = 400 * math.log10(share / (1 - share))
    return points, 400 / math.log(10) * max(compared.error, margin / 2) / (share * (1 - share))


def store_ratings(new: Iterable[LevelRating], path: Path = FILE) -> None:
    """Write these ratings to the file, in place of those of the same games."""
    found = list(new)
    games = {rating.game for rating in found}
    kept = [rating for rating in load_ratings(path) if rating.game not in games]
    ordered = sorted([*kept, *found], key=lambda rating: (rating.game, rating.level))
    path.write_text(HEAD + "".join(map(_format_entry, ordered)), encoding="utf-8")


def _format_entry(rating: LevelRating) -> str:
    values = (f'"{value}"' if isinstance(value, str) else str(value) for value in asdict(rating).values())
    lines = (f"{name} = {value}\n" for name, value in zip(asdict(rating), values, strict=True))
    return "\n[[ratings]]\n" + "".join(lines)
