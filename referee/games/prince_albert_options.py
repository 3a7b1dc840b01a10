"""Declare the options of Prince Albert. The module of the game interprets them."""

from typing import Final

from referee.games.options import Option
from referee.games.prince_albert_votes import MOTIONS

OPTIONS: Final = (
    Option(
        "target",
        "int",
        25,
        "points that end the match",
        "The match ends at {value} point{s} instead of {default}.",
        low=1,
        high=500,
    ),
    Option(
        "max_rounds",
        "int",
        100,
        "the last round in any case",
        "The match has at most {value} round{s} instead of {default}.",
        low=1,
        high=500,
    ),  # PA-37
    Option(
        "holdem",
        "bool",
        False,
        "two cards face down, three face up",
        "Hold'em: two cards of a hand are face down and three face up.",
    ),  # PA-25
    Option(
        "cash", "bool", False, "three betting rounds", "Seats play for chips, with an ante and three betting rounds."
    ),
    Option(
        "ante",
        "int",
        1,
        "cash: chips each seat pays at the deal",
        "Each seat pays {value} chip{s} at the deal instead of {default}.",
        low=0,
        high=100,
    ),  # PA-29
    Option(
        "small_bet",
        "int",
        2,
        "cash: unit of the first two bettings",
        "Bets in the first two betting rounds are {value} chip{s} instead of {default}.",
        low=1,
        high=100,
    ),
    Option(
        "big_bet",
        "int",
        4,
        "cash: unit of the last betting",
        "Bets in the last betting round are {value} chip{s} instead of {default}.",
        low=1,
        high=100,
    ),
    Option(
        "max_raises",
        "int",
        3,
        "cash: raises in a betting, the bet not counted",
        "A betting round has at most {value} raise{s} instead of {default}.",
        low=0,
        high=10,
    ),
    Option(
        "stack",
        "int",
        0,
        "cash: chips to start with; 0 is an open account",
        "Each seat begins with {value} chip{s}, which are also its limit.",
        low=0,
        high=100_000,
    ),  # PA-30
    Option(
        "rank_by",
        "choice",
        "points",
        "what places the seats",
        {"chips": "Chips decide the ranks instead of points."},
        choices=("points", "chips"),
    ),  # PA-41
    Option(
        "point_value",
        "int",
        0,
        "rank_by chips: chips a point is worth",
        "A point is worth {value} chip{s} at the end.",
        low=0,
        high=100,
    ),
    Option(
        "forced_bid",
        "choice",
        "max",
        "what a seat left to bid alone may bid",
        {"free": "A seat left to bid alone may bid less than the maximum."},
        choices=MOTIONS["forced_bid"],
    ),  # PA-05
    Option(
        "showing",
        "choice",
        "voluntary",
        "whether all show",
        {"all": "All seats show their hands."},
        choices=MOTIONS["showing"],
    ),  # PA-22
    Option(
        "ties",
        "choice",
        "push",
        "what becomes of a tied claim",
        {"lose": "A bid or an all in that shares the best hand is lost."},
        choices=MOTIONS["ties"],
    ),  # PA-20
    Option(
        "vote",
        "list",
        [],
        "options the seats vote on",
        "The seats vote on these options before the first round: {value}.",
        choices=tuple(MOTIONS),
    ),  # PA-40
)
