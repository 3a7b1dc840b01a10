"""Choose actions by trying them in sampled positions: flat Monte Carlo with common random numbers.

``resampling`` draws the positions, and the heuristics of ``sound`` play all seats from there to the end of a round. A
decision is budgeted in such rollouts, never in time, so that it depends only on the question and the dice.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nlargest
from random import Random
from typing import Final

from referee.games.state import Json, Seat, State
from referee.house.resampling import RESAMPLE
from referee.house.strategies import QUICK, SOUND
from referee.match.chance import random_outcome

SEED_BITS: Final = 128
CAUTION: Final = 0.7  # standard errors by which an action must do better than that of the heuristics
World = Callable[[Random], State]  # draws a position


@dataclass(frozen=True, slots=True)
class Effort:
    """Limit the search of a game. On average, a decision takes less than 100 ms of CPU time."""

    rollouts: int = 48  # in all, over all actions and positions
    actions: int = 8  # that are tried: the best ones by the heuristics
    rounds: int = 1  # after which a rollout ends and the scores are compared


EFFORTS: Final = {
    "pool-nap": Effort(rollouts=96),
    "prince-albert": Effort(rollouts=100, actions=4),
    "prisoners": Effort(rollouts=96),
    "rummy-royal": Effort(rollouts=96),
    "saint-poker": Effort(rollouts=128, rounds=2),
}


def search_action(game: str, question: Json, seed: int) -> Json:
    """Return the legal action that does best in positions that agree with the observation.

    In a game whose positions cannot be sampled, return that of the heuristics.
    """
    dice, legal = Random(seed), question["legal_actions"]  # noqa: S311  # for choices of a player, not for cards
    resample, seen = RESAMPLE.get(game), question["observation"]
    if resample is None or len(legal) == 1:
        rate = SOUND.get(game, {}).get(seen["phase"])
        action: Json = max(legal, key=rate(seen)) if rate else dice.choice(legal)
        return action
    return search(game, question, partial(resample, seen), dice, EFFORTS.get(game, Effort()))


def search(game: str, question: Json, draw_world: World, dice: Random, effort: Effort) -> Json:
    """Return the legal action that does best in positions from ``draw_world``, by sequential halving.

    All remaining actions are tried in the same positions with the same luck; then the worse half is dropped. The choice
    of the heuristics is never dropped, and is played unless another action does clearly better.
    """
    seen, legal = question["observation"], question["legal_actions"]
    actions = _most_promising(game, seen, legal, effort.actions)
    halvings = max(1, (len(actions) - 1).bit_length())
    leads: list[list[float]] = [[] for _ in actions]  # by action, then by world
    left = [*range(len(actions))]
    for _ in range(halvings):
        for _ in range(max(1, effort.rollouts // (halvings * len(left)))):
            world, luck = draw_world(dice), dice.random()
            for index in left:
                lead = _play_on(world.clone(), seen["seat"], actions[index], Random(luck), effort.rounds)  # noqa: S311
                leads[index].append(lead)
        best = sorted(left[1:], key=lambda index: -sum(leads[index]))
        left = [0, *best[: max(1, len(left) // 2)]]
    return actions[left[1] if _is_better(leads[left[1]], leads[0]) else 0]


def _is_better(leads: Sequence[float], others: Sequence[float]) -> bool:
    """Return whether the mean difference is more than chance easily explains: the heuristics are often right."""
    gains = [lead - other for lead, other in zip(leads, others, strict=True)]
    error = statistics.pstdev(gains) / math.sqrt(len(gains))
    return statistics.fmean(gains) > CAUTION * error


def _most_promising(game: str, seen: Json, legal: Sequence[Json], count: int) -> list[Json]:
    """Return the best actions by the heuristics, the best one first."""
    rate = SOUND[game].get(seen["phase"])
    return nlargest(count, legal, key=rate(seen)) if rate else [*legal[:count]]


def _play_on(state: State, seat: Seat, action: Json, luck: Random, rounds: int) -> float:
    """Return the lead of the seat in the end, after playing the action and then by the heuristics."""
    events = state.apply(seat, action)
    while not state.over:
        rounds -= sum(event["event"] == state.opening for event in events)
        if rounds <= 0:
            break
        asked = state.chance()
        if asked is not None:
            events = state.resolve(random_outcome(asked, luck))
            continue
        seat_to_act = state.pending()[0]
        events = state.apply(seat_to_act, sound_action(state, seat_to_act))
    scores = state.scores()
    return scores[seat] - (sum(scores) - scores[seat]) / (len(scores) - 1)


def sound_action(state: State, seat: Seat) -> Json:
    legal = state.legal(seat)
    if len(legal) == 1:
        return legal[0]
    rate = QUICK[state.name].get(state.phase)
    if rate is None:
        return legal[0]
    return max(legal, key=rate(state.observation(seat)))
