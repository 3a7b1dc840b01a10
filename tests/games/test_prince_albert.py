"""Prince Albert: set-up, bidding and drawing, ruling by ruling."""

import pytest

from referee.errors import IllegalAction
from referee.games.cards import DECK
from referee.games.prince_albert import PrinceAlbert
from tests.games.playing import named, row
from tests.games.prince_albert import ACES, HIGH, PAIR, TRIPS, begun, bids_open, play, rounds

# -- set-up --


def test_PA_01_chance_draws_the_first_opener() -> None:
    state = PrinceAlbert.start(3)
    assert state.chance() == {"kind": "draw", "what": "opener", "among": [0, 1, 2]}

    log = state.resolve(2)

    assert [event["event"] for event in log] == ["match_start", "opener", "round"]
    assert log[1] == {"event": "opener", "seat": 2}
    assert log[2] == {"event": "round", "round": 1, "opener": 2, "scores": [0, 0, 0], "chips": [0, 0, 0]}
    state.resolve([*DECK])
    assert state.pending() == (2,)


def test_PA_02_one_card_at_a_time_clockwise_from_the_opener() -> None:
    state = PrinceAlbert.start(3)
    state.resolve(2)

    log = state.resolve([*DECK])

    assert log[0] == {"event": "deck", "cards": [*DECK]}
    assert [deal["seat"] for deal in named(log, "deal")] == [2, 0, 1]
    assert state.down == [[*DECK[1:15:3]], [*DECK[2:15:3]], [*DECK[0:15:3]]]
    assert state.deck == [*DECK[15:]]


# -- bidding --


def test_PA_03_who_was_underbid_is_asked_again_until_the_others_have_passed() -> None:
    state = begun([HIGH, PAIR, ACES])

    play(state, "0:b5 1:b4 2:p")
    assert state.pending() == (0,)
    play(state, "0:b3 1:b1")
    assert (state.pending(), bids_open(state)) == ((0,), [0, None])
    log = play(state, "0:p")

    assert row(log, "contract") == {"event": "contract", "low_bidders": [1], "bid": 1, "stake": 7, "draws": 1}
    assert state.observation(2)["bids"] == [3, 1, None]
    assert state.observation(2)["bid_out"] == [True, False, True]


@pytest.mark.parametrize("passes", ["", "0:p", "0:p 1:p"])
def test_PA_04_the_first_bid_is_any_number_whoever_makes_it(passes: str) -> None:
    state = begun([HIGH, PAIR, ACES, TRIPS])

    play(state, passes)

    assert bids_open(state) == [8, 7, 6, 5, 4, 3, 2, 1, 0, None]


def test_PA_05_a_seat_left_alone_without_a_bid_bids_the_maximum_and_all_can_see_that_it_must() -> None:
    state = begun([HIGH, PAIR, ACES])

    assert bids_open(state) == [8, 7, 6, 5, 4, 3, 2, 1, 0, None]
    play(state, "0:p 1:p")

    assert state.legal(2) == [{"type": "bid", "cards": 8}] == [state.forced_action(2)]
    for lower in ("2:b7", "2:b0", "2:p"):
        with pytest.raises(IllegalAction):
            play(state, lower)
    assert row(play(state, "2:b8"), "contract")["low_bidders"] == [2]


def test_PA_06_the_first_zero_ends_the_underbidding() -> None:
    state = begun([HIGH, PAIR, ACES])

    play(state, "0:b0")

    assert bids_open(state) == [0, None]
    play(state, "1:b0")
    assert bids_open(state) == [0, None]


def test_PA_07_after_a_zero_everybody_who_has_not_passed_is_asked_once() -> None:
    state = begun([HIGH, PAIR, ACES, TRIPS])

    play(state, "0:p 1:b6 2:b0")
    asked = []
    while state.phase == "bidding":  # 3 has not spoken, 1 has bid more, 0 is out
        asked.append(state.pending()[0])
        log = play(state, f"{asked[-1]}:b0")

    assert asked == [3, 1]
    assert row(log, "contract")["low_bidders"] == [2, 3, 1]


def test_PA_08_at_zero_the_bidders_draw_nothing_and_the_others_one_card() -> None:
    state = begun([HIGH, PAIR, ACES, TRIPS])

    log = play(state, "0:b0 1:p 2:b0 3:p")

    assert row(log, "contract")["draws"] == 1
    assert (state.pending(), state.observation(0)["draw_out"]) == ((1,), [True, False, True, False])
    play(state, "1:x9d 3:x7d")
    assert state.phase == "show"
    assert state.observation(0)["drawn"] == [0, 1, 0, 1]
    assert state.observation(0)["draw_out"] == [True, False, True, False]  # the limit does not set it


def test_PA_09_all_zero_bidders_play_for_their_own_eight_and_must_show() -> None:
    state = begun([ACES, HIGH, PAIR], points=[5, 5, 5])

    log = play(state, "0:b0 1:p 2:b0 1:p")

    assert (state.phase, state.to_act()) == ("all_in", [1])  # a low bidder cannot go all in
    log = play(state, "1:s")
    assert [(shown["seat"], shown["must"]) for shown in named(log, "show")] == [(0, True), (2, True)]
    assert rounds(play(state, "1:H"), "winners", "delta") == [[[0], [8, 0, -8]]]


@pytest.mark.parametrize("bid", range(9))
def test_PA_10_the_stake_is_eight_less_the_bid_and_at_least_one(bid: int) -> None:
    won, lost = begun([ACES, PAIR]), begun([HIGH, PAIR])

    for state in (won, lost):
        contract = row(play(state, f"0:b{bid} 1:p"), "contract")
        assert contract["stake"] == [8, 7, 6, 5, 4, 3, 2, 1, 1][bid]
        assert contract["draws"] == (bid or 1)
        play(state, ("" if bid == 0 else "0:p ") + "1:p 1:S")

    assert won.points == [contract["stake"], 0]
    assert lost.points == [-contract["stake"], 2]


def test_PA_11_the_bonus_is_paid_once_however_many_zero_bidders_fail() -> None:
    state = begun([HIGH, TRIPS, PAIR, ACES])

    log = play(state, "0:b0 1:p 2:b0 3:b0 1:p 1:S")

    assert rounds(log, "winners", "delta") == [[[1], [-8, 2, -8, -8]]]


# -- drawing --


def test_PA_12_exchanges_go_round_one_a_turn_from_the_low_bidder() -> None:
    state = begun([HIGH, PAIR, ACES])
    play(state, "0:p 1:b2 2:p")

    asked = []
    while state.phase == "drawing":
        seat = state.pending()[0]
        asked.append(seat)
        play(state, "2:p" if seat == 2 else f"{seat}:x{state.down[seat][0]}")

    assert asked == [1, 2, 0, 1, 0]
    assert state.observation(0)["drawn"] == [2, 2, 0]


def test_PA_13_one_action_names_the_discard_and_where_the_card_comes_from() -> None:
    state = begun([HIGH, PAIR])
    state.deck = ["Jd", *state.deck]
    play(state, "0:b2 1:p")

    for half in ({"type": "exchange", "discard": "2c"}, {"type": "exchange", "from": "deck"}):
        with pytest.raises(IllegalAction):
            state.apply(0, half)
    log = play(state, "0:x2c")

    assert log == [
        {"event": "exchange", "seat": 0, "discard": "2c", "was": "down", "pile": "down", "from": "deck", "drawn": "Jd"}
    ]
    assert state.down[0] == ["4d", "5h", "7s", "8c", "Jd"]


def test_PA_14_only_the_top_of_a_pile_can_be_taken_and_uncovers_the_next() -> None:
    state = begun([HIGH, PAIR, ACES])
    play(state, "0:b3 1:p 2:p 0:x2c 1:x9d 2:x9s 0:x4d 1:x6c")

    assert state.observation(2)["piles"][1] == {"cards": 2, "top": "6c"}
    log = play(state, "2:x6h<1")

    assert row(log, "exchange")["drawn"] == "6c"
    assert state.observation(2)["piles"] == [
        {"cards": 2, "top": "??"},
        {"cards": 1, "top": "9d"},
        {"cards": 2, "top": "6h"},
    ]


def test_PA_16_ones_own_pile_is_never_drawn_from() -> None:
    state = begun([HIGH, PAIR])
    play(state, "0:b3 1:p 0:x2c 1:x9d")

    assert {action.get("from") for action in state.legal(0)} == {"deck", 1, None}
    play(state, "0:p")

    assert {action.get("from") for action in state.legal(1)} == {"deck", None}


def test_PA_17_a_pass_in_place_of_an_exchange_is_final() -> None:
    state = begun([HIGH, PAIR])

    log = play(state, "0:b3 1:p 0:p")

    assert log[-1] == {"event": "pass", "seat": 0, "phase": "drawing"}
    assert state.observation(1)["draw_out"] == [True, False]
    play(state, "1:x9d 1:x6c")
    assert state.pending() == (1,)
    assert [len(hand) for hand in state.down] == [5, 5]


@pytest.mark.parametrize(("seats", "left"), [(2, 26), (3, 13), (4, 0), (5, 2)])
def test_PA_19_the_draw_deck_cannot_run_out(seats: int, left: int) -> None:
    state = PrinceAlbert.start(seats)
    state.resolve(0)
    state.resolve([*DECK])
    play(state, f"0:b{state.highest_bid} " + " ".join(f"{seat}:p" for seat in range(1, seats)))

    while state.phase == "drawing":
        seat = state.pending()[0]
        play(state, f"{seat}:x{state.down[seat][0]}")

    assert len(state.deck) == state.observation(0)["deck"] == left
    assert state.drawn == [state.highest_bid] * seats
