"""Prince Albert: the worked examples of its rules page, numbers as there."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from referee.match.canonical import Json
from tests.games.prince_albert import follow, pots, rounds

TIE = "2c As Ad 4d Kd Kc 5h 9d 9s 7s 6c 6h 8c 3c 3h"


class Example(NamedTuple):
    """Hold the seats, the options, the opener, the decks and the moves of an example, and what follows from them.

    ``ended`` has the winners, the gains and the scores of each round, and with cash the chips; ``left`` has the phase
    and the seat to act, or the placements.
    """

    seats: int
    options: Json
    opener: int
    decks: list[str]
    moves: str
    ended: list[list[list[int]]]
    left: tuple[str, int] | list[int]
    pots: Sequence[list[Any]] = ()


EXAMPLES = {
    "1 underbid and beaten": Example(
        3,
        {},
        0,
        [
            "As Ac Qc Kd Ad Qd 9d 3s 4h 6c 8c 4s 3c Td 7d 2c 2d 2s 4d 4c",
            "2h 3c Kc 5h 4d Kd 9h 8s 2s Jh Tc 7s Kh Js 9c 2c 2d 6s",
        ],
        "0:b3 1:b2 2:p 0:p 1:x3s 2:x7d 0:xKd 1:x8c<0 2:x4h 0:x6c<2 0:H 2:H 1:p 2:p 0:b4 0:x2s 1:p 2:p 0:x7s "
        "0:p 1:s 1:S 2:H",
        [[[1], [0, 6, 0], [0, 6, 0]], [[1], [-4, 2, 0], [-4, 8, 0]]],
        ("bidding", 1),
    ),
    "2 two zero bidders": Example(
        4,
        {},
        1,
        ["2h Qc 5c Ac 5h Qd 6d Ad 9h Qs 7s 3s Jh 4c 8s 8c Kh 7d 9c Td 2c 2d"],
        "1:p 2:b0 3:b0 0:p 0:x3s 1:xKh 0:H 1:H",
        [[[3], [0, 0, -8, 8], [0, 0, -8, 8]]],
        ("bidding", 3),
    ),
    "3 both zero bidders beaten": Example(
        3,
        {"max_rounds": 1},
        0,
        ["Qc 2h Ac Qd 5h Ad Qs 9h 3s 4c Jh 8c 7d Kh Td"],
        "0:b0 1:p 2:b0 1:p 1:S",
        [[[1], [-8, 2, -8], [-8, 2, -8]]],
        [2, 1, 2],
    ),
    "4 all in lost and won and a bid of eight": Example(
        2,
        {},
        0,
        [
            "2h Ac 5h Ad 9h 3s Jh 8c Kh Td",
            "As Qc Kd Qd 9d Qs 6c 4c 3c 7d",
            "Qc 2h Qd 5h Qs 9h 4c Jh 7d Kh",
            "Qc 2h Qd 5h Qs 9h 4c Jh 7d Kh",
            "Ac Qc Ad Qd 3s Qs 8c 4c Td 7d",
        ],
        "0:b1 1:p 0:p 1:p 1:H 0:p 1:b1 1:p 0:p 0:s 0:H 1:p 0:b8 0:p 1:p 1:A 0:b8 1:p 0:p 1:p 1:S 1:b7 0:p 1:p 0:p 0:A",
        [
            [[0], [7, 0], [7, 0]],
            [[1], [0, 7], [7, 7]],
            [[0], [1, -7], [8, 0]],
            [[1], [-1, 2], [7, 2]],
            [[0], [9, -1], [16, 1]],
        ],
        ("bidding", 0),
    ),
    "5 a tie is pushed": Example(
        3,
        {"ties": "push"},
        2,
        [TIE],
        "2:p 0:b4 1:p 0:p 1:p 2:p 1:S 2:H",
        [[[0, 1], [0, 2, 0], [0, 2, 0]]],
        ("bidding", 0),
    ),
    "6 the same tie lost": Example(
        3,
        {"ties": "lose"},
        2,
        [TIE],
        "2:p 0:b4 1:p 0:p 1:p 2:p 1:S 2:H",
        [[[0, 1], [-4, 2, 0], [-4, 2, 0]]],
        ("bidding", 0),
    ),
    "7 a hidden flush wins nothing": Example(
        3,
        {},
        0,
        ["Ac 2h As Ad 5h Kd 3s 9h 9d 8c Jh 6c Td Kh 3c"],
        "0:b6 1:p 2:p 0:p 1:p 2:p 1:H 2:H",
        [[[0], [2, 0, 0], [2, 0, 0]]],
        ("bidding", 0),
    ),
    "8 five seats and a forced bid": Example(
        5,
        {},
        3,
        ["2d 2h As Ac Qc 4d 5h Kd Ad Qd 6s 9h 9d 3s Qs 8d Jh 6c 8c 4c Ts Kh 3c Td 7d"],
        "3:p 4:p 0:p 1:p 2:b5 2:p 3:p 4:p 0:p 1:p 3:H 4:S 0:H 1:H",
        [[[4], [0, 0, -3, 0, 3], [0, 0, -3, 0, 3]]],
        ("bidding", 4),
    ),
    "10 the low bidder folds": Example(
        3,
        {"cash": True},
        0,
        ["Ac As Ah Ad Kd Kc 3s 9d 9s 8c 6c 6h Td 3c 3h"],
        "0:k 1:k 2:b 0:c 1:c 0:b2 1:p 2:p 0:k 1:b 2:c 0:f 1:p 2:p 1:k 2:k",
        [[[1, 2], [-6, 2, 2], [-6, 2, 2], [-3, 2, 1]]],
        ("bet1", 1),
        [[13, [1, 2], [1, 2], [7, 6]]],
    ),
    "11 table stakes and side pots": Example(
        3,
        {"cash": True, "stack": 8},
        0,
        ["Ac Qc 2h Ad Qd 5h 3s Qs 9h 8c 4c Jh Td 7d Kh", "Ah 5c Qc Ad 6d Qd 8c 7s Qs 4s 8s 4c 2h 9c 7d"],
        "0:b 1:f 2:r 0:c 0:b8 2:p 0:k 2:k 0:p 2:p 0:k 2:k 2:S 2:k 0:b 1:c 2:c 2:p 0:b1 1:p 1:b 2:c 0:p 1:p "
        "2:p 2:s 1:k 2:b 1:c 1:S 2:H",
        [[[2], [-1, 0, 2], [-1, 0, 2], [3, 7, 14]], [[0], [7, 0, 0], [6, 0, 2], [9, 8, 7]]],
        ("bet1", 0),
        [[11, [0, 2], [2], [11]], [9, [0, 1, 2], [0], [9]], [8, [1, 2], [1], [8]], [2, [2], [2], [2]]],
    ),
    "12 nobody else is left": Example(
        3,
        {"cash": True},
        0,
        ["2c As Qc 4d Kd Qd 5h 9d Qs 7s 6c 4c 8c 3c 7d"] * 2,
        "0:b 1:f 2:f 0:k 1:k 2:k 0:b0 1:p 2:p 0:b 1:f 2:f",
        [[[0], [2, 0, 0], [2, 0, 0], [2, -1, -1]], [[0], [8, 0, 0], [10, 0, 0], [4, -2, -2]]],
        ("bet1", 0),
        [[5, [0], [0], [5]], [5, [0], [0], [5]]],
    ),
    "13 a vote decided by throws": Example(
        2,
        {"vote": ["showing", "ties"]},
        1,
        ["Ad As Kc Kd 9s 9d 6h 6c 3h 3c"],
        "0:vall 1:vvoluntary 0:rock 1:rock 0:paper 1:rock 0:vpush 1:vpush 1:b7 0:p 1:p 0:p",  # so all show
        [[[1, 0], [2, 0], [2, 0]]],
        ("bidding", 1),
    ),
    "14 two seats reach the target": Example(
        3,
        {"target": 4, "showing": "all"},
        0,
        ["2h Ac As 5h Ad Kd 9h 3s 9d Jh 8c 6c Kh Td 3c", TIE, "As Ad 2c Kd Kc 4d 9d 9s 5h 6c 6h 7s 3c 3h 8c"],
        "0:b7 1:p 2:p 0:p 1:p 2:p 0:b5 1:p 2:p 0:p 1:p 2:p 1:p 2:p 0:b6 0:p 1:p 2:p 1:s 2:s",
        [[[0], [1, 0, 0], [1, 0, 0]], [[1, 2], [-3, 2, 2], [-2, 2, 2]], [[1, 2], [-2, 2, 2], [-4, 4, 4]]],
        [3, 1, 1],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_ends_as_on_the_page(name: str) -> None:
    example = EXAMPLES[name]
    options = {"forced_bid": "free", **example.options}

    state, log = follow(example.seats, options, [example.opener], example.decks, example.moves)

    members = ("winners", "delta", "scores", *(["chips"] if "cash" in options else []))
    assert rounds(log, *members) == example.ended
    assert pots(log) == [*example.pots]
    if state.over:
        assert (state.placements(), state.returns()) == (example.left, example.ended[-1][2])
    else:
        phase, seat = example.left
        assert (state.phase, state.to_act()) == (phase, [seat])


def test_PA_15_PA_25_PA_26_example_9_holdem_in_mid_round() -> None:
    state, _ = follow(
        3,
        {"forced_bid": "free", "holdem": True},
        [0],
        ["As Ac Qc Kd Ad Qd 9d 3s Qs 6c 8c 4c 3c Td 7d 2c 2d 2s 4d 4h"],
        "0:b2 1:p 2:p 0:x3c 1:xAd 2:x7d<1 0:xKd 1:p",
    )

    assert (state.phase, state.to_act()) == ("drawing", [2])
    assert state.observation(2)["hands"] == [
        ["??", "??", "2c", "6c", "9d"],
        ["??", "??", "3s", "8c", "Td"],
        ["Qc", "Qd", "4c", "Qs", "Ad"],
    ]
    assert state.observation(2)["piles"] == [
        {"cards": 2, "top": "??"},
        {"cards": 0, "top": None},
        {"cards": 1, "top": "7d"},
    ]
