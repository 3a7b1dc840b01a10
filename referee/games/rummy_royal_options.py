"""Declare the options of Rummy Royal. The module of the game interprets them."""

from typing import Final

from referee.games.options import Option

MOST_BID: Final = 200  # the largest `max_bid`

OPTIONS: Final = (
    Option(
        "deals",
        "int",
        0,
        "number of deals; 0: each seat deals twice",
        "The match has {value} deal{s} instead of {default}.",
        low=0,
        high=100,
    ),  # RR-04
    Option(
        "stack",
        "int",
        200,
        "chips of each seat at the start",
        "Each seat begins with {value} chips instead of {default}.",
        low=10,
        high=10_000,
    ),  # RR-05
    Option(
        "ante",
        "int",
        1,
        "chips each seat puts on each space before each deal",
        "Each seat puts {value} chips on each space instead of {default}.",
        low=1,
        high=10,
    ),  # RR-03
    Option(
        "sequence",
        "choice",
        "678",
        "the three ranks that win the space seq",
        {"89T": "The sequence 8-9-10 wins its space instead of 6-7-8."},
        choices=("678", "89T"),
    ),
    Option(
        "dealer_looks",
        "bool",
        True,
        "whether the dealer sees its own hand before it decides on the extra hand",
        "The dealer decides on the extra hand before seeing a card.",
    ),  # RR-08
    Option(
        "max_bid",
        "int",
        50,
        "highest bid for the extra hand",
        "The highest bid for the extra hand is {value} instead of {default}.",
        low=1,
        high=MOST_BID,
    ),  # RR-11
)
