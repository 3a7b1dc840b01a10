"""Render the crosstable as a heat map: cells coloured by score, with the score as text."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from referee.standings.crosstable import HeadToHead

Json = dict[str, Any]

# CSS classes of the cells, from all points lost to all points won.
LEVELS: Final = ("l3", "l2", "l1", "even", "w1", "w2", "w3")


def crosstable_grid(
    entrants: Sequence[tuple[int, str, str]], met: Mapping[Any, Mapping[Any, HeadToHead]]
) -> list[Json]:
    """Return a row for each entrant: its rank, id and name, and a cell for each opponent, which is None for itself."""
    return [
        {
            "rank": rank,
            "bot": bot,
            "name": name,
            "cells": [None if rival == bot else _cell(met[bot].get(rival)) for _, rival, _ in entrants],
        }
        for rank, bot, name in entrants
    ]


def score_level(share: float) -> str:
    """Return the CSS class for a share of the points, from 0 to 1. Only exactly half is ``even``."""
    if share == 0.5:
        return "even"
    steps = len(LEVELS) // 2
    if share < 0.5:
        return LEVELS[min(int(share * 2 * steps), steps - 1)]
    return LEVELS[len(LEVELS) - 1 - min(int((1 - share) * 2 * steps), steps - 1)]


def _cell(found: HeadToHead | None) -> Json | None:
    if found is None:
        return {"matches": 0, "level": "unmet"}
    points = float(found.points)
    return {"matches": found.matches, "points": points, "level": score_level(points / found.matches)}
