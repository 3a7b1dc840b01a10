"""Prince Albert for cash: antes, three bettings, folding, table stakes and pots, ruling by ruling."""

import pytest

from referee.errors import BadOption
from referee.games.prince_albert import PrinceAlbert
from referee.games.prince_albert_betting import layers
from referee.match.canonical import Json
from tests.games.playing import named, row
from tests.games.prince_albert import ACES, FLUSH, HIGH, PAIR, TRIPS, begun, kinds_open, play, pots, rounds

CHECKED = "0:k 1:k 2:k"


def betting(hands: list[str], chips: list[int]) -> PrinceAlbert:
    """Return betting 1 of a match at table stakes, with these chips left after an ante of 1."""
    state = begun(hands, cash=True, stack=1)
    state.chips = chips
    state.open_betting("bet1", 0)
    return state


# -- whom and when --


def test_PA_28_the_opener_starts_the_first_betting_and_the_low_bidder_the_others() -> None:
    state = begun([HIGH, PAIR, ACES], opener=1, cash=True)
    assert (state.phase, state.pending()) == ("bet1", (1,))

    play(state, "1:k 2:k 0:k 1:p 2:p 0:b8")
    assert (state.phase, state.pending()) == ("bet2", (0,))
    play(state, CHECKED + " 0:p 1:p 2:p")
    assert (state.phase, state.pending()) == ("bet3", (0,))


def test_PA_29_antes_and_units() -> None:
    state = begun([HIGH, PAIR, ACES], opener=2, cash=True, ante=3, small_bet=5, big_bet=7)
    assert (state.chips, state.observation(0)["pot"], state.paid) == ([-3, -3, -3], 9, [3, 3, 3])
    antes = [event["seat"] for event in named(state.history, "ante")]
    assert antes == [2, 0, 1]

    log = play(state, "2:b 0:r 1:f 2:c 2:b8 0:p 2:b 0:c 2:p 0:p 2:b 0:c")

    assert [(wager["type"], wager["chips"]) for wager in named(log, "wager")] == [
        *[("bet", 5), ("raise", 10), ("fold", 0), ("call", 5)],
        *[("bet", 5), ("call", 5), ("bet", 7), ("call", 7)],
    ]


def test_PA_30_a_short_purse_calls_but_neither_bets_nor_raises() -> None:
    state = betting([HIGH, PAIR, ACES], [5, 1, 3])

    play(state, "0:b")
    assert kinds_open(state) == ["call", "fold"]
    log = play(state, "1:c")
    assert log[0]["chips"] == 1
    assert kinds_open(state) == ["call", "fold"]  # 3 chips call 2 and cannot raise by 2 more
    assert state.observation(2)["to_call"] == 2

    state = betting([HIGH, PAIR, ACES], [1, 5, 5])
    assert kinds_open(state) == ["check", "fold"]


def test_PA_31_all_are_asked_once_and_again_only_if_they_owe() -> None:
    state = begun([HIGH, PAIR, ACES], cash=True)

    asked = []
    for wager in "kbcrcc":  # check, bet, call, raise, call, call
        asked.append(state.pending()[0])
        play(state, f"{asked[-1]}:{wager}")

    assert asked == [0, 1, 2, 0, 1, 2]
    assert state.phase == "bidding"
    assert state.observation(0)["put"] == [0, 0, 0]


# -- folding --


def test_PA_32_a_folded_seat_does_nothing_more_and_loses_what_it_claimed() -> None:
    state = begun([ACES, FLUSH, PAIR, HIGH], cash=True, points=[0, 7, 5, 0])

    play(state, CHECKED + " 3:f 0:b4 1:p 2:p 0:k 1:k 2:k 0:p 1:p 2:p")
    assert state.to_act() == [1, 2]
    play(state, "1:A 2:s 0:k")
    log = play(state, "1:f 2:b 0:f")

    assert rounds(log, "winners", "delta", "scores") == [[[2], [-4, -7, 2, 0], [-4, 0, 7, 0]]]
    assert not named(log, "show")


def test_PA_33_folding_is_open_where_checking_costs_nothing() -> None:
    state = begun([HIGH, PAIR, ACES], cash=True)

    assert kinds_open(state) == ["check", "bet", "fold"]
    play(state, "0:f")

    assert state.observation(1)["folded"] == [True, False, False]


def test_PA_22_if_nobody_left_is_bound_all_must_show() -> None:
    state = begun([HIGH, PAIR, ACES], cash=True)

    log = play(state, CHECKED + " 0:b8 1:p 2:p 0:f 1:k 2:k 1:p 2:p 1:k 2:k")

    assert [(shown["seat"], shown["must"]) for shown in named(log, "show")] == [(1, True), (2, True)]


@pytest.mark.parametrize(
    ("moves", "points", "delta", "shown"),
    [
        ("0:f 1:f", [0, 0, 5], [0, 0, 2], []),  # before any bid
        (CHECKED + " 0:p 1:p 2:b8 2:k 0:f 1:f", [0, 0, 5], [0, 0, 1], [2]),  # as low bidder
        (CHECKED + " 0:b3 1:p 2:p 0:k 1:k 2:k 0:p 1:p 2:p 2:A 0:f 1:f", [0, 0, 5], [-5, 0, 7], [2]),
        (CHECKED + " 0:b3 1:p 2:p 0:k 1:k 2:k 0:p 1:p 2:p 2:s 0:f 1:f", [0, 0, 5], [-5, 0, 2], []),
    ],
)
def test_PA_35_the_survivor_wins_and_shows_only_if_bound(
    moves: str, points: list[int], delta: list[int], shown: list[int]
) -> None:
    state = begun([ACES, TRIPS, HIGH], cash=True, points=points)

    log = play(state, moves)

    assert rounds(log, "winners", "delta") == [[[2], delta]]
    assert [event["seat"] for event in named(log, "show")] == shown
    assert pots(log) == [[3, [2], [2], [3]]]
    assert row(log, "round")["opener"] == 2


# -- pots --


@pytest.mark.parametrize(
    ("paid", "seats_in", "expected"),
    [
        ([3, 3, 3], [0, 1, 2], [(9, [0, 1, 2])]),
        ([5, 2, 5, 1], [0, 1, 2], [(7, [0, 1, 2]), (6, [0, 2])]),
        ([5, 2, 9, 4], [1, 2], [(8, [1, 2]), (12, [2])]),
        ([0, 0], [0, 1], []),
    ],
)
def test_PA_34_the_pot_has_a_layer_for_each_amount_paid(
    paid: list[int], seats_in: list[int], expected: list[tuple[int, list[int]]]
) -> None:
    assert layers(paid, seats_in) == expected


def test_PA_34_a_layer_goes_to_the_best_shown_hand_of_those_who_paid_for_it() -> None:
    state = begun([ACES, TRIPS, FLUSH, HIGH], cash=True, stack=20)
    state.paid, state.turned_up = [5, 5, 9, 9], [True, True, False, False]

    state.pay_pots([2, 3, 0, 1], {0: [1, 14], 1: [3, 12]})

    # Nobody who paid for the upper layer shows, so both share it, the odd chip to the first in order.
    assert pots(state.unsent) == [[20, [0, 1, 2, 3], [1], [20]], [8, [2, 3], [2, 3], [4, 4]]]


# -- placing by chips --


def test_PA_41_by_chips_the_tally_counts_chips_and_what_the_points_are_worth() -> None:
    state = begun([ACES, HIGH], cash=True, stack=20, rank_by="chips", point_value=3, max_rounds=1)

    play(state, "0:b 1:c 0:b5 1:p 0:k 1:k 0:p 1:p 0:k 1:k 1:H")

    assert (state.points, state.chips) == ([3, 0], [23, 17])
    assert (state.returns(), state.placements()) == ([12, -3], [1, 2])
    assert state.scores() == [3, 0]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"rank_by": "chips"}, "rank_by"),
        ({"point_value": 1}, "point_value"),
        ({"point_value": 1, "cash": True}, "point_value"),
        ({"rank_by": "cards"}, "rank_by"),
    ],
)
def test_PA_41_chips_place_the_seats_only_with_cash(options: Json, field: str) -> None:
    with pytest.raises(BadOption) as refused:
        PrinceAlbert.start(3, options)

    assert refused.value.field == field


def test_PA_43_who_is_absent_checks_or_folds() -> None:
    state = begun([HIGH, PAIR], cash=True)

    assert state.default(0) == {"type": "check"}
    play(state, "0:b")

    assert state.default(1) == {"type": "fold"}
