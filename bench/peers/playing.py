"""Random matches in the engines of others and in ours: any legal action, each as likely as the other.

Each library is driven at the lowest level that its own environments use, and observes nothing it does not have to;
PettingZoo gives what is legal as a part of the observation alone. The games differ, and so does what a decision is.
"""

import importlib
from collections.abc import Callable
from random import Random
from typing import Any, Final

from bench.playouts import play
from referee.games import catalogue

Match = Callable[[], int]  # plays a match, or a stretch of matches, and gives the number of decisions

STRETCH: Final = 100  # decisions
OPEN_SPIEL = ("kuhn_poker", "leduc_poker", "hearts", "spades", "oh_hell", "gin_rummy")
RLCARD = ("leduc-holdem", "limit-holdem", "uno", "gin-rummy")
PETTINGZOO = ("tictactoe_v3", "connect_four_v3", "leduc_holdem_v4")
AUTOMATIONS = (
    "ANTE_POSTING", "BET_COLLECTION", "BLIND_OR_STRADDLE_POSTING", "HOLE_CARDS_SHOWING_OR_MUCKING", "HAND_KILLING",
    "CHIPS_PUSHING", "CHIPS_PULLING", "CARD_BURNING", "HOLE_DEALING", "BOARD_DEALING", "RUNOUT_COUNT_SELECTION",
)  # fmt: skip

random = Random(1).random


def ours() -> dict[str, Match]:
    """Tables of two and of five."""

    def stretch(name: str, seats: int) -> Match:
        game, rng = catalogue()[name], Random(1)

        def once() -> int:
            play(game, seats, STRETCH, rng)
            return STRETCH

        return once

    return {f"{name} ({seats} seats)": stretch(name, seats) for name in catalogue() for seats in (2, 5)}


def open_spiel() -> dict[str, Match]:
    pyspiel = importlib.import_module("pyspiel")

    def match(game: Any) -> Match:
        def once() -> int:
            state, decisions = game.new_initial_state(), 0
            while not state.is_terminal():
                if state.is_chance_node():
                    # All outcomes are equally likely in these games.
                    outcomes = state.chance_outcomes()
                    state.apply_action(outcomes[int(random() * len(outcomes))][0])
                    continue
                legal = state.legal_actions()
                state.apply_action(legal[int(random() * len(legal))])
                decisions += 1
            return decisions

        return once

    return {name: match(pyspiel.load_game(name)) for name in OPEN_SPIEL}


def rlcard() -> dict[str, Match]:
    library = importlib.import_module("rlcard")

    def match(game: Any) -> Match:
        def legal_actions() -> list[Any]:
            return list((game if hasattr(game, "get_legal_actions") else game.judge).get_legal_actions())

        def once() -> int:
            decisions = 0
            game.init_game()
            while not game.is_over():
                legal = legal_actions()
                game.step(legal[int(random() * len(legal))])
                decisions += 1
            return decisions

        return once

    return {name: match(library.make(name).game) for name in RLCARD}


def pettingzoo() -> dict[str, Match]:
    def match(table: Any) -> Match:
        def once() -> int:
            table.reset()
            decisions = 0
            while not any(table.terminations.values()):
                (legal,) = table.observe(table.agent_selection)["action_mask"].nonzero()
                table.step(int(legal[int(random() * len(legal))]))
                decisions += 1
            return decisions

        return once

    return {name: match(importlib.import_module(f"pettingzoo.classic.{name}").raw_env()) for name in PETTINGZOO}


def pokerkit() -> dict[str, Match]:
    library = importlib.import_module("pokerkit")
    automations = tuple(library.Automation[name] for name in AUTOMATIONS)

    def once() -> int:
        table = library.NoLimitTexasHoldem.create_state(automations, True, 0, (1, 2), 2, (200,) * 4, 4)
        decisions = 0
        while table.status:
            possible = (
                (table.fold, table.can_fold),
                (table.check_or_call, table.can_check_or_call),
                (table.complete_bet_or_raise_to, table.can_complete_bet_or_raise_to),
            )
            legal = [act for act, may in possible if may()]
            legal[int(random() * len(legal))]()
            decisions += 1
        return decisions

    return {"no-limit hold'em (4 seats)": once}


PLAYERS: Final[dict[str, Callable[[], dict[str, Match]]]] = {
    "ours": ours,
    "OpenSpiel (C++ from Python)": open_spiel,
    "RLCard": rlcard,
    "PettingZoo classic": pettingzoo,
    "PokerKit": pokerkit,
}
