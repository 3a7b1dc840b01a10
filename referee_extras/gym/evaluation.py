"""Measure how good a policy is against house players: the share of opponents that it leaves behind, with its error."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from referee.errors import BadOption, IllegalAction
from referee_extras.gym.learner import LearnerEnv, Opponent, Policy


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Hold a result. ``share`` is 1 if the policy always places first alone, and ½ if it equals its opponents.

    ``error`` is the standard error over deals. Each deal was played once from every seat.
    """

    share: float
    error: float
    deals: int
    matches: int

    def __str__(self) -> str:
        return f"{self.share:.3f} ± {self.error:.3f} ({self.deals} deals, {self.matches} matches)"


def evaluate(
    policy: Policy,
    game_name: str,
    players: int | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    opponents: Opponent | Sequence[Opponent] = "house:3",
    deals: int = 100,
    seed: int = 0,
) -> Evaluation:
    """Play ``deals`` with the policy in each seat in turn, with the same cards, and return its share of placements.

    The policy takes a question (``LearnerEnv.question``) and returns an action. Equal seeds deal equal cards. Raise
    ``BadOption`` for fewer than two deals, which have no error, and ``IllegalAction`` if the policy plays an illegal
    action; otherwise raise what ``LearnerEnv`` raises.
    """
    if deals < 2:
        raise BadOption("deals", f"expected at least 2, because a single deal has no error; got {deals}")
    make = partial(LearnerEnv, game_name, players, options, opponents=opponents, actions="index", reward="placement")
    envs = [make(seat=seat) for seat in range(make().players)]
    shares = [statistics.fmean(_play(env, policy, seed * 1_000_003 + deal) for env in envs) for deal in range(deals)]
    error = statistics.stdev(shares) / deals**0.5
    return Evaluation(statistics.fmean(shares), error, deals, deals * len(envs))


def _play(env: LearnerEnv, policy: Policy, seed: int) -> float:
    """Play a match and return the share of the other seats that are placed behind, ties counting half."""
    env.reset(seed=seed)
    share, over = 0.0, False
    while not over:
        question = env.question()
        action = policy(question)
        if action not in question["legal_actions"]:
            raise IllegalAction(f"the policy played {str(action)[:200]}, which is not in legal_actions")
        _, share, over, _, _ = env.step(question["legal_actions"].index(action))
    return share
