"""Pool Nap: the rulings of its rules page."""

import re
from pathlib import Path

import pytest

from referee.errors import BadOption, IllegalAction
from referee.games.cards import DECK
from referee.games.pool_nap import PoolNap
from referee.match.canonical import Json
from tests.games.playing import named
from tests.games.pool_nap_table import PASS, PLAY_A, begun, bid, next_deal, play, row


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"start_chips": 1}, "start_chips"),
        ({"start_chips": 100_001}, "start_chips"),
        ({"start_chips": True}, "start_chips"),
        ({"ante": 0}, "ante"),
        ({"ante": 50}, "ante"),
        ({"ante": 2, "start_chips": 2}, "ante"),
        ({"antes": 1}, "antes"),
        ({"ending": "never"}, "ending"),
        ({"rounds": 1001}, "rounds"),
        ({"round_cap": 0}, "round_cap"),
        ({"min_bid": 4}, "min_bid"),
        ({"bid_cover": 1}, "bid_cover"),
        ({"all_pass": None}, "all_pass"),
    ],
)
def test_PN_01_options_out_of_bounds_are_refused(options: Json, field: str) -> None:
    with pytest.raises(BadOption) as refused:
        PoolNap.start(3, options)

    assert refused.value.field == field


def test_PN_01_everybody_starts_with_the_same_chips_less_the_ante() -> None:
    state = PoolNap.start(4, {"start_chips": 30, "ante": 29})

    log = state.resolve(2)

    assert log[0]["chips"] == [30, 30, 30, 30]
    assert (log[1]["each"], log[1]["chips"], log[1]["pot"]) == (29, [1, 1, 1, 1], 116)


@pytest.mark.parametrize(
    ("seats", "rounds"), [(2, 20), (3, 21), (4, 20), (5, 20), (6, 24), (7, 21), (8, 24), (9, 27), (10, 20)]
)
def test_PN_02_rounds_0_stands_for_a_multiple_of_the_seats(seats: int, rounds: int) -> None:
    state = PoolNap.start(seats)

    assert state.observation(0)["round_limit"] == rounds
    assert state.observation(0)["options"]["rounds"] == 0
    assert PoolNap.decision_bound(seats, state.options) == 6 * seats * rounds


def test_PN_02_the_option_of_the_other_ending_has_no_effect() -> None:
    assert PoolNap.start(3, {"ending": "last_player", "rounds": 2, "round_cap": 7}).round_limit == 7
    assert PoolNap.start(3, {"ending": "rounds", "rounds": 2, "round_cap": 7}).round_limit == 2
    assert PoolNap.decision_bound(10, PoolNap.start(10, {"rounds": 1000}).options) == 60_000


def test_PN_02_one_seat_left_ends_the_match_under_either_ending() -> None:
    state = begun(["9s Td Jd Qh Kh", "2h 3h Qs Ks As"], start_chips=2, rounds=5)

    bid(state, 1, 0)
    log = play(state, "As 9s Ks Td Qs Jd 3h Qh Kh 2h")

    assert state.over
    assert (row(log, "match_end")["reason"], row(log, "match_end")["rounds"]) == ("last_player", 1)
    assert state.chips == [0, 4]


def test_PN_02_the_cap_ends_a_match_of_last_player() -> None:
    state = begun(ending="last_player", round_cap=1)

    assert row(bid(state, 0, 0, 0), "match_end")["reason"] == "rounds"


def test_PN_03_the_first_dealer_pays_only_by_option() -> None:
    usual, paying = PoolNap.start(3, {"ante": 4}), PoolNap.start(3, {"ante": 4, "first_dealer_pays": True})

    assert row(usual.resolve(1), "round_start")["dealer_paid"] == 0
    start = row(paying.resolve(1), "round_start")

    assert (start["dealer_paid"], start["chips"], start["pot"]) == (4, [46, 42, 46], 16)


def test_PN_04_the_first_dealer_is_drawn_and_the_deal_goes_clockwise_past_seats_that_are_out() -> None:
    state = PoolNap.start(4)
    assert state.chance() == {"kind": "draw", "what": "first_dealer", "among": [0, 1, 2, 3]}
    log = state.resolve(3)
    assert row(log, "draw") == {"event": "draw", "what": "first_dealer", "among": [0, 1, 2, 3], "result": 3}
    assert row(log, "round_start")["order"] == [0, 1, 2, 3]
    next_deal(state)
    state.chips[0] = 0

    log = bid(state, 0, 0, 0, 0)

    assert row(log, "out")["seat"] == 0
    assert (row(log, "round_start")["dealer"], row(log, "round_start")["order"]) == (1, [2, 3, 1])


@pytest.mark.parametrize("floor", [1, 2, 3])
def test_PN_05_bids_go_from_the_floor_to_five(floor: int) -> None:
    state = begun(min_bid=floor)

    assert [action.get("tricks", 0) for action in state.legal(1)] == [0, *range(floor, 6)]


def test_PN_06_each_seat_bids_once_and_must_beat_the_last_bid() -> None:
    state = begun()

    bid(state, 2)
    assert [action.get("tricks", 0) for action in state.legal(2)] == [0, 3, 4, 5]
    bid(state, 0)
    with pytest.raises(IllegalAction):  # the dealer may not equal it
        bid(state, 2)
    log = bid(state, 3)

    assert row(log, "contract") == {"event": "contract", "round": 1, "seat": 0, "tricks": 3}
    assert state.pending() == (0,)
    assert state.bids == [{"seat": 1, "tricks": 2}, {"seat": 2, "tricks": 0}, {"seat": 0, "tricks": 3}]


def test_PN_07_a_nap_ends_the_bidding() -> None:
    state = begun()

    log = bid(state, 0, 5)

    assert row(log, "contract")["seat"] == 2
    assert (state.phase, state.pending()) == ("play", (2,))


def test_PN_08_all_pass_counts_as_a_round_and_the_next_seat_deals() -> None:
    state = begun()

    log = bid(state, 0, 0, 0)

    assert row(log, "passed_out")["round"] == 1
    assert (row(log, "round_start")["round"], row(log, "round_start")["dealer"]) == (2, 1)
    assert not named(log, "payout")


def test_PN_08_the_dealer_must_bid_by_option_and_only_it_and_only_last() -> None:
    state = begun(all_pass="dealer_bids", min_bid=2, start_chips=8)

    assert state.legal(1)[0] == PASS
    bid(state, 0, 0)

    assert [action["tricks"] for action in state.legal(0)] == [2, 3]  # 7 chips cover three tricks
    assert state.default(0) == {"type": "bid", "tricks": 2}
    with pytest.raises(IllegalAction):
        bid(state, 0)


def test_PN_08_a_dealer_after_a_bid_may_pass() -> None:
    state = begun(all_pass="dealer_bids")

    bid(state, 1, 0)

    assert state.legal(0)[0] == PASS


def test_PN_09_without_cover_any_bid_is_open() -> None:
    state = begun(start_chips=2, bid_cover=False)

    assert [action.get("tricks", 0) for action in state.legal(1)] == [0, 1, 2, 3, 4, 5]


def test_PN_09_the_pot_is_no_cover() -> None:
    state = begun(start_chips=10, ante=9)

    assert (state.chips[1], state.pot) == (1, 27)
    assert state.legal(1) == [PASS]


def test_PN_10_a_dealer_pays_what_it_has_and_plays_on() -> None:
    state = begun(start_chips=10, ante=6)
    state.chips, state.pot = [4, 3, 23], 0

    start = row(bid(state, 0, 0, 0), "round_start")
    next_deal(state)

    assert (start["dealer"], start["dealer_paid"], start["chips"], start["pot"]) == (1, 3, [4, 0, 23], 3)
    assert [len(own) for own in state.hands] == [5, 5, 5]


def test_PN_10_a_dealer_without_chips_may_be_paid_and_stays_in() -> None:
    state = begun(start_chips=20)
    state.chips = [0, 19, 19]

    bid(state, 4, 0, 0)
    log = play(state, PLAY_A)

    assert row(log, "payout")["chips"] == [4, 11, 23]
    assert not named(log, "out")


def test_PN_11_packets_of_three_and_two_from_a_full_deck_every_round() -> None:
    state = PoolNap.start(3)
    state.resolve(0)
    assert (state.chance() or {})["cards"] == list(DECK)

    deal = row(state.resolve(list(DECK)), "deal")

    assert deal["hands"][1] == [*DECK[0:3], *DECK[9:11]]
    assert deal["hands"][2] == [*DECK[3:6], *DECK[11:13]]
    assert deal["hands"][0] == [*DECK[6:9], *DECK[13:15]]
    bid(state, 0, 0, 0)
    assert (state.chance() or {})["cards"] == list(DECK)


def test_PN_12_the_first_lead_is_trump() -> None:
    state = begun()
    bid(state, 3, 0, 0)
    assert state.observation(0)["trump"] is None

    trump, laid = play(state, "2h")

    assert trump == {"event": "trump", "round": 1, "seat": 1, "suit": "h"}
    assert laid["event"] == "play"
    assert state.observation(0)["trump"] == "h"


def test_PN_13_suit_must_be_followed_and_nothing_else() -> None:
    state = begun()
    bid(state, 3, 0, 0)
    play(state, "As")

    assert [action["card"] for action in state.legal(2)] == ["Ts", "Js"]
    play(state, "Ts 9s Ks Js")
    assert [action["card"] for action in state.legal(0)] == ["Td", "Jd", "Qh", "Kh"]


def test_PN_14_a_short_bidder_pays_one_chip_at_a_time_from_its_left() -> None:
    state = begun(start_chips=20)
    state.chips = [19, 5, 19]

    bid(state, 2, 0, 0)
    state.bid = 4  # more than it has cover for
    payout = row(play(state, PLAY_A), "payout")

    assert payout["payments"] == [[1, 2, 3], [1, 0, 2]]
    assert payout["chips"][1] == 0


def test_PN_15_the_pot_is_doubled_after_the_payments() -> None:
    state = begun(start_chips=50)

    bid(state, 5)
    payout = row(play(state, PLAY_A), "payout")

    assert (payout["pot_paid"], payout["pot"], payout["chips"]) == (3, 6, [54, 36, 54])


def test_PN_16_later_out_is_better_placed_and_the_same_round_ties() -> None:
    state = PoolNap.start(5)
    state.chips, state.out_round = [0, 7, 0, 0, 7], [3, None, 9, 3, None]

    assert state.placements() == [4, 1, 3, 4, 1]


def test_PN_16_a_seat_that_is_out_gets_no_cards_and_neither_pays_nor_is_paid() -> None:
    state = begun()
    state.chips[2] = 0
    bid(state, 0, 0, 0)
    deal = row(next_deal(state, ["2h 3h Qs Ks As", "9s Td Jd Qh Kh", ""]), "deal")
    assert deal["hands"][2] == []
    assert state.observation(2)["hand"] == []
    bid(state, 3, 0)

    payout = row(play(state, "As 9s Ks Td Qs Jd 3h Qh Kh 2h"), "payout")

    assert payout["payments"] == [[1, 0, 3]]


def test_PN_16_seats_that_go_out_together_are_told_by_rising_number() -> None:
    # One chip each after the contribution: seat 1 bids 1 without cover, takes three tricks and has both others' chips.
    state = begun(start_chips=2, bid_cover=False)
    bid(state, 1, 0, 0)

    log = play(state, PLAY_A)

    assert state.order == [1, 2, 0]
    assert [event["seat"] for event in named(log, "out")] == [0, 2]
    assert row(log, "match_end")["placements"] == [2, 1, 2]


@pytest.mark.parametrize(("pot_end", "share", "left"), [("split", 1, 1), ("stay", 0, 4)])
def test_PN_17_the_last_pot_is_shared_or_nobodys(pot_end: str, share: int, left: int) -> None:
    state = begun(rounds=2, pot_end=pot_end)
    bid(state, 0, 0, 0)
    next_deal(state)

    end = row(bid(state, 0, 0, 0), "match_end")

    assert (end["share"], end["pot"]) == (share, left)
    assert sum(end["returns"]) == -left


def test_PN_18_a_nap_pays_five_from_each_and_the_pot_starts_anew() -> None:
    state = begun(["9s Td Jd Qh Kh", "Ts Js Qs Ks As", "8d 9d Tc Jc Ah"], rounds=2)
    bid(state, 5)

    log = play(state, "As 8d 9s Ks 9d Td Qs Tc Jd Js Jc Qh Ts Ah Kh")

    assert row(log, "payout")["payments"] == [[2, 1, 5], [0, 1, 5]]
    assert row(log, "payout")["pot_won"] == 3
    assert (row(log, "payout")["pot"], row(log, "round_start")["pot"]) == (0, 1)


def test_PN_19_nobody_has_or_buys_a_widow() -> None:
    state = begun()

    assert {action["type"] for action in state.legal(1)} == {"pass", "bid"}
    assert [len(own) for own in state.hands] == [5, 5, 5]
    assert len(state.aside) == 37


def test_PN_20_all_five_tricks_are_played_though_the_bid_is_settled() -> None:
    state = begun()
    bid(state, 1, 0, 0)

    log = play(state, PLAY_A)

    assert [trick["tricks_won"] for trick in named(log, "trick")] == [
        *([0, 1, 0], [0, 2, 0], [0, 3, 0], [0, 3, 1], [0, 3, 2])
    ]
    assert [event["trick"] for event in named(log, "trick")] == [1, 2, 3, 4, 5]


def test_PN_21_a_revoke_is_no_legal_move_and_costs_nothing() -> None:
    state = begun()
    bid(state, 3, 0, 0)
    play(state, "As")
    chips = state.chips[:]

    with pytest.raises(IllegalAction):
        play(state, "Ah")
    with pytest.raises(IllegalAction):
        state.apply(0, {"type": "play", "card": "9s"})  # out of turn

    assert (state.chips, state.pending()) == (chips, (2,))


def test_every_ruling_has_a_test() -> None:
    names = " ".join(path.read_text() for path in Path(__file__).parent.glob("test_pool_nap*.py"))
    tested = set(re.findall(r"PN_\d\d", names))

    assert tested == {f"PN_{number:02}" for number in range(1, 22)}
