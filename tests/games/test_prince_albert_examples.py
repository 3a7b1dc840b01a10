"""Prince Albert: the worked examples and the conformity matches of its rules page, numbers as there."""

import pytest

from referee.games.prince_albert import PrinceAlbert
from referee.match.canonical import Json
from tests.games.conformity import digest, generator, outcome
from tests.games.prince_albert import follow, pots, rounds


def test_PA_03_PA_12_PA_14_example_1_underbid_and_beaten() -> None:
    state, log = follow(
        3,
        {"forced_bid": "free"},
        [0],
        [
            "As Ac Qc Kd Ad Qd 9d 3s 4h 6c 8c 4s 3c Td 7d 2c 2d 2s 4d 4c",
            "2h 3c Kc 5h 4d Kd 9h 8s 2s Jh Tc 7s Kh Js 9c 2c 2d 6s",
        ],
        """
        0:b3 1:b2 2:p 0:p 1:x3s 2:x7d 0:xKd 1:x8c<0 2:x4h 0:x6c<2 0:H 2:H 1:p 2:p 0:b4 0:x2s 1:p 2:p 0:x7s
        0:p 1:s 1:S 2:H
        """,
    )

    assert rounds(log, "winners", "delta", "scores") == [
        [[1], [0, 6, 0], [0, 6, 0]],
        [[1], [-4, 2, 0], [-4, 8, 0]],
    ]
    assert (state.phase, state.to_act()) == ("bidding", [1])


def test_PA_06_PA_08_PA_09_example_2_two_zero_bidders() -> None:
    state, log = follow(
        4,
        {"forced_bid": "free"},
        [1],
        [
            "2h Qc 5c Ac 5h Qd 6d Ad 9h Qs 7s 3s Jh 4c 8s 8c Kh 7d 9c Td 2c 2d",
        ],
        "1:p 2:b0 3:b0 0:p 0:x3s 1:xKh 0:H 1:H",
    )

    assert rounds(log, "winners", "delta", "scores") == [
        [[3], [0, 0, -8, 8], [0, 0, -8, 8]],
    ]
    assert (state.phase, state.to_act()) == ("bidding", [3])


def test_PA_11_PA_37_example_3_both_zero_bidders_beaten() -> None:
    state, log = follow(
        3,
        {"forced_bid": "free", "max_rounds": 1},
        [0],
        [
            "Qc 2h Ac Qd 5h Ad Qs 9h 3s 4c Jh 8c 7d Kh Td",
        ],
        "0:b0 1:p 2:b0 1:p 1:S",
    )

    assert rounds(log, "winners", "delta", "scores") == [
        [[1], [-8, 2, -8], [-8, 2, -8]],
    ]
    assert (state.placements(), state.returns()) == ([2, 1, 2], [-8, 2, -8])


def test_PA_10_PA_18_example_4_all_in_lost_and_won_and_a_bid_of_eight() -> None:
    state, log = follow(
        2,
        {"forced_bid": "free"},
        [0],
        [
            "2h Ac 5h Ad 9h 3s Jh 8c Kh Td",
            "As Qc Kd Qd 9d Qs 6c 4c 3c 7d",
            "Qc 2h Qd 5h Qs 9h 4c Jh 7d Kh",
            "Qc 2h Qd 5h Qs 9h 4c Jh 7d Kh",
            "Ac Qc Ad Qd 3s Qs 8c 4c Td 7d",
        ],
        """
        0:b1 1:p 0:p 1:p 1:H 0:p 1:b1 1:p 0:p 0:s 0:H 1:p 0:b8 0:p 1:p 1:A 0:b8 1:p 0:p 1:p 1:S 1:b7 0:p 1:p
        0:p 0:A
        """,
    )

    assert rounds(log, "winners", "delta", "scores") == [
        [[0], [7, 0], [7, 0]],
        [[1], [0, 7], [7, 7]],
        [[0], [1, -7], [8, 0]],
        [[1], [-1, 2], [7, 2]],
        [[0], [9, -1], [16, 1]],
    ]
    assert (state.phase, state.to_act()) == ("bidding", [0])


def test_PA_20_PA_21_example_5_a_tie_is_pushed() -> None:
    state, log = follow(
        3,
        {"forced_bid": "free", "ties": "push"},
        [2],
        [
            "2c As Ad 4d Kd Kc 5h 9d 9s 7s 6c 6h 8c 3c 3h",
        ],
        "2:p 0:b4 1:p 0:p 1:p 2:p 1:S 2:H",
    )

    assert rounds(log, "winners", "delta", "scores") == [
        [[0, 1], [0, 2, 0], [0, 2, 0]],
    ]
    assert (state.phase, state.to_act()) == ("bidding", [0])


def test_PA_20_example_6_the_same_tie_lost() -> None:
    state, log = follow(
        3,
        {"forced_bid": "free", "ties": "lose"},
        [2],
        [
            "2c As Ad 4d Kd Kc 5h 9d 9s 7s 6c 6h 8c 3c 3h",
        ],
        "2:p 0:b4 1:p 0:p 1:p 2:p 1:S 2:H",
    )

    assert rounds(log, "winners", "delta", "scores") == [
        [[0, 1], [-4, 2, 0], [-4, 2, 0]],
    ]
    assert (state.phase, state.to_act()) == ("bidding", [0])


def test_PA_23_example_7_a_hidden_flush_wins_nothing() -> None:
    state, log = follow(
        3,
        {"forced_bid": "free"},
        [0],
        [
            "Ac 2h As Ad 5h Kd 3s 9h 9d 8c Jh 6c Td Kh 3c",
        ],
        "0:b6 1:p 2:p 0:p 1:p 2:p 1:H 2:H",
    )

    assert rounds(log, "winners", "delta", "scores") == [
        [[0], [2, 0, 0], [2, 0, 0]],
    ]
    assert (state.phase, state.to_act()) == ("bidding", [0])


def test_PA_05_PA_24_example_8_five_seats_and_a_forced_bid() -> None:
    state, log = follow(
        5,
        {"forced_bid": "free"},
        [3],
        [
            "2d 2h As Ac Qc 4d 5h Kd Ad Qd 6s 9h 9d 3s Qs 8d Jh 6c 8c 4c Ts Kh 3c Td 7d",
        ],
        "3:p 4:p 0:p 1:p 2:b5 2:p 3:p 4:p 0:p 1:p 3:H 4:S 0:H 1:H",
    )

    assert rounds(log, "winners", "delta", "scores") == [
        [[4], [0, 0, -3, 0, 3], [0, 0, -3, 0, 3]],
    ]
    assert (state.phase, state.to_act()) == ("bidding", [4])


def test_PA_15_PA_25_PA_26_example_9_holdem_in_mid_round() -> None:
    state, _ = follow(
        3,
        {"forced_bid": "free", "holdem": True},
        [0],
        [
            "As Ac Qc Kd Ad Qd 9d 3s Qs 6c 8c 4c 3c Td 7d 2c 2d 2s 4d 4h",
        ],
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


def test_PA_22_PA_32_PA_34_example_10_the_low_bidder_folds() -> None:
    state, log = follow(
        3,
        {"forced_bid": "free", "cash": True},
        [0],
        [
            "Ac As Ah Ad Kd Kc 3s 9d 9s 8c 6c 6h Td 3c 3h",
        ],
        "0:k 1:k 2:b 0:c 1:c 0:b2 1:p 2:p 0:k 1:b 2:c 0:f 1:p 2:p 1:k 2:k",
    )

    assert rounds(log, "winners", "delta", "scores", "chips") == [
        [[1, 2], [-6, 2, 2], [-6, 2, 2], [-3, 2, 1]],
    ]
    assert pots(log) == [[13, [1, 2], [1, 2], [7, 6]]]
    assert (state.phase, state.to_act()) == ("bet1", [1])


def test_PA_30_PA_34_example_11_table_stakes_and_side_pots() -> None:
    state, log = follow(
        3,
        {"forced_bid": "free", "cash": True, "stack": 8},
        [0],
        [
            "Ac Qc 2h Ad Qd 5h 3s Qs 9h 8c 4c Jh Td 7d Kh",
            "Ah 5c Qc Ad 6d Qd 8c 7s Qs 4s 8s 4c 2h 9c 7d",
        ],
        """
        0:b 1:f 2:r 0:c 0:b8 2:p 0:k 2:k 0:p 2:p 0:k 2:k 2:S 2:k 0:b 1:c 2:c 2:p 0:b1 1:p 1:b 2:c 0:p 1:p
        2:p 2:s 1:k 2:b 1:c 1:S 2:H
        """,
    )

    assert rounds(log, "winners", "delta", "scores", "chips") == [
        [[2], [-1, 0, 2], [-1, 0, 2], [3, 7, 14]],
        [[0], [7, 0, 0], [6, 0, 2], [9, 8, 7]],
    ]
    assert pots(log) == [[11, [0, 2], [2], [11]], [9, [0, 1, 2], [0], [9]], [8, [1, 2], [1], [8]], [2, [2], [2], [2]]]
    assert (state.phase, state.to_act()) == ("bet1", [0])


def test_PA_35_example_12_nobody_else_is_left() -> None:
    state, log = follow(
        3,
        {"forced_bid": "free", "cash": True},
        [0],
        [
            "2c As Qc 4d Kd Qd 5h 9d Qs 7s 6c 4c 8c 3c 7d",
            "2c As Qc 4d Kd Qd 5h 9d Qs 7s 6c 4c 8c 3c 7d",
        ],
        "0:b 1:f 2:f 0:k 1:k 2:k 0:b0 1:p 2:p 0:b 1:f 2:f",
    )

    assert rounds(log, "winners", "delta", "scores", "chips") == [
        [[0], [2, 0, 0], [2, 0, 0], [2, -1, -1]],
        [[0], [8, 0, 0], [10, 0, 0], [4, -2, -2]],
    ]
    assert pots(log) == [[5, [0], [0], [5]], [5, [0], [0], [5]]]
    assert (state.phase, state.to_act()) == ("bet1", [0])


def test_PA_40_example_13_a_vote_decided_by_throws() -> None:
    state, log = follow(
        2,
        {"forced_bid": "free", "vote": ["showing", "ties"]},
        [1],
        [
            "Ad As Kc Kd 9s 9d 6h 6c 3h 3c",
        ],
        "0:vall 1:vvoluntary 0:rock 1:rock 0:paper 1:rock 0:vpush 1:vpush 1:b7 0:p 1:p 0:p",
    )

    assert rounds(log, "winners", "delta", "scores") == [
        [[1, 0], [2, 0], [2, 0]],
    ]
    assert (state.phase, state.to_act()) == ("bidding", [1])
    voted = {"showing": "all", "ties": "push"}
    assert {name: state.observation(0)["options"][name] for name in voted} == voted


def test_PA_36_example_14_two_seats_reach_the_target() -> None:
    state, log = follow(
        3,
        {"forced_bid": "free", "target": 4, "showing": "all"},
        [0],
        [
            "2h Ac As 5h Ad Kd 9h 3s 9d Jh 8c 6c Kh Td 3c",
            "2c As Ad 4d Kd Kc 5h 9d 9s 7s 6c 6h 8c 3c 3h",
            "As Ad 2c Kd Kc 4d 9d 9s 5h 6c 6h 7s 3c 3h 8c",
        ],
        "0:b7 1:p 2:p 0:p 1:p 2:p 0:b5 1:p 2:p 0:p 1:p 2:p 1:p 2:p 0:b6 0:p 1:p 2:p 1:s 2:s",
    )

    assert rounds(log, "winners", "delta", "scores") == [
        [[0], [1, 0, 0], [1, 0, 0]],
        [[1, 2], [-3, 2, 2], [-2, 2, 2]],
        [[1, 2], [-2, 2, 2], [-4, 4, 4]],
    ]
    assert (state.placements(), state.returns()) == ([3, 1, 1], [-4, 4, 4])


# -- the conformity matches --


@pytest.mark.parametrize(
    ("seats", "options", "seed", "counts", "scores", "returns", "log"),
    [
        (2, {"forced_bid": "free", "max_rounds": 10}, 4, [10, 96, 173], [-7, 26], [-7, 26], "c225727471dcfc9f"),
        (
            3,
            {"forced_bid": "free", "max_rounds": 10},
            62,
            [8, 86, 159],
            [26, -15, -13],
            [26, -15, -13],
            "882d287dce0c2923",
        ),
        (
            4,
            {"forced_bid": "free", "max_rounds": 10},
            251,
            [8, 86, 171],
            [-6, -19, 34, -32],
            [-6, -19, 34, -32],
            "ccd91336d7beb75e",
        ),
        (
            5,
            {"forced_bid": "free", "max_rounds": 10},
            17,
            [10, 119, 241],
            [-24, -13, -11, 0, -48],
            [-24, -13, -11, 0, -48],
            "c71afe05326dba13",
        ),
        (
            4,
            {"forced_bid": "free", "holdem": True, "max_rounds": 10},
            228,
            [6, 81, 142],
            [-16, 26, -11, -8],
            [-16, 26, -11, -8],
            "a7926406505f6594",
        ),
        (
            3,
            {"forced_bid": "max", "showing": "all", "ties": "lose", "max_rounds": 10},
            49,
            [10, 77, 180],
            [-25, 34, -12],
            [-25, 34, -12],
            "b421fbce7b098b1e",
        ),
        (
            4,
            {"forced_bid": "free", "cash": True, "max_rounds": 10},
            201,
            [9, 128, 253],
            [0, 2, -22, 25],
            [0, 2, -22, 25],
            "49cae93b330534d2",
        ),
        (
            5,
            {
                "forced_bid": "free",
                "cash": True,
                "holdem": True,
                "rank_by": "chips",
                "point_value": 2,
                "max_rounds": 10,
            },
            62,
            [9, 149, 290],
            [-8, -17, -29, -5, 35],
            [-34, -56, -96, -24, 162],
            "655800b472825322",
        ),
        (
            3,
            {"forced_bid": "free", "cash": True, "stack": 20, "rank_by": "chips", "max_rounds": 10},
            256,
            [8, 92, 189],
            [-2, 42, -8],
            [-14, -20, 34],
            "efc4dc2247e34bb0",
        ),
        (
            4,
            {"forced_bid": "free", "vote": ["forced_bid", "showing", "ties"], "max_rounds": 10},
            102,
            [9, 124, 228],
            [-21, -24, 26, -22],
            [-21, -24, 26, -22],
            "6b3ecf31cd2b784f",
        ),
    ],
)
def test_conformity(
    seats: int, options: Json, seed: int, counts: list[int], scores: list[int], returns: list[int], log: str
) -> None:
    state, decisions, events = whole_match(seats, options, seed)

    assert [state.round, decisions, len(events)] == counts
    assert (state.scores(), state.returns()) == (scores, returns)
    assert digest(events) == log


def whole_match(seats: int, options: Json, seed: int) -> tuple[PrinceAlbert, int, list[Json]]:
    """Play a match with chance from one source and the seats' choices from another, seeded 1000 higher."""
    state, decisions, log = PrinceAlbert.start(seats, options), 0, list[Json]()
    chance, choice = generator(seed), generator(seed + 1000)
    while not state.over:
        asked = state.chance()
        if asked is not None:
            log += state.resolve(outcome(asked, chance))
            continue
        decisions += 1
        seat = min(state.pending())
        legal = state.legal(seat)
        log += state.apply(seat, legal[choice(len(legal))])
    return state, decisions, log
