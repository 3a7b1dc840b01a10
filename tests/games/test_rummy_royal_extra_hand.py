"""Rummy Royal: the extra hand kept, swapped or sold, and what each seat may see of it all."""

from random import Random

import pytest

from referee.errors import IllegalAction
from referee.games.rummy_royal import RummyRoyal
from referee.match.canonical import Json
from referee.match.match import Match
from tests.games.playing import named, one_step
from tests.games.rummy_royal import begun, board, choose, lead
from tests.match.playing import chance, header

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


def test_RR_09_the_dealer_may_keep_without_selling() -> None:
    state = begun(seats=4)
    hand, extra = state.hands[0], state.dead

    log = choose(state, "keep")

    assert log[0] == {"event": "keep", "deal": 1, "seat": 0}
    assert state.observation(1)["extra"] == {"fate": "aside", "seat": None, "price": 0}
    assert sorted(state.hands[0] + [row["card"] for row in state.played if row["seat"] == 0]) == sorted(hand)
    assert state.dead == extra
    assert state.stacks[0] == 191 + sum(row["chips"] for row in named(log, "pay") if row["seat"] == 0)


def test_the_choice_has_three_answers_in_the_order_of_the_page() -> None:
    state = begun(seats=2)

    assert state.legal(0) == [{"type": "keep"}, {"type": "sell"}, {"type": "swap"}]
    assert state.default(0) == {"type": "keep"}


@pytest.mark.parametrize("dealer_looks", [True, False])
def test_RR_08_the_dealer_sees_his_hand_first_or_not(dealer_looks: bool) -> None:
    state = begun(seats=4, dealer=2, dealer_looks=dealer_looks)
    hand = state.hands[2]

    assert state.observation(2)["hand"] == (hand if dealer_looks else ["??"] * len(hand))
    assert state.observation(3)["hand"] == state.hands[3]
    choose(state, "sell")
    assert state.observation(2)["hand"] == hand


def test_RR_08_a_blind_dealer_who_swaps_never_sees_what_he_gave_up() -> None:
    state = begun(seats=4, dealer=2, dealer_looks=False)
    extra = state.dead

    choose(state, "swap")

    assert state.observation(2)["hand"] == extra
    assert state.observation(2)["discarded"] == ["??"] * len(state.dead)


# -- the auction --


def test_RR_10_a_pass_is_final_and_the_dealer_and_the_high_bidder_are_not_asked() -> None:
    state = begun(seats=4)
    asked = []

    choose(state, "sell")
    for call in ("bid", "pass", "bid", "bid", "pass"):
        asked.append(state.pending()[0])
        choose(state, call)

    assert asked == [1, 2, 3, 1, 3]
    assert state.observation(0)["auction"] == {"amount": 3, "seat": 1, "passed": [2, 3]}


def test_RR_10_nobody_is_bound_to_bid() -> None:
    state = begun(seats=4)
    stacks, extra = state.stacks, state.dead

    log = choose(state, "sell", "pass", "pass", "pass")

    assert named(log, "unsold") == [{"event": "unsold", "deal": 1}]
    assert (state.stacks, state.dead) == (stacks, extra)
    assert state.phase == "lead"


@pytest.mark.parametrize("amount", [0, 1, 3, 2.0, True, "2", None, [2]])
def test_RR_10_each_bid_is_one_chip_more(amount: object) -> None:
    state = begun(seats=3)
    choose(state, "sell", "bid")

    assert state.legal(2) == [{"type": "pass"}, {"type": "bid", "amount": 2}]
    assert state.default(2) == {"type": "pass"}
    with pytest.raises(IllegalAction):
        state.apply(2, {"type": "bid", "amount": amount})


def test_RR_11_the_whole_stack_may_be_bid() -> None:
    state = begun(seats=2)
    state.stacks = [0, 2]
    choose(state, "sell")

    assert state.pending() == (1,)
    log = choose(state, "bid")

    assert named(log, "sold")[0]["amount"] == 1


def test_the_auction_shows_its_state_while_it_lasts() -> None:
    state = begun(seats=4, dealer=3)
    choose(state, "sell", "bid", "pass")

    seen = state.observation(3)

    assert (seen["phase"], seen["to_act"]) == ("auction", [2])
    assert seen["auction"] == {"amount": 1, "seat": 0, "passed": [1]}
    assert seen["extra"] == {"fate": "auction", "seat": None, "price": 0}


# -- what is seen --


def test_a_view_has_the_fields_of_the_page() -> None:
    hands = {1: "2c 6s 7s 8s 9s Ts", 2: "3h 3s 5d 7h Jh Ac", 3: "2d Js Qs Ks As"}
    state = begun(hands, "2h 4d 4h 5c 5h")
    choose(state, "sell", "pass", "pass", "bid", *["pass"] * 5)
    lead(state, "6s")

    assert state.observation(3) == {
        "game": "rummy-royal",
        "players": 9,
        "options": state.options,
        "seat": 3,
        "deal": 1,
        "dealer": 0,
        "phase": "lead",
        "to_act": [2],
        "hand": ["2h", "4d", "4h", "5c", "5h"],
        "hand_sizes": [5, 1, 6, 5, 5, 5, 5, 5, 5],
        "stacks": [192, 200, 191, 190, 191, 191, 191, 191, 191],
        "board": board(9, seq=0),
        "extra": {"fate": "sold", "seat": 3, "price": 1},
        "dead_size": 5,
        "discarded": ["2d", "Js", "Qs", "Ks", "As"],
        "auction": {"amount": 1, "seat": 3, "passed": [1, 2, 4, 5, 6, 7, 8]},
        "colour": "red",
        "played": [{"seat": 1, "card": card} for card in ("6s", "7s", "8s", "9s", "Ts")],
        "no_colour": [{"seat": 1, "colour": "red", "after": 5}],
    }


def test_before_the_first_deal_there_is_little_to_see() -> None:
    seen = RummyRoyal.start(2).observation(1)

    assert (seen["deal"], seen["dealer"], seen["phase"], seen["to_act"]) == (0, None, "dealer", [])
    assert (seen["hand"], seen["hand_sizes"], seen["colour"]) == ([], [0, 0], "any")
    assert (seen["stacks"], seen["board"]) == ([200, 200], board(0))


def test_when_the_match_is_over_the_last_state_is_shown() -> None:
    state = begun(seats=2, deals=1)
    choose(state, "keep")
    while not state.over:
        one_step(state, Random(3))

    seen = state.observation(0)

    assert (seen["phase"], seen["to_act"], seen["deal"], seen["dealer"]) == ("over", [], 1, 0)
    assert seen["hand"] == state.hands[0]
    assert (seen["played"], seen["board"]) == (state.played, board(0))


def masked(state: RummyRoyal, log: list[Json], viewer: int | None) -> list[Json]:
    return RummyRoyal.visible_events(log, viewer, state.options)


@pytest.mark.parametrize("viewer", [None, 0, 1, 2])
def test_hands_are_for_their_seats_deck_and_extra_hand_for_nobody(viewer: int | None) -> None:
    state = RummyRoyal.start(3)
    state.resolve(1)
    log = state.resolve((state.chance() or {})["cards"])

    (deal,) = masked(state, log, viewer)

    assert deal["deck"] == ["??"] * 52
    assert deal["extra"] == ["??"] * 13
    assert deal["hands"] == [log[0]["hands"][seat] if seat == viewer else ["??"] * 13 for seat in range(3)]


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


@pytest.mark.parametrize("dealer_looks", [True, False])
def test_a_swap_is_seen_by_the_dealer_alone(dealer_looks: bool) -> None:
    state = begun(seats=3, dealer_looks=dealer_looks)
    log = choose(state, "swap")[:1]
    unknown = ["??"] * 13

    (own,), (others,), (public,) = (masked(state, log, viewer) for viewer in (0, 1, None))

    assert own["hand"] == log[0]["hand"]
    assert own["discarded"] == (log[0]["discarded"] if dealer_looks else unknown)
    assert others == public == {**log[0], "hand": unknown, "discarded": unknown}


@pytest.mark.parametrize("dealer_looks", [True, False])
def test_a_sale_is_seen_by_the_buyer_alone(dealer_looks: bool) -> None:
    state = begun(seats=3, dealer_looks=dealer_looks)
    log = named(choose(state, "sell", "bid", "pass"), "sold")
    unknown = ["??"] * 13

    (own,), (dealer,), (public,) = (masked(state, log, viewer) for viewer in (1, 0, None))

    assert own == log[0]
    assert state.observation(1)["discarded"] == log[0]["discarded"]
    assert dealer == public == {**log[0], "hand": unknown, "discarded": unknown}
    assert dealer["stacks"] == [192, 190, 191]


@pytest.mark.parametrize("dealer_looks", [True, False])
def test_RR_08_the_question_to_a_dealer_tells_no_more_in_its_news_than_in_its_view(dealer_looks: bool) -> None:
    match = Match(header("rummy-royal", 3, {"dealer_looks": dealer_looks}), chance(3))
    match.begin()

    (request,) = match.requests()

    (deal,) = named(request.new_events, "deal")
    assert deal["hands"][request.seat] == request.observation["hand"]
    assert ("??" in request.observation["hand"]) is not dealer_looks


def test_without_the_options_the_dealer_is_taken_to_be_blind() -> None:
    state = RummyRoyal.start(2)
    state.resolve(0)
    (deal,) = state.resolve((state.chance() or {})["cards"])
    swap = choose(state, "swap")[0]

    assert RummyRoyal.mask_event(deal, 0)["hands"][0] == ["??"] * len(deal["hands"][0])
    assert RummyRoyal.mask_event(deal, 1)["hands"][1] == deal["hands"][1]
    assert RummyRoyal.mask_event(swap, 0) == {**swap, "discarded": ["??"] * len(swap["discarded"])}
