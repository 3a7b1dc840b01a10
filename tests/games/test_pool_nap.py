"""Pool Nap: the rulings of its rules page."""

import pytest

from referee.errors import BadOption, IllegalAction
from referee.games.cards import DECK
from referee.games.pool_nap import PoolNap
from referee.match.canonical import Json
from tests.games.playing import named, row
from tests.games.pool_nap_table import PLAY_A, begun, bid, next_deal, play


@pytest.mark.parametrize("options", [{"ante": 50}, {"ante": 2, "start_chips": 2}])
def test_PN_01_the_ante_is_less_than_the_chips(options: Json) -> None:
    with pytest.raises(BadOption, match="expected less than start_chips"):
        PoolNap.start(3, options)


def test_PN_02_one_seat_left_ends_the_match_under_either_ending() -> None:
    state = begun(["9s Td Jd Qh Kh", "2h 3h Qs Ks As"], start_chips=2, rounds=5)

    bid(state, 1, 0)
    log = play(state, "As 9s Ks Td Qs Jd 3h Qh Kh 2h")

    assert state.over
    assert (row(log, "match_end")["reason"], row(log, "match_end")["rounds"]) == ("last_player", 1)
    assert state.chips == [0, 4]


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
