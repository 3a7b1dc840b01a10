"""Prince Albert: all in, showing, scoring and the end of the match, ruling by ruling."""

import pytest

from tests.games.playing import row
from tests.games.prince_albert import ACES, EQUAL, FLUSH, HIGH, PAIR, TRIPS, begun, bids_open, play, rounds

# -- all in --


@pytest.mark.parametrize(
    ("hands", "ties", "shows", "points"),
    [
        ([PAIR, ACES, HIGH], "push", "H", [6, 16, 3]),  # 2 * 7 + 2
        ([ACES, PAIR, HIGH], "push", "H", [14, 0, 3]),
        ([PAIR, HIGH, ACES], "push", "S", [6, 0, 5]),
        ([EQUAL[0], HIGH, EQUAL[1]], "push", "S", [10, 0, 5]),
        ([HIGH, *EQUAL], "push", "S", [6, 9, 5]),  # 7 + 2
        ([*EQUAL, HIGH], "push", "H", [10, 9, 3]),
        ([*EQUAL, HIGH], "lose", "H", [6, 0, 3]),
        ([HIGH, *EQUAL], "lose", "S", [6, 0, 5]),
    ],
)
def test_PA_18_PA_20_all_in_doubles_and_takes_the_bonus_or_loses_all(
    hands: list[str], ties: str, shows: str, points: list[int]
) -> None:
    state = begun(hands, points=[10, 7, 3], ties=ties)

    play(state, f"0:b4 1:p 2:p 0:p 1:p 2:p 1:A 2:s 2:{shows}")

    assert state.points == points


def test_PA_27_who_has_a_point_and_is_no_low_bidder_may_go_all_in_unseen() -> None:
    state = begun([HIGH, PAIR, ACES, TRIPS], points=[9, 1, 0, 4])
    play(state, "0:b8 1:p 2:p 3:p 0:p 1:p 2:p 3:p")
    assert (state.phase, state.to_act()) == ("all_in", [1, 3])
    before = [state.observation(seat) for seat in range(4)]

    assert play(state, "3:A") == []
    assert [state.observation(seat) for seat in range(4)] == before
    log = play(state, "1:s")

    assert log[0] == {"event": "all_in", "seats": [3]}
    assert state.observation(0)["all_in"] == [False, False, False, True]


# -- showing --


def test_PA_23_the_others_see_the_bound_hands_and_choose_at_once() -> None:
    state = begun([HIGH, FLUSH, ACES, TRIPS], opener=2)
    play(state, "2:b8 3:p 0:p 1:p 2:p 3:p 0:p 1:p")

    assert state.observation(1)["hands"][2] == ["3c", "6h", "9s", "Ad", "As"]
    before = [state.observation(seat) for seat in range(4)]
    assert play(state, "3:S 0:S") == []
    assert [state.observation(seat) for seat in range(4)] == before
    log = play(state, "1:H")

    assert [(event["event"], event["seat"]) for event in log[:3]] == [("show", 3), ("show", 0), ("hide", 1)]
    assert rounds(log, "winners", "delta") == [[[3], [0, 0, -1, 2]]]  # the flush of seat 1 was hidden
    assert state.observation(2)["hands"][1] == []


# -- scoring --


def test_PA_21_else_the_first_winner_clockwise_from_it_opens() -> None:
    state = begun([*EQUAL, HIGH])

    log = play(state, "0:p 1:p 2:b8 2:p 0:p 1:p 0:S 1:S")

    assert (rounds(log, "winners"), row(log, "round")["opener"]) == ([[[0, 1]]], 0)


def test_PA_24_five_seats_bid_from_five_and_the_bonus_is_three() -> None:
    state = begun([HIGH, PAIR, ACES, TRIPS, FLUSH])

    assert bids_open(state) == [5, 4, 3, 2, 1, 0, None]
    log = play(state, "0:b5 1:p 2:p 3:p 4:p 0:p 1:p 2:p 3:p 4:p 1:H 2:H 3:H 4:S")

    assert rounds(log, "winners", "delta") == [[[4], [-3, 0, 0, 0, 3]]]


def test_PA_36_the_higher_score_comes_first_and_equal_scores_share() -> None:
    state = begun([HIGH, *EQUAL], points=[9, 3, 4], target=5, showing="all")

    log = play(state, "0:b4 1:p 2:p 0:p 1:p 2:p 1:s 2:s")

    assert state.over
    assert (row(log, "match_end")["reason"], state.points) == ("target", [5, 5, 6])
    assert (state.placements(), state.returns()) == ([2, 2, 1], [5, 5, 6])


def test_PA_37_the_target_is_the_reason_where_both_are_reached() -> None:
    state = begun([ACES, PAIR], target=1, max_rounds=1)

    log = play(state, "0:b8 1:p 0:p 1:p 1:H")

    assert row(log, "match_end") == {
        "event": "match_end",
        "reason": "target",
        "scores": [1, 0],
        "chips": [0, 0],
        "placements": [1, 2],
        "returns": [1, 0],
    }


def test_PA_38_scores_may_fall_below_zero() -> None:
    state = begun([HIGH, PAIR], points=[-3, 0])

    play(state, "0:b0 1:p 1:p 1:S")

    assert state.points == [-11, 2]


@pytest.mark.parametrize(
    ("one", "other", "winners"),
    [
        ("Ac 2d 3h 4s 5c", "2h 3d 4c 5d 6h", [1]),  # the ace is low in the lowest straight
        ("Tc Jd Qh Ks Ac", "9d Td Jh Qs Kd", [0]),
        ("Ac Kd Qh 9s 7c", "Ad Kh Qs 9c 7d", [0, 1]),  # suits never count
        ("Ac Ad 9s 6h 4c", "As Ah 9c 6d 3c", [0]),  # down to the last kicker
        ("3c 3d 3h 2s 2c", "4c 4d 4h 5s 6c", [0]),
    ],
)
def test_PA_39_hands_compare_as_in_poker(one: str, other: str, winners: list[int]) -> None:
    state = begun([one, other], showing="all")

    log = play(state, "0:b8 1:p 0:p 1:p")

    assert rounds(log, "winners") == [[winners]]
