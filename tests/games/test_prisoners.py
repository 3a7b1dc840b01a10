"""Prisoners: the worked examples of its rules page."""

import pytest

from referee.errors import IllegalAction
from referee.games.prisoners_bids import total
from tests.games.playing import named, row
from tests.games.prisoners_table import HANDS, TEN_HEARTS, all_pass, begun, say

# -- the worked examples --


@pytest.mark.parametrize(
    ("cards", "counts"),
    [
        *(("5h Ah", 16), ("5c 5d", 7), ("2c 2h", 4), ("6c 6d 6s", 9), ("Ac Ah As", 33), ("Ac Ad As", 14)),
        *(("Tc Td Th Ts", 40), ("9h", 9), (TEN_HEARTS, 65)),
    ],
)
def test_example_1_totals_on_a_heart(cards: str, counts: int) -> None:
    assert total(cards.split(), "h") == counts
    state = begun({0: cards}, "Jh", players=2)

    bid = say(state, cards)[0]

    assert (bid["cards"], bid["total"]) == (cards.split(), counts)


@pytest.mark.parametrize("cards", ["9c", "8c 9c", "9h 8c", "5h 5c 6h", "5c 5d 6c 6d"])
def test_example_1_what_is_no_bid_on_a_heart(cards: str) -> None:
    assert total(cards.split(), "h") == 0
    state = begun({0: cards}, "Jh", players=2)

    with pytest.raises(IllegalAction):
        say(state, cards)


def test_PR_10_example_1_twins_are_no_bid() -> None:
    assert total(["5d", "5d"], "h") == 0
    assert total(["5d", "5d"], "d") == 0


def test_PR_16_example_2_an_open_auction() -> None:
    state = begun(HANDS, "Jh", players=3)

    log = say(state, "2h", "3h", "", "9h", "Th")

    assert [(event["event"], event.get("seat")) for event in log] == [
        *(("bid", 0), ("bid", 1), ("pass", 2), ("bid", 0), ("bid", 1), ("pass", 0)),
        *(("prisoner", None), ("turn", None)),
    ]
    assert [event["total"] for event in named(log, "bid")] == [2, 3, 9, 10]
    settled = row(log, "prisoner")
    assert (settled["to"], settled["how"], settled["points"]) == (1, "bid", 50)
    assert state.refuse == ["2h", "3h", "9h", "Th"]
    assert "Ah" in state.hands[2]
    assert (state.leader, state.pending()) == (1, (1,))


def test_PR_05_example_3_everybody_speaks_once() -> None:
    state = begun(HANDS, "Jh", players=3, bidding="single")

    log = say(state, "2h", "3h", "4h")

    assert row(log, "prisoner") == {
        "event": "prisoner",
        "deal": 1,
        "index": 1,
        "prisoner": "Jh",
        "to": 2,
        "how": "bid",
        "points": 50,
    }
    assert (state.leader, state.scores()) == (2, [0, 0, 50])


def test_PR_07_example_4_nobody_bids() -> None:
    state = begun(HANDS, "Jh", players=3, dealer=1)

    asked = [state.pending()]
    for _ in range(2):
        say(state, "")
        asked.append(state.pending())
    assert {"type": "bid", "cards": ["2h"]} in state.legal(0)
    settled = row(say(state, ""), "prisoner")

    assert asked == [(1,), (2,), (0,)]
    assert (settled["to"], settled["how"], settled["points"]) == (None, "none", 0)
    assert (state.leader, state.pending()) == (1, (1,))


def test_PR_13_example_5_three_aces_are_forced() -> None:
    state = begun({3: "Ac Ad As", 0: "Ah"}, "Jd X1 Jc")

    log = all_pass(state)

    first_settled = [event["event"] for event in log].index("prisoner")
    assert log[first_settled + 1 :] == [
        {"event": "turn", "deal": 1, "index": 2, "prisoner": "X1", "suit": "d"},
        {"event": "aces", "deal": 1, "seat": 3, "cards": ["Ac", "Ad", "As"]},
        {"event": "claim", "deal": 1, "seat": 3, "jokers": 1},
        {"event": "prisoner", "deal": 1, "index": 2, "prisoner": "X1", "to": 3, "how": "claim", "points": 200},
        {"event": "turn", "deal": 1, "index": 3, "prisoner": "Jc", "suit": "c"},
    ]
    assert (state.leader, state.scores(), state.refuse) == (3, [0, 0, 0, 200], ["Ac", "Ad", "As"])


def test_PR_13_example_6_no_ace_of_the_suit_of_the_joker() -> None:
    state = begun({3: "Ac Ad As", 0: "Ah"}, "Jh X1")
    assert not named(all_pass(state), "aces")

    log = say(state, "", "", "", "Ac Ad As")

    assert named(log, "bid")[0]["total"] == 14
    assert row(log, "prisoner")["to"] == 3
    assert not named(log, "claim")


def test_PR_13_example_7_aces_bid_early_and_overtaken() -> None:
    state = begun({3: "Ac Ad As", 0: "7d 8d 9d Td Ah"}, "Jd X1", dealer=3)

    log = say(state, "Ac Ad As", "7d 8d 9d Td")

    assert [(event["event"], event.get("seat")) for event in log[:6]] == [
        *(("bid", 3), ("claim", 3), ("bid", 0), ("pass", 1), ("pass", 2), ("pass", 3))
    ]
    assert [event["total"] for event in named(log, "bid")] == [33, 34]
    assert [(event["to"], event["how"]) for event in named(log, "prisoner")] == [(0, "bid"), (3, "claim")]
    assert (state.scores(), state.leader, state.claims) == ([50, 0, 0, 200], 3, [])


def test_PR_14_example_8_four_aces_win_two_jokers() -> None:
    state = begun({2: "Ac Ad Ah As"}, "Jd X1 Jc X2")

    log = all_pass(state)
    assert row(log, "aces")["cards"] == ["Ac", "Ad", "Ah", "As"]
    assert row(log, "claim") == {"event": "claim", "deal": 1, "seat": 2, "jokers": 2}
    assert state.claims == [2]
    log = all_pass(state)

    assert [event["how"] for event in named(log, "prisoner")] == ["none", "claim"]
    assert state.scores() == [0, 0, 400, 0]


def test_PR_12_example_9_a_joker_first() -> None:
    state = begun({2: "Ac Ah As", 0: "Ad"}, "X1 X2", dealer=2)
    assert (state.pending(), state.observation(2)["phase"], state.suit) == ((2,), "name_suit", None)

    log = state.apply(2, {"type": "name_suit", "suit": "s"})

    assert [event["event"] for event in log] == ["name_suit", "aces", "claim", "prisoner", "turn"]
    assert log[4] == {"event": "turn", "deal": 1, "index": 2, "prisoner": "X2", "suit": "s"}
    assert (state.scores(), state.phase, state.pending()) == ([0, 0, 200, 0], "bid", (2,))


def test_PR_15_example_10_two_decks() -> None:
    hands = {0: "Ac Ad Ah 5c 5d 5d", 1: "Ac Ad Ah As", 2: "As"}
    state = begun(hands, "Jd Jh X1 Jc X3 X2 X4", players=5)
    assert {"type": "bid", "cards": ["5c", "5d"]} in state.legal(0)
    assert row(say(state.clone(), "5d 5c"), "bid")["total"] == 10
    with pytest.raises(IllegalAction):
        say(state, "5d 5d")

    log = say(state, "Ac Ad Ah")
    assert (log[0]["total"], row(log, "claim")["seat"]) == (33, 0)
    log = all_pass(state)
    assert named(log, "prisoner")[-1]["to"] == 0
    log = all_pass(state)
    assert row(log, "aces")["seat"] == 1
    assert [(event["prisoner"], event["to"]) for event in named(log, "prisoner")] == [("Jh", None), ("X1", 0)]
    assert state.claims == [1, 1]
    log = all_pass(state)

    assert [(event["prisoner"], event["to"]) for event in named(log, "prisoner")] == [
        *(("Jc", None), ("X3", 1), ("X2", 1))
    ]
    assert (state.prisoner, state.pending(), state.scores()) == ("X4", (1,), [250, 400, 0, 0, 0])


def test_PR_08_example_11_cards_run_out() -> None:
    state = begun({0: "Ac Ad As 2c", 1: "Ah"}, "Jd Jc")
    say(state, "Ac Ad As")
    all_pass(state)
    # The rest of the deal but one card and the last four prisoners.
    state.hands, state.pile = [["2c"], [], [], []], ["Ks", "Kc", "X1", "X2"]

    log = say(state, "2c")

    assert [(event["prisoner"], event["to"], event["how"]) for event in named(log, "prisoner")] == [
        *(("Jc", 0, "bid"), ("Ks", None, "none"), ("Kc", None, "none"), ("X1", 0, "claim"), ("X2", None, "none"))
    ]
    assert [event["event"] for event in log[-2:]] == ["deal_end", "match_end"]
    assert state.scores() == [300, 0, 0, 0]
