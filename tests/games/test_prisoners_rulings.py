"""Prisoners: every ruling of its rules page, also those about silence."""

import re
from pathlib import Path

import pytest

from referee.errors import BadOption, IllegalAction
from referee.games.prisoners import Prisoners, bid_cards, prisoners
from referee.match.canonical import Json
from tests.games.playing import named
from tests.games.prisoners_table import all_pass, begun, dealt, deck_for, row, say


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


@pytest.mark.parametrize(("players", "decks"), [(2, 1), (3, 1), (4, 1), (5, 2), (10, 2)])
def test_PR_02_the_number_of_decks_follows_from_the_seats(players: int, decks: int) -> None:
    state = Prisoners.start(players)

    assert state.options["decks"] == decks
    assert state.observation(0)["options"]["decks"] == decks
    assert Prisoners.start(players, {"decks": decks}).options["decks"] == decks


@pytest.mark.parametrize(
    ("players", "given", "field"),
    [
        *((3, {"decks": 2}, "decks"), (2, {"decks": 2}, "decks"), (5, {"decks": 1}, "decks")),
        *((10, {"decks": 1}, "decks"), (4, {"decks": 3}, "decks"), (4, {"decks": True}, "decks")),
        *((4, {"deals": 0}, "deals"), (4, {"deals": 21}, "deals"), (4, {"direction": "left"}, "direction")),
        *((4, {"bidding": "sealed"}, "bidding"), (4, {"deck": 1}, "deck"), (1, {}, "players"), (11, {}, "players")),
    ],
)
def test_PR_02_what_does_not_fit_is_refused(players: int, given: Json, field: str) -> None:
    with pytest.raises(BadOption) as refused:
        Prisoners.start(players, given)

    assert refused.value.field == field


def test_PR_02_four_seats_may_take_two_decks() -> None:
    state = begun({}, "Jh", decks=2)

    assert (len(state.hands[3]), len(state.pile)) == (20, 27)


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


def test_PR_04_decks_are_listed_in_canonical_order_with_twins_side_by_side() -> None:
    assert " ".join(prisoners(1)) == "Jc Jd Jh Js Qc Qd Qh Qs Kc Kd Kh Ks X1 X2"
    assert " ".join(prisoners(2)[:4]) == "Jc Jc Jd Jd"
    assert prisoners(2)[-5:] == ["Ks", "X1", "X2", "X3", "X4"]
    assert " ".join(bid_cards(1)[:5]) == "2c 2d 2h 2s 3c"
    assert " ".join(bid_cards(1)[-8:]) == "Tc Td Th Ts Ac Ad Ah As"
    assert " ".join(bid_cards(2)[-4:]) == "Ah Ah As As"
    assert (len(prisoners(2)), len(bid_cards(2))) == (28, 80)


def test_PR_05_a_pass_is_final_for_this_prisoner_and_not_for_the_next() -> None:
    state = begun({0: "2h 3h 4h", 1: "5h 6h", 2: "7h"}, "Jh Qh", players=3)

    say(state, "2h", "", "7h", "")
    assert len(state.turned) == 1  # seat 1 was not asked again
    assert state.pending() == (2,)
    say(state, "")

    assert state.pending() == (0,)
    say(state, "")
    assert {"type": "bid", "cards": ["5h"]} in state.legal(1)


def test_PR_05_a_bidder_that_nobody_overtakes_is_not_asked_again() -> None:
    state = begun({0: "2h 3h", 1: "5h"}, "Jh", players=3)

    log = say(state, "2h", "", "")

    assert row(log, "prisoner")["to"] == 0


def test_PR_05_in_single_bidding_an_overtaken_seat_does_not_come_again() -> None:
    state = begun({0: "2h Ah", 1: "5h", 2: "6h"}, "Jh", players=3, bidding="single")

    log = say(state, "2h", "5h", "")

    assert row(log, "prisoner")["to"] == 1


def test_PR_06_left_over_cards_are_seen_by_nobody() -> None:
    state, log = dealt({}, "Jh", players=9)
    deal = row(log, "deal")

    assert len(deal["left_over"]) == 8
    for viewer in (None, *range(9)):
        assert [event["left_over"] for event in Prisoners.visible_events([deal], viewer, {})] == [["??"] * 8]
    assert all(state.observation(seat)["left_over"] == 8 for seat in range(9))


def test_PR_07_the_winner_leads_and_without_one_the_lead_stays() -> None:
    state = begun({0: "2h 3h", 2: "5h Ah"}, "Jh Qh Kh", players=3)

    say(state, "2h", "", "5h", "")
    assert (state.leader, state.pending()) == (2, (2,))
    all_pass(state)

    assert (state.leader, state.pending()) == (2, (2,))


def test_PR_07_who_takes_a_joker_by_claim_leads() -> None:
    state = begun({1: "Ac Ad As", 0: "Ah"}, "Jd X1 Jc")
    say(state, "", "Ac Ad As")
    while state.pending() and not state.turned:
        say(state, "")

    assert (state.turned[1]["to"], state.leader, state.pending()) == (1, 1, (1,))


def test_PR_08_a_seat_with_cards_goes_on_bidding_alone() -> None:
    state = begun({2: "2h 3h"}, "Jh Qh")
    state.hands = [[], [], ["2h", "3h"], []]
    state.pile = ["Qh", "Kh"]
    state.queue, state.leader = [2, 3, 0, 1], 2

    first = say(state, "2h")
    second = say(state, "3h")

    assert [event["seat"] for event in named(first, "pass")] == [3, 0, 1]
    assert [(event["prisoner"], event["to"]) for event in named(second, "prisoner")] == [("Qh", 2), ("Kh", None)]
    assert len(named(second, "pass")) == 3  # of the queen: nobody is left to pass for the king


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


def test_PR_09_a_bid_must_be_strictly_greater() -> None:
    state = begun({0: "5h", 1: "2h 3h 6h"}, "Jh", players=2)
    say(state, "5h")

    with pytest.raises(IllegalAction):
        say(state, "2h 3h")
    assert say(state, "6h")[0]["total"] == 6


def test_PR_10_twins_may_serve_in_two_bids_but_not_in_one() -> None:
    state = begun({0: "5d 5d 2d", 1: "6d"}, "Jd", players=5)
    for wrong in ("5d 5d", "2d 5d 5d"):
        with pytest.raises(IllegalAction):
            say(state, wrong)
    assert state.legal(0).count({"type": "bid", "cards": ["5d"]}) == 1

    say(state, "5d", "6d", "", "", "")
    log = say(state, "2d 5d")

    assert (log[0]["total"], state.refuse) == (7, ["2d", "5d", "5d", "6d"])


def test_PR_10_a_four_always_has_the_suit() -> None:
    state = begun({0: "2c 2d 2h 2s"}, "Jd", players=2)

    assert say(state, "2c 2d 2h 2s")[0]["total"] == 8


def test_PR_11_a_joker_takes_the_suit_turned_before_whoever_got_it() -> None:
    state = begun({0: "Ac Ad", 1: "Ah As"}, "Jh X1 X2 Jc", players=2)

    all_pass(state)
    assert (state.prisoner, state.suit) == ("X1", "h")
    all_pass(state)
    assert (state.prisoner, state.suit) == ("X2", "h")  # handed on through a joker
    all_pass(state)
    assert (state.prisoner, state.suit) == ("Jc", "c")


def test_PR_11_a_joker_first_in_a_later_deal_has_no_suit_from_the_deal_before() -> None:
    state = begun({}, "Jh", deals=2)
    state.pile = []
    all_pass(state)
    state.resolve(["X1", *(one for one in prisoners(1) if one != "X1")])

    log = state.resolve(deck_for({}, state))

    assert row(log, "turn")["suit"] is None
    assert (state.phase, state.pending()) == ("name_suit", (1,))


def test_PR_12_the_dealer_names_the_suit_before_the_aces_are_looked_at() -> None:
    for suit, aces in (("s", 1), ("d", 0)):
        state = begun({0: "Ac Ah As", 1: "Ad"}, "X1")
        assert state.observation(0)["hand"][-3:] == ["Ac", "Ah", "As"]

        log = state.apply(0, {"type": "name_suit", "suit": suit})

        assert len(named(log, "aces")) == aces
        assert log[0] == {"event": "name_suit", "deal": 1, "seat": 0, "suit": suit}


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


def test_PR_13_two_aces_are_never_forced() -> None:
    state = begun({0: "Ac Ad", 1: "Ah As"}, "Jd X1", players=2)

    assert not named(all_pass(state), "aces")


def test_PR_13_a_bid_after_the_first_joker_earns_nothing() -> None:
    state = begun({0: "Ac Ad As", 1: "Ah"}, "Jh X1 Jd", players=2)
    all_pass(state)
    all_pass(state)

    log = say(state, "Ac Ad As")

    assert not named(log, "claim")
    assert (state.joker_seen, state.claims) == (True, [])


def test_PR_13_nothing_is_forced_at_the_second_joker() -> None:
    state = begun({0: "Ac Ad As", 1: "Ah"}, "Jh X1 Jd X2", players=2)

    logs = [all_pass(state) for _ in range(4)]

    assert not [event for log in logs for event in named(log, "aces")]


def test_PR_14_four_aces_are_forced_whatever_the_suit_and_earn_two_claims_when_bid_early() -> None:
    forced = begun({0: "Ac Ad Ah As"}, "Jd X1 X2 Jc", players=2)
    assert row(all_pass(forced), "claim")["jokers"] == 2
    assert forced.scores() == [400, 0]

    early = begun({0: "Ac Ad Ah As"}, "Jd X1 X2 Jc", players=2)
    assert row(say(early, "Ac Ad Ah As"), "claim")["jokers"] == 2
    all_pass(early)

    assert early.scores() == [450, 0]


def test_PR_15_forced_sets_stand_in_line_in_bidding_order_each_seat_with_all_it_has() -> None:
    hands = {3: "Ac Ac Ad Ad Ah Ah As", 1: "As"}
    state = begun(hands, "Jd X1", players=5, dealer=2)

    log = all_pass(state)

    assert [(event["seat"], " ".join(event["cards"])) for event in named(log, "aces")] == [
        *((3, "Ac Ad Ah As"), (3, "Ac Ad Ah"))
    ]
    assert [event["jokers"] for event in named(log, "claim")] == [2, 1]
    assert state.claims == [3, 3]


def test_PR_15_of_two_seats_with_sets_the_leader_stands_first_in_line() -> None:
    state = begun({0: "Ac Ad Ah", 2: "Ac Ad Ah"}, "Jd X1 X2", players=5, dealer=2)

    log = all_pass(state)

    assert [event["seat"] for event in named(log, "aces")] == [2, 0]
    assert [(event["prisoner"], event["to"]) for event in named(log, "prisoner")] == [
        *(("Jd", None), ("X1", 2), ("X2", 0))
    ]


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


def test_PR_16_the_referee_passes_for_who_cannot_bid() -> None:
    state = begun({0: "2h"}, "Jh Qs", players=3)
    state.hands = [["2h", "4c"], ["3h", "3s", "4s"], ["4d", "5d", "9s"]]

    log = say(state, "2h", "3h")

    assert [(event["event"], event.get("seat")) for event in log[:4]] == [
        *(("bid", 0), ("bid", 1), ("pass", 2), ("pass", 0))  # no heart and no pair; nothing above 3
    ]
    assert log[2] == {"event": "pass", "deal": 1, "seat": 2}
    assert state.turned[0]["to"] == 1


def test_PR_16_a_leader_who_cannot_bid_is_not_asked() -> None:
    state = begun({}, "Jh Qs", players=2)
    all_pass(state)
    state.hands, state.pile = [["2c", "3d"], ["2h", "3h"]], ["Kh"]

    log = all_pass(state)

    assert named(log, "pass")[-1]["seat"] == 0
    assert (state.leader, state.pending()) == (0, (1,))


def test_PR_17_equal_points_share_a_place() -> None:
    state = begun({}, "Jh")
    state.points = [200, 350, 350, 50]

    assert state.placements() == [3, 1, 1, 4]
    assert state.returns() == [200, 350, 350, 50]


def test_every_ruling_has_a_test() -> None:
    names = " ".join(path.read_text() for path in Path(__file__).parent.glob("test_prisoners*.py"))

    assert set(re.findall(r"PR_\d\d", names)) == {f"PR_{number:02}" for number in range(1, 18)}
