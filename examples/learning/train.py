"""Learn Pool Nap against `house:1` by an evolution strategy (CMA-ES), and write the weights to weights.json.

Run python examples/learning/train.py [--generations N] [--matches N] [--seed N] [--out FILE]
"""

import argparse
import json
import random
import time
import warnings
from pathlib import Path

from policy import BEGINNING, choose

from referee.house.players import find_player
from referee_extras.gym.aec import env

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # cma warns that it cannot plot
    import cma

SEATS = 3
OPTIONS = {"rounds": 6}
CHIPS = 50.0  # the unit of the losses that CMA-ES minimizes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generations", type=int, default=25, help="Number of generations.")
    parser.add_argument("--matches", type=int, default=60, help="Matches that each candidate plays.")
    parser.add_argument("--seed", type=int, default=1, help="Seed of the search and of the last comparison.")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("weights.json"), help="File to write.")
    args = parser.parse_args()

    start = time.monotonic()
    before = mean_return(BEGINNING, 1000 + args.seed, args.matches * 4)
    weights = train(args)
    after = mean_return(weights, 1000 + args.seed, args.matches * 4)
    args.out.write_text(json.dumps(weights, indent=1) + "\n")
    print(f"before {before:+.1f} chips a match, after {after:+.1f}, in {time.monotonic() - start:.0f} s: {args.out}")


def train(args):
    """Return the mean weights of the last generation, which depend less on luck than the best candidate."""
    search = cma.CMAEvolutionStrategy(list(BEGINNING.values()), 0.4, {"seed": args.seed, "verbose": -9, "popsize": 10})
    for generation in range(args.generations):
        candidates = search.ask()
        # To reduce luck, all candidates of a generation play the same deals. Each generation plays other deals.
        losses = [-mean_return(to_weights(numbers), generation, args.matches) / CHIPS for numbers in candidates]
        search.tell(candidates, losses)
        print(f"generation {generation + 1:>3}: best {-min(losses) * CHIPS:+.1f} chips a match", flush=True)
    return to_weights(search.result.xfavorite)


def to_weights(numbers):
    return dict(zip(BEGINNING, map(float, numbers), strict=True))


def mean_return(weights, seed, matches):
    """Return the mean gain in chips of these weights in the first seat, against two random players."""
    table = env("pool-nap", SEATS, OPTIONS)
    dice = random.Random(seed)
    stranger = find_player("random")(dice)
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
