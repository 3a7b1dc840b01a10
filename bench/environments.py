"""Measure random steps per CPU second of the learning environments: match, observation as an array, interface.

The rules, which ``bench.engine`` measures alone, are a small part of a step.
"""

import statistics
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final

from open_spiel.python.observation import make_observation  # type: ignore[import-untyped]  # ships no types

from bench.engine import SEATS
from bench.measure import Benchmark, Json, geometric_mean, repeat_for, run, significant
from bench.playouts import play_agents, play_learner, play_positions
from referee.games import catalogue
from referee_extras.gym import aec, openspiel
from referee_extras.gym.learner import LearnerEnv

GOAL: Final = 20_000  # steps per CPU second with the interface of PettingZoo, the geometric mean of the games


def measure(benchmark: Benchmark) -> Json:
    agents, positions = (measure_games(benchmark, prepare) for prepare in (prepare_agents, prepare_positions))
    agents["mean, of the goal"] = significant(agents["geometric mean"] / GOAL)
    learners = {
        f"Gymnasium, against {level}": measure_games(benchmark, partial(prepare_learner, level))
        for level in ("house:1", "house:3")
    }
    return {"PettingZoo": agents, "OpenSpiel with tensors": positions, **learners}


def measure_games(benchmark: Benchmark, prepare: Callable[[str, int], Callable[[], int]]) -> Json:
    """Return the steps per CPU second of each game with a small number of seats, and their mean."""
    figures: Json = {}
    for name in catalogue():
        work, seats = prepare(name, SEATS[name][0]), SEATS[name][0]
        speeds = [repeat_for(0.01 if benchmark.quick else 0.5, work) for _ in range(benchmark.runs)]
        figures[f"{name}, {seats} seats"] = significant(statistics.median(speeds))
        benchmark.note(f"{name}, {seats} seats")
    return figures | {"geometric mean": significant(geometric_mean(figures.values()))}


def prepare_agents(name: str, seats: int) -> Callable[[], int]:
    environment = aec.env(name, seats)
    environment.reset(seed=1)
    return partial(play_agents, environment, Random(1))


def prepare_positions(name: str, seats: int) -> Callable[[], int]:
    game = openspiel.load(name, seats)
    return partial(play_positions, game, make_observation(game), Random(1))


def prepare_learner(level: str, name: str, seats: int) -> Callable[[], int]:
    environment = LearnerEnv(name, seats, opponents=level)
    environment.reset(seed=1)
    return partial(play_learner, environment, Random(1))


if __name__ == "__main__":
    run("environments", "random steps of learning environments per CPU second", measure)
