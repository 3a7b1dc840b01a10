"""Read the ratings of the house players from ``calibration.toml``: constants by game and level, with level 3 at 1500.

The extra ``calibration`` writes the file.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("calibration.toml")


@dataclass(frozen=True, slots=True)
class LevelRating:
    """Hold the constant rating of a level in a game. Its error is that of the difference to level 3."""

    game: str
    level: int
    rating: int
    error: int
    seats: int
    deals: int  # in which the level met the one below (above, for the lowest)
    engine_version: str
    rules_version: int


def load_ratings(path: Path = FILE) -> list[LevelRating]:
    """Return the stored ratings, or an empty list if the file does not exist."""
    if not path.exists():
        return []
    return [LevelRating(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["ratings"]]
