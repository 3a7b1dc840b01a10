"""Learn Pool Nap against house players with linear action values (fitted Q), using only NumPy; write weights.npy.

Run python examples/linear/train.py [--iterations N] [--matches N] [--opponents NAME…] [--seed N] [--out FILE]

Each iteration plays matches, more greedily from one to the next, and then fits the value of each action: the chips
gained from it to the end of its round, as a linear function of the observation (ridge regression).
"""

import argparse
import time
from pathlib import Path

import numpy as np
from policy import GAME, choose, features

from referee_extras.gym.evaluation import evaluate
from referee_extras.gym.learner import LearnerEnv

HOTTEST, COOLEST = 3.0, 0.3  # chips: differences in value that exploration hardly distinguishes, at first and at last
KEPT = 0.7  # weight of what earlier iterations saw; they played worse
RIDGE = 20.0
BIDDING = 0  # place in an observation that is 1 while the seats bid, which begins a round
CHECK_SEED = 1_000  # of the final comparison, whose cards were not in the training


class Fit:
    """Sum up what each action gained, and solve for its weights."""

    def __init__(self, actions, length):
        self.weights = np.zeros((actions, length))
        self.squares, self.products = np.zeros((actions, length, length)), np.zeros((actions, length))

    def update(self, seen, actions, gains):
        self.squares *= KEPT
        self.products *= KEPT
        for action in np.unique(actions):
            rows = seen[actions == action]
            self.squares[action] += rows.T @ rows
            self.products[action] += gains[actions == action] @ rows
            ridge = RIDGE * np.eye(rows.shape[1])
            self.weights[action] = np.linalg.solve(self.squares[action] + ridge, self.products[action])


def play(env, weights, seed, dice, temperature):
    """Play a match. Return its features, actions and gains, and the last ``info``."""
    observation, info = env.reset(seed=seed)
    seen, actions, gains, first, over = [], [], [], 0, False
    while not over:
        if observation[BIDDING] and seen and not seen[-1][BIDDING]:
            first = len(gains)  # of the new round
        seen.append(features(observation))
        legal = np.flatnonzero(info["action_mask"])
        values = weights[legal] @ seen[-1]
        odds = np.exp((values - values.max()) / temperature)
        action = dice.choice(legal, p=odds / odds.sum())
        observation, gained, over, _, info = env.step(action)
        actions.append(action)
        gains.append(0.0)
        gains[first:] = [gain + gained for gain in gains[first:]]
    return seen, actions, gains, info


def train(args):
    env = LearnerEnv(GAME, opponents=args.opponents, seat=None, reward="scores")
    fit, dice = Fit(env.action_space.n, env.encoder.length + 1), np.random.default_rng(args.seed)
    for iteration in range(args.iterations):
        temperature = HOTTEST * (COOLEST / HOTTEST) ** (iteration / max(1, args.iterations - 1))
        first = args.seed * 100_000 + iteration * args.matches
        played = [play(env, fit.weights, first + match, dice, temperature) for match in range(args.matches)]
        fit.update(*(np.array([row for match in played for row in match[part]]) for part in range(3)))
        share = np.mean([share_behind(info) for *_, info in played])
        print(f"iteration {iteration + 1:>3}: share of opponents behind {share:.3f}, while exploring", flush=True)
    return fit.weights


def share_behind(info):
    """Return the share of the other seats that are placed behind the learner, ties counting half."""
    own = info["placements"][info["seat"]]
    others = [other for seat, other in enumerate(info["placements"]) if seat != info["seat"]]
    return np.mean([0.5 if other == own else other > own for other in others])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=20, help="Number of iterations.")
    parser.add_argument("--matches", type=int, default=150, help="Matches of each iteration.")
    parser.add_argument("--check", type=int, default=50, help="Deals of the comparison after the training.")
    parser.add_argument("--opponents", nargs="+", default=["house:3"], help="House players; drawn for each seat.")
    parser.add_argument("--seed", type=int, default=1, help="Seed of the training.")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("weights.npy"), help="File to write.")
    args = parser.parse_args()

    start = time.process_time()
    weights = train(args)
    np.save(args.out, weights.astype(np.float32))
    print(f"{args.out}, after {time.process_time() - start:.0f} s of CPU time")
    for opponent in dict.fromkeys(args.opponents):
        found = evaluate(
            lambda asked: choose(asked["observation"], asked["legal_actions"], weights),
            GAME,
            opponents=opponent,
            deals=args.check,
            seed=CHECK_SEED,
        )
        print(f"share of opponents behind, against {opponent}: {found}")


if __name__ == "__main__":
    main()
