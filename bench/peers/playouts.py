"""Play random matches in other engines and in ours, without observations. All legal actions are equally likely.

Each library is called at the lowest level that its own environments use, which ``environments`` measures:
PettingZoo returns legal actions only as a part of the observation. The games differ, and so do their decisions.
"""

import importlib
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any, Final

from bench.playouts import play
from referee.games import catalogue

Works = dict[str, Callable[[], int]]  # each plays a match, or a part of one, and returns the number of decisions

DECISIONS: Final = 100  # in our engine, per call
OPEN_SPIEL: Final = ("kuhn_poker", "leduc_poker", "hearts", "spades", "oh_hell", "gin_rummy")
RLCARD: Final = ("leduc-holdem", "limit-holdem", "uno", "gin-rummy")
PETTINGZOO: Final = ("tictactoe_v3", "connect_four_v3", "leduc_holdem_v4")
AUTOMATIONS: Final = (
    "ANTE_POSTING", "BET_COLLECTION", "BLIND_OR_STRADDLE_POSTING", "HOLE_CARDS_SHOWING_OR_MUCKING", "HAND_KILLING",
    "CHIPS_PUSHING", "CHIPS_PULLING", "CARD_BURNING", "HOLE_DEALING", "BOARD_DEALING", "RUNOUT_COUNT_SELECTION",
)  # fmt: skip

random = Random(1).random


def choose(members: Sequence[Any]) -> Any:
    """Choose a member at random, faster than ``Random.choice``."""
    return members[int(random() * len(members))]


def ours() -> Works:
    def play_part(name: str, seats: int, rng: Random) -> int:
        play(catalogue()[name], seats, DECISIONS, rng)
        return DECISIONS

    tables = [(name, seats) for name in catalogue() for seats in (2, 5)]
    return {f"{name} ({seats} seats)": partial(play_part, name, seats, Random(1)) for name, seats in tables}


def open_spiel() -> Works:
    library = importlib.import_module("pyspiel")

    def play_match(game: Any) -> int:
        state, decisions = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(choose(state.chance_outcomes())[0])  # equally likely in these games
                continue
            state.apply_action(choose(state.legal_actions()))
            decisions += 1
        return decisions

    return {name: partial(play_match, library.load_game(name)) for name in OPEN_SPIEL}


def rlcard() -> Works:
    library = importlib.import_module("rlcard")

    def play_match(game: Any) -> int:
        decisions = 0
        game.init_game()
        while not game.is_over():
            rules = game if hasattr(game, "get_legal_actions") else game.judge
            game.step(choose(list(rules.get_legal_actions())))
            decisions += 1
        return decisions

    return {name: partial(play_match, library.make(name).game) for name in RLCARD}


def pettingzoo() -> Works:
    def play_match(table: Any) -> int:
        table.reset()
        decisions = 0
        while not any(table.terminations.values()):
            (legal,) = table.observe(table.agent_selection)["action_mask"].nonzero()
            table.step(int(choose(legal)))
            decisions += 1
        return decisions

    modules = {name: importlib.import_module(f"pettingzoo.classic.{name}") for name in PETTINGZOO}
    return {name: partial(play_match, module.raw_env()) for name, module in modules.items()}


def pokerkit() -> Works:
    library = importlib.import_module("pokerkit")
    automations = tuple(library.Automation[name] for name in AUTOMATIONS)

    def play_match() -> int:
        table = library.NoLimitTexasHoldem.create_state(automations, True, 0, (1, 2), 2, (200,) * 4, 4)
        actions = (
            (table.fold, table.can_fold),
            (table.check_or_call, table.can_check_or_call),
            (table.complete_bet_or_raise_to, table.can_complete_bet_or_raise_to),
        )
        decisions = 0
        while table.status:
            choose([act for act, is_legal in actions if is_legal()])()
            decisions += 1
        return decisions

    return {"no-limit hold'em (4 seats)": play_match}


ENGINES: Final[dict[str, Callable[[], Works]]] = {
    "ours": ours,
    "open-spiel": open_spiel,
    "rlcard": rlcard,
    "pettingzoo": pettingzoo,
    "pokerkit": pokerkit,
}
