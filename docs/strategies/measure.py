"""Measure the strategies on a page of this folder against house players.    python docs/strategies/measure.py GAME

The code of each step is read from the page, so the figures there can be repeated: the same seed gives the same cards.
"""

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from referee.games import game as rules_of
from referee_extras.notebook import play

STEP = re.compile(r"<!-- strategy: (?P<name>[^>]+?) -->\n```python\n(?P<code>.*?)```", re.S)
Choose = Callable[[dict[str, Any]], dict[str, Any]]


def steps_of(game: str) -> dict[str, Choose]:
    """Return the function `choose` of each step on the page of a game."""
    found = {}
    for step in STEP.finditer((Path(__file__).parent / f"{game}.md").read_text(encoding="utf-8")):
        code: dict[str, Any] = {}
        exec(step["code"], code)  # noqa: S102  # the code of this project's own page
        found[step["name"]] = code["choose"]
    return found


def measure(game: str, choose: Choose, rival: str, matches: int, seed: str) -> Any:
    """Play at the number of seats of the official ladder, where all others are the same house player."""
    others = [rival] * (rules_of(game).standard_seats - 1)
    return play(game, [choose, *others], matches=matches, seed=seed).results[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--matches", type=int, default=400)
    parser.add_argument("--seed", default="strategies")
    given = parser.parse_args()
    for name, choose in steps_of(given.game).items():
        for rival in ("house:2", "house:3"):
            result = measure(given.game, choose, rival, given.matches, given.seed)
            print(f"{name}, {rival}: {result.score:.3f} ± {result.standard_error or 0:.3f}", flush=True)


if __name__ == "__main__":
    main()
