"""Pool Nap: the worked examples of its rules page."""

from tests.games.playing import named, row
from tests.games.pool_nap_table import PASS, PLAY_A, begun, bid, next_deal, play


def test_PN_06_PN_17_example_1_a_bid_made() -> None:
    state = begun(start_chips=20, rounds=1)
    assert (state.chips, state.pot, state.order) == ([19, 19, 19], 3, [1, 2, 0])

    bid(state, 3, 0, 0)
    log = play(state, PLAY_A)

    assert [trick["winner"] for trick in named(log, "trick")] == [1, 1, 1, 2, 2]
    payout, end = row(log, "payout"), row(log, "match_end")
    assert payout["payments"] == [[2, 1, 3], [0, 1, 3]]
    assert (payout["made"], payout["tricks"], payout["chips"], payout["pot"]) == (True, 3, [16, 25, 16], 3)
    assert (end["share"], end["pot"], end["chips"]) == (1, 0, [17, 26, 17])
    assert (state.placements(), state.returns()) == ([2, 1, 2], [-3, 6, -3])


def test_PN_14_example_2_a_bid_failed() -> None:
    state = begun(start_chips=20, rounds=1)

    bid(state, 4, 0, 0)
    log = play(state, PLAY_A)

    assert row(log, "payout")["payments"] == [[1, 2, 4], [1, 0, 4]]
    assert (row(log, "payout")["made"], row(log, "payout")["chips"]) == (False, [23, 11, 23])
    assert (state.chips, state.placements()) == ([24, 12, 24], [1, 3, 1])


def test_PN_07_PN_18_example_3_a_nap_made_with_one_payer_short() -> None:
    state = begun(["9s Td Jd Qh Kh", "Ts Js Qs Ks As", "8d 9d Tc Jc Ah"], start_chips=20, rounds=2)
    state.chips, state.pot = [19, 19, 3], 19

    assert [event["event"] for event in bid(state, 5)] == ["bid", "contract"]
    log = play(state, "As 8d 9s Ks 9d Td Qs Tc Jd Js Jc Qh Ts Ah Kh")

    payout = row(log, "payout")
    assert payout["payments"] == [[2, 1, 3], [0, 1, 5]]
    assert (payout["pot_won"], payout["chips"], payout["pot"]) == (19, [14, 46, 0], 0)
    assert row(log, "out")["seat"] == 2
    start = row(log, "round_start")
    assert (start["round"], start["dealer"], start["dealer_paid"], start["pot"]) == (2, 1, 1, 1)
    assert start["order"] == [0, 1]


def test_PN_15_example_4_a_nap_failed_doubles_the_pot() -> None:
    state = begun(start_chips=14, rounds=1)
    assert (state.chips, state.pot) == ([13, 13, 13], 3)

    bid(state, 5)
    log = play(state, PLAY_A)

    payout, end = row(log, "payout"), row(log, "match_end")
    assert payout["payments"] == [[1, 2, 5], [1, 0, 5]]
    assert (payout["pot_paid"], payout["chips"], payout["pot"]) == (3, [18, 0, 18], 6)
    assert row(log, "out") == {"event": "out", "round": 1, "seat": 1}
    assert (end["share"], end["chips"]) == (3, [21, 0, 21])
    assert (end["placements"], end["returns"]) == ([1, 3, 1], [7, -14, 7])


def test_PN_15_example_4_a_nap_failed_with_one_chip_left_for_the_pot() -> None:
    state = begun(start_chips=12, rounds=1)

    bid(state, 5)
    payout = row(play(state, PLAY_A), "payout")

    assert (payout["pot_paid"], payout["pot"], payout["chips"][1]) == (1, 4, 0)


def test_PN_08_PN_17_example_5_passed_out_twice() -> None:
    state = begun(start_chips=20, rounds=2)

    log = bid(state, 0, 0, 0)
    assert [event["event"] for event in log[-2:]] == ["passed_out", "round_start"]
    assert (state.chips, state.pot, state.dealer) == ([19, 18, 19], 4, 1)
    next_deal(state)
    assert state.pending() == (2,)
    log = bid(state, 0, 0, 0)

    assert (row(log, "match_end")["share"], row(log, "match_end")["pot"]) == (1, 1)
    assert (state.chips, state.placements()) == ([20, 19, 20], [1, 3, 1])


def test_PN_09_PN_14_example_6_a_bid_without_cover() -> None:
    hands = ["2d 3d 4d 5d 6d", "2c 3c 4c 5c As", "9c Tc Jc Qc Kc", "2h 3h 4h 5h 6h"]
    state = begun(hands, start_chips=9, rounds=1, bid_cover=False)
    assert (state.chips, state.pot) == ([8, 8, 8, 8], 4)

    bid(state, 5)
    log = play(state, "As 9c 2h 2d 2c Tc 3h 3d Jc 4h 4d 3c Qc 5h 5d 4c Kc 6h 6d 5c")

    payout, end = row(log, "payout"), row(log, "match_end")
    assert payout["tricks"] == 1
    assert payout["payments"] == [[1, 2, 3], [1, 3, 3], [1, 0, 2]]
    assert (payout["pot_paid"], payout["chips"]) == (0, [10, 0, 11, 11])
    assert (end["share"], end["pot"], end["chips"], end["placements"]) == (1, 1, [11, 0, 12, 12], [3, 4, 1, 1])


def test_PN_10_PN_16_example_7_going_out_until_one_is_left() -> None:
    state = begun(start_chips=3, ending="last_player")
    assert (state.chips, state.pot) == ([2, 2, 2], 3)

    bid(state, 1, 0, 0)
    log = play(state, PLAY_A)
    assert row(log, "payout")["payments"] == [[2, 1, 1], [0, 1, 1]]
    assert (row(log, "round_start")["chips"], row(log, "round_start")["pot"]) == ([1, 3, 1], 4)

    next_deal(state)
    third = row(bid(state, 0, 0, 0), "round_start")
    assert (third["dealer"], third["dealer_paid"], third["chips"]) == (2, 1, [1, 3, 0])
    next_deal(state)
    bid(state, 0, 0)
    assert len(state.hands[2]) == 5
    assert state.legal(2) == [PASS]
    log = bid(state, 0)
    assert row(log, "out")["seat"] == 2
    assert (row(log, "round_start")["dealer"], row(log, "round_start")["order"]) == (0, [1, 0])
    next_deal(state)
    log = bid(state, 0, 0)

    end = row(log, "match_end")
    assert (end["reason"], end["rounds"], end["share"], end["out_round"]) == ("last_player", 4, 6, [4, None, 3])
    assert (state.chips, state.placements()) == ([0, 9, 0], [2, 1, 3])


def test_PN_09_example_8_bids_need_cover() -> None:
    state = begun(start_chips=10)
    assert [action.get("tricks", 0) for action in state.legal(1)] == [0, 1, 2, 3, 4]

    state = begun(start_chips=2)
    assert state.legal(1) == [PASS]


def test_PN_08_PN_14_example_9_a_forced_dealer_short_of_chips() -> None:
    state = begun(start_chips=2, all_pass="dealer_bids", rounds=1)

    bid(state, 0, 0)
    assert state.legal(0) == [{"type": "bid", "tricks": 1}] == [state.forced_action(0)]
    bid(state, 1)
    log = play(state, "9s Qs Ts As Js Td Ks 8d Jd 3h Ah Qh 9d Kh 2h")

    payout = row(log, "payout")
    assert (payout["tricks"], payout["payments"]) == (0, [[0, 1, 1], [0, 2, 0]])
    assert payout["chips"] == [0, 2, 1]


def test_PN_12_PN_13_example_10_trumping_is_free() -> None:
    state = begun()
    bid(state, 3, 0, 0)
    play(state, "As Ts 9s 2h Ah Kh 9d Td")

    assert state.trump == "s"
    assert [action["card"] for action in state.legal(1)] == ["3h", "Qs", "Ks"]
    low, high = state.clone(), state
    assert row(play(low, "3h"), "trick")["winner"] == 0
    assert row(play(high, "Qs"), "trick")["winner"] == 1
