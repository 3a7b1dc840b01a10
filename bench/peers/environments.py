"""Play random matches in the learning environments of other projects and in ours, reading every observation.

The interfaces are those that learning programs use. The games differ, and so do their observations.
"""

import importlib
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final

from bench.engine import SEATS
from bench.peers.playouts import PETTINGZOO, RLCARD, Works, choose
from bench.playouts import play_agents, play_positions

OPEN_SPIEL: Final = ("kuhn_poker", "leduc_poker", "spades", "gin_rummy")  # these have a tensor of the current view


def ours() -> Works:
    library = importlib.import_module("referee_extras.gym.aec")
    return {name: partial(play_agents, library.env(name, seats), Random(1)) for name, (seats, _) in SEATS.items()}


def pettingzoo(constructor: str) -> Works:
    modules = {name: importlib.import_module(f"pettingzoo.classic.{name}") for name in PETTINGZOO}
    return {name: partial(play_agents, getattr(module, constructor)(), Random(1)) for name, module in modules.items()}


def rlcard() -> Works:
    library = importlib.import_module("rlcard")

    def play_match(environment: Any) -> int:
        steps = 0
        state, _ = environment.reset()
        while not environment.is_over():
            state, _ = environment.step(choose(list(state["legal_actions"])))
            steps += 1
        return steps

    return {name: partial(play_match, library.make(name)) for name in RLCARD}


def ours_in_openspiel() -> Works:
    library = importlib.import_module("referee_extras.gym.openspiel")
    return works_of_positions({name: library.load(name, seats) for name, (seats, _) in SEATS.items()})


def open_spiel() -> Works:
    library = importlib.import_module("pyspiel")
    return works_of_positions({name: library.load_game(name) for name in OPEN_SPIEL})


def works_of_positions(games: dict[str, Any]) -> Works:
    observe = importlib.import_module("open_spiel.python.observation").make_observation
    return {name: partial(play_positions, game, observe(game), Random(1)) for name, game in games.items()}


ENVIRONMENTS: Final[dict[str, Callable[[], Works]]] = {
    "ours": ours,
    "pettingzoo": partial(pettingzoo, "env"),
    "pettingzoo, without its wrappers": partial(pettingzoo, "raw_env"),  # they check the order of calls and actions
    "rlcard": rlcard,
}
TENSORS: Final[dict[str, Callable[[], Works]]] = {"ours": ours_in_openspiel, "open-spiel": open_spiel}
