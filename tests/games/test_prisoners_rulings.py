"""Prisoners: every ruling of its rules page, also those about silence."""

import pytest

from referee.errors import BadOption, IllegalAction
from referee.games.prisoners import Prisoners, bid_cards, prisoners
from tests.games.playing import named, row
from tests.games.prisoners_table import all_pass, begun, deck_for, say


@pytest.mark.parametrize(
    ("players", "decks", "hand", "left_over"),
    [
        *((2, 0, 20, 0), (3, 0, 13, 1), (4, 0, 10, 0), (4, 2, 20, 0), (5, 0, 16, 0)),
        *((6, 0, 13, 2), (7, 0, 11, 3), (8, 0, 10, 0), (9, 0, 8, 8), (10, 0, 8, 0)),
    ],
)
def test_PR_01_PR_06_every_table_deals_equal_hands(players: int, decks: int, hand: int, left_over: int) -> None:
    seen = begun({}, "Jh", players=players, decks=decks).observation(1)

    assert seen["hand_sizes"] == [hand] * players
    assert seen["left_over"] == left_over


@pytest.mark.parametrize(("players", "decks"), [(2, 2), (3, 2), (5, 1), (10, 1)])
def test_PR_02_what_does_not_fit_is_refused(players: int, decks: int) -> None:
    with pytest.raises(BadOption, match=f"expected {3 - decks} or 0 for {players} seats"):
        Prisoners.start(players, {"decks": decks})


def test_PR_03_the_other_direction_turns_dealing_bidding_and_the_deal_round() -> None:
    state = Prisoners.start(3, {"direction": "anticlockwise", "deals": 2})
    state.resolve(1)
    state.resolve(["Jh", *(one for one in prisoners(1) if one != "Jh")])
    deal = row(state.resolve(bid_cards(1)), "deal")

    assert deal["hands"][0][:2] == ["2c", "2s"]  # places 0, 3, … of the deck: the first seat after the dealer
    assert deal["hands"][2][:2] == ["2d", "3c"]
    assert deal["hands"][1][:2] == ["2h", "3d"]
    asked = []
    while len(state.turned) == 0:
        asked.append(state.pending()[0])
        say(state, "")
    assert asked == [1, 0, 2]
    state.pile = []
    all_pass(state)
    assert (state.deal, state.dealer) == (2, 0)


def test_PR_04_the_first_dealer_is_drawn_and_the_deal_moves_on() -> None:
    state = Prisoners.start(4, {"deals": 2})
    assert state.chance() == {"kind": "draw", "what": "first_dealer", "among": [0, 1, 2, 3]}
    log = state.resolve(3)
    assert [event["event"] for event in log] == ["match_start", "draw"]
    assert (state.chance() or {})["cards"] == prisoners(1)
    state.resolve(prisoners(1))
    assert (state.chance() or {})["cards"] == bid_cards(1)
    state.resolve(deck_for({}, state))
    assert (state.leader, state.pending()) == (3, (3,))
    state.pile = []

    log = all_pass(state)

    assert log[-1] == {"event": "deal_end", "deal": 1, "scores": [0, 0, 0, 0]}
    assert (state.deal, state.dealer, state.over) == (2, 0, False)


def test_PR_09_spent_cards_add_nothing_to_a_new_bid() -> None:
    state = begun({0: "2h 3h", 1: "5h 6h"}, "Jh", players=2)

    say(state, "3h", "5h")
    with pytest.raises(IllegalAction):
        say(state, "2h")  # 2 + 3 would not do either, and 3 is gone
    with pytest.raises(IllegalAction):
        say(state, "2h 3h")
    assert state.refuse == ["3h", "5h"]
    assert "3h" not in state.hands[0]
    assert "5h" not in state.hands[1]


def test_PR_10_twins_may_serve_in_two_bids_but_not_in_one() -> None:
    state = begun({0: "5d 5d 2d", 1: "6d"}, "Jd", players=5)
    for wrong in ("5d 5d", "2d 5d 5d"):
        with pytest.raises(IllegalAction):
            say(state, wrong)
    assert state.legal(0).count({"type": "bid", "cards": ["5d"]}) == 1

    say(state, "5d", "6d", "", "", "")
    log = say(state, "2d 5d")

    assert (log[0]["total"], state.refuse) == (7, ["2d", "5d", "5d", "6d"])


def test_PR_11_a_joker_first_in_a_later_deal_has_no_suit_from_the_deal_before() -> None:
    state = begun({}, "Jh", deals=2)
    state.pile = []
    all_pass(state)
    state.resolve(["X1", *(one for one in prisoners(1) if one != "X1")])

    log = state.resolve(deck_for({}, state))

    assert row(log, "turn")["suit"] is None
    assert (state.phase, state.pending()) == ("name_suit", (1,))


@pytest.mark.parametrize(
    ("hand", "prisoner", "bid", "claims"),
    [
        ("Ac Ad As", "Jd", "Ac Ad As", 1),
        ("Ac Ad As", "Jh", "Ac Ad As", 0),  # none of its suit
        ("Ac Ad As", "Jd", "Ac Ad", 0),
        ("Ac Ad As", "Jd", "Ad", 0),
        ("Tc Td Ts", "Jd", "Tc Td Ts", 0),
        ("Ac Ad Ah As", "Jd", "Ac Ad As", 1),
    ],
)
def test_PR_13_three_aces_bid_together_early_earn_a_claim(hand: str, prisoner: str, bid: str, claims: int) -> None:
    state = begun({0: hand}, prisoner, players=2)

    log = say(state, bid)

    assert [event["jokers"] for event in named(log, "claim")] == [1] * claims
    assert state.claims == [0] * claims


def test_PR_15_the_line_begins_with_the_leader_and_early_claims_stand_before() -> None:
    hands = {0: "Ac Ad Ah", 1: "Ac Ad As", 4: "Ah As"}
    state = begun(hands, "Jd Jc X1 X2 X3", players=5, dealer=1)

    say(state, "Ac Ad As")
    all_pass(state)
    assert (state.claims, state.leader) == ([1], 1)
    log = all_pass(state)

    assert [event["seat"] for event in named(log, "aces")] == [0]
    assert [(event["prisoner"], event["to"]) for event in named(log, "prisoner")[1:]] == [("X1", 1), ("X2", 0)]
    assert (state.prisoner, state.leader) == ("X3", 0)


def test_PR_17_equal_points_share_a_place() -> None:
    state = begun({}, "Jh")
    state.points = [200, 350, 350, 50]

    assert state.placements() == [3, 1, 1, 4]
    assert state.returns() == [200, 350, 350, 50]
