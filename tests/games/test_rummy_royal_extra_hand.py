"""Rummy Royal: the extra hand kept, swapped or sold, and what each seat may see of it all."""

import pytest

from referee.games.rummy_royal import RummyRoyal
from referee.match.canonical import Json
from tests.games.playing import named
from tests.games.rummy_royal import begun, choose

# -- the worked examples --


def test_RR_09_RR_10_example_9_an_auction() -> None:
    state = begun(seats=4, dealer=2)
    extra, given_up = state.dead, state.hands[0]

    log = choose(state, "sell", "pass", "bid", "bid", "bid", "pass")

    calls = [(row["event"], row["seat"]) for row in log if row["event"] in ("bid", "pass")]
    assert calls == [("pass", 3), ("bid", 0), ("bid", 1), ("bid", 0), ("pass", 1)]
    assert [row["amount"] for row in named(log, "bid")] == [1, 2, 3]
    (sold,) = named(log, "sold")
    assert (sold["seat"], sold["amount"], sold["stacks"]) == (0, 3, [188, 191, 194, 191])
    assert (sold["hand"], sold["discarded"]) == (extra, given_up)
    assert [state.observation(seat)["discarded"] for seat in range(4)] == [given_up, None, None, None]


def test_RR_11_example_10_the_cap_ends_the_auction() -> None:
    state = begun(seats=3, max_bid=2)

    log = choose(state, "sell", "bid", "bid")

    assert [row["seat"] for row in named(log, "pass")] == [1]
    assert (named(log, "sold")[0]["seat"], named(log, "sold")[0]["amount"]) == (2, 2)


def test_RR_11_RR_13_example_10_nobody_bids_more_than_he_has() -> None:
    state = begun(seats=3, stack=10)

    log = choose(state, "sell", "bid")

    assert [row["seat"] for row in named(log, "pass")] == [2]
    assert named(log, "sold")[0]["stacks"] == [2, 0, 1]


def test_RR_05_RR_13_example_10_seats_in_debt_are_not_asked() -> None:
    state = begun(seats=3, stack=10, ante=2)
    assert state.stacks == [-8, -8, -8]

    log = choose(state, "sell")

    assert [row["event"] for row in log][:4] == ["sell", "pass", "pass", "unsold"]
    assert state.observation(0)["extra"] == {"fate": "unsold", "seat": None, "price": 0}


# -- the dealer's choice --


def test_RR_07_a_swap_is_whole_and_the_hand_given_up_is_out_of_play() -> None:
    state = begun(seats=4, dealer=1)
    hand, extra = state.hands[1], state.dead

    log = choose(state, "swap")

    assert log[0] == {"event": "swap", "deal": 1, "seat": 1, "hand": extra, "discarded": hand}
    assert state.dead == hand
    assert state.phase == "lead"  # it is not sold on
    assert state.observation(1)["discarded"] == hand
    assert state.observation(1)["extra"] == {"fate": "swapped", "seat": 1, "price": 0}
    assert state.observation(1)["dead_size"] == len(hand)
    for other in (0, 2, 3):
        assert state.observation(other)["discarded"] is None


@pytest.mark.parametrize("dealer_looks", [True, False])
def test_RR_08_the_dealer_sees_his_hand_first_or_not(dealer_looks: bool) -> None:
    state = begun(seats=4, dealer=2, dealer_looks=dealer_looks)
    hand = state.hands[2]

    assert state.observation(2)["hand"] == (hand if dealer_looks else ["??"] * len(hand))
    assert state.observation(3)["hand"] == state.hands[3]
    choose(state, "sell")
    assert state.observation(2)["hand"] == hand


# -- what is seen --


def masked(state: RummyRoyal, log: list[Json], viewer: int | None) -> list[Json]:
    return RummyRoyal.visible_events(log, viewer, state.options)


@pytest.mark.parametrize(("choice", "seen_after"), [("keep", True), ("sell", True), ("swap", False)])
def test_RR_08_a_blind_dealers_own_cards_are_hidden_until_he_keeps_or_sells(choice: str, seen_after: bool) -> None:
    state = RummyRoyal.start(3, {"dealer_looks": False})
    state.resolve(1)
    (deal,) = state.resolve((state.chance() or {})["cards"])
    (before,) = masked(state, [deal], 1)

    log = [deal, *choose(state, choice)]

    assert before["hands"] == [["??"] * 13] * 3
    assert masked(state, log, 1)[0]["hands"] == [
        ["??"] * 13,
        deal["hands"][1] if seen_after else ["??"] * 13,
        ["??"] * 13,
    ]
    assert masked(state, log, 0)[0]["hands"] == [deal["hands"][0], ["??"] * 13, ["??"] * 13]


def test_without_the_options_the_dealer_is_taken_to_be_blind() -> None:
    state = RummyRoyal.start(2)
    state.resolve(0)
    (deal,) = state.resolve((state.chance() or {})["cards"])
    swap = choose(state, "swap")[0]

    assert RummyRoyal.mask_event(deal, 0)["hands"][0] == ["??"] * len(deal["hands"][0])
    assert RummyRoyal.mask_event(deal, 1)["hands"][1] == deal["hands"][1]
    assert RummyRoyal.mask_event(swap, 0) == {**swap, "discarded": ["??"] * len(swap["discarded"])}
