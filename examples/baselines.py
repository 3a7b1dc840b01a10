"""Print how well house players, worked strategies and the trained examples do against house players, as Markdown.

Run python examples/baselines.py [--games GAME…] [--deals N] [--search-deals N] [--seed N]

Each figure is the share of opponents left behind, ties counting half, with its standard error over deals. All other
seats are the same house player. Every deal is played from each seat with the same cards. The examples take part after
their training.
"""

import argparse
import importlib.util
import json
import sys
from functools import partial
from pathlib import Path
from random import Random

import numpy as np

from referee.games import catalogue, game
from referee.house.players import LEVELS, find_player
from referee_extras.gym.evaluation import evaluate

ROOT = Path(__file__).parents[1]
RIVALS = ("house:1", "house:2", "house:3")
SEARCH = "house:4"


def load(path):
    """Return the module in a file, without a place among other modules."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def agents_of(game_name):
    """Return a policy for each agent of a game, by its name, weakest house player first."""
    agents = {level.address(): partial(find_player(level.address())(Random(1)).decide, game_name) for level in LEVELS}
    steps = load(ROOT / "docs/strategies/measure.py").steps_of(game_name)
    agents |= {f"[strategy](strategies/{game_name}.md), {name}": with_id(choose) for name, choose in steps.items()}
    return agents | (trained() if game_name == "pool-nap" else {})


def with_id(choose):
    """Return a policy that gets an id with each question, from which a strategy may derive its randomness."""
    return lambda asked: choose(asked | {"decision": {"id": json.dumps(asked["observation"])}})


def trained():
    """Return the policies of the examples that were trained."""
    agents, linear, evolved = {}, ROOT / "examples/linear", ROOT / "examples/learning"
    if (weights := linear / "weights.npy").exists():
        values, choose_linear = np.load(weights), load(linear / "policy.py").choose
        agents["`examples/linear`"] = lambda asked: choose_linear(asked["observation"], asked["legal_actions"], values)
    if (weights := evolved / "weights.json").exists():
        agents["`examples/learning`"] = partial(
            load(evolved / "policy.py").choose, weights=json.loads(weights.read_text())
        )
    return agents


def print_table(game_name, args):
    seats = game(game_name).standard_seats
    print(f"\n### {game_name}, {seats} seats\n")
    print(f"| agent | {' | '.join(f'against `{rival}`' for rival in RIVALS)} |\n|{' --- |' * (1 + len(RIVALS))}")
    agents = agents_of(game_name)
    for name, policy in ((name, policy) for name, policy in agents.items() if args.agents in name):
        deals = args.search_deals if name == SEARCH else args.deals
        if not deals:
            continue
        cells = []
        for rival in RIVALS:
            if name == rival:
                cells.append("0.5, equal")
            elif name == SEARCH and rival != RIVALS[-1]:
                cells.append("")
            else:
                found = evaluate(policy, game_name, opponents=rival, deals=deals, seed=args.seed)
                cells.append(f"{found.share:.3f} ± {found.error:.3f} ({found.deals})")
        print(f"| {f'`{name}`' if name.startswith('house') else name} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", nargs="+", default=sorted(catalogue()), choices=sorted(catalogue()))
    parser.add_argument("--agents", default="", help="Only agents whose name contains this text.")
    parser.add_argument("--deals", type=int, default=100, help="Deals of each comparison, each played from every seat.")
    parser.add_argument("--search-deals", type=int, default=10, help="Deals of house:4, which takes long; 0: none.")
    parser.add_argument("--seed", type=int, default=1, help="Seed of the cards.")
    args = parser.parse_args()
    for game_name in args.games:
        print_table(game_name, args)


if __name__ == "__main__":
    sys.exit(main())
