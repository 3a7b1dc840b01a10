"""Learns Pool Nap against `house:random`, by evolution (CMA-ES), and writes what it has learned to weights.json.

python examples/learning/train.py [--generations N] [--matches N] [--seed N] [--out FILE]
"""

import argparse
import json
import random
import time
import warnings
from pathlib import Path

from policy import BEGINNING, choose

from referee.gym.aec import env
from referee.house.strategies import players

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would like to draw
    import cma

SEATS = 3
OPTIONS = {"rounds": 6}
CHIPS = 50.0  # what returns are counted in


def main():
    wishes = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    wishes.add_argument("--generations", type=int, default=25)
    wishes.add_argument("--matches", type=int, default=60, help="that each candidate plays")
    wishes.add_argument("--seed", type=int, default=1)
    wishes.add_argument("--out", type=Path, default=Path(__file__).with_name("weights.json"))
    given = wishes.parse_args()

    began = time.monotonic()
    before = mean_return(BEGINNING, 1000 + given.seed, given.matches * 4)
    weights = learned(given)
    after = mean_return(weights, 1000 + given.seed, given.matches * 4)
    given.out.write_text(json.dumps(weights, indent=1) + "\n")
    print(f"before {before:+.1f} chips a match, after {after:+.1f}, in {time.monotonic() - began:.0f} s: {given.out}")


def learned(given):
    """The mean of the last generation: less lucky than its best member."""
    search = cma.CMAEvolutionStrategy(list(BEGINNING.values()), 0.4, {"seed": given.seed, "verbose": -9, "popsize": 10})
    for generation in range(given.generations):
        candidates = search.ask()
        # One set of deals for a generation, another for the next: luck decides less, and nobody learns deals by heart.
        losses = [-mean_return(named(one), generation, given.matches) / CHIPS for one in candidates]
        search.tell(candidates, losses)
        print(f"generation {generation + 1:>3}: best {-min(losses) * CHIPS:+.1f} chips a match", flush=True)
    return named(search.result.xfavorite)


def named(numbers):
    return dict(zip(BEGINNING, map(float, numbers), strict=True))


def mean_return(weights, seed, matches):
    """Chips that these weights gain a match against two random players, in seat 0."""
    table = env("pool-nap", SEATS, OPTIONS)
    dice = random.Random(seed)
    stranger = players()["random"](dice)
    gained = 0.0
    for match in range(matches):
        table.reset(seed=seed * 100_000 + match)
        while not table.terminations["seat_0"]:
            agent = table.agent_selection
            asked = table.infos[agent]
            asked["default_action"] = asked["legal_actions"][0]
            action = choose(asked, weights) if agent == "seat_0" else stranger.decide("pool-nap", asked)
            table.step(asked["legal_actions"].index(action))
        gained += table.table.state.returns()[0]
    return gained / matches


if __name__ == "__main__":
    main()
