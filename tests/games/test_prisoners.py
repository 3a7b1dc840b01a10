"""Prisoners: the worked examples and conformity matches of its rules page."""

import pytest

from referee.errors import IllegalAction
from referee.games.prisoners import Prisoners
from referee.games.prisoners_bids import total
from referee.match.canonical import Json
from tests.games.conformity import conformity_match, digest
from tests.games.playing import named
from tests.games.prisoners_table import HANDS, TEN_HEARTS, all_pass, begun, row, say

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
        *(("bid", 3), ("claim", 3), ("bid", 0), ("pass", 1), ("pass", 2), ("pass", 3)),
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


# -- the conformity matches --


@pytest.mark.parametrize(
    ("players", "options", "seed", "scores", "decisions", "rows", "told", "expected"),
    [
        (2, {}, 11, "600 600", 19, 68, [16, 16, 1, 1, 1], "fb79b24e0b480e92"),
        (3, {"bidding": "single"}, 11, "250 400 550", 27, 75, [19, 20, 1, 1, 1], "bf4efc4fc398389f"),
        (4, {"direction": "anticlockwise"}, 68, "300 400 350 350", 30, 96, [20, 40, 1, 1, 1], "ac5b6d4959b96221"),
        (4, {"decks": 2}, 12, "750 900 750 600", 73, 191, [44, 83, 1, 1, 1], "19724b00ae2cf4a1"),
        (5, {"deals": 2}, 13, "950 1100 1050 750 1100", 126, 435, [86, 226, 2, 1, 1], "a637d862b0d1073d"),
        (7, {}, 13, "350 350 400 200 350 350 400", 60, 268, [42, 162, 2, 1, 0], "7c59192f78364497"),
        (
            *(10, {"bidding": "single"}, 12, "200 400 150 250 450 400 300 150 100 300"),
            *(85, 334, [52, 218, 1, 1, 1], "4ca8ac8fc7d21b03"),
        ),
    ],
)
def test_conformity(
    players: int,
    options: Json,
    seed: int,
    scores: str,
    decisions: int,
    rows: int,
    told: list[int],
    expected: str,
) -> None:
    state, taken, log = conformity_match(Prisoners, players, options, seed)

    assert (" ".join(map(str, state.scores())), taken, len(log)) == (scores, decisions, rows)
    assert [len(named(log, event)) for event in ("bid", "pass", "claim", "aces", "name_suit")] == told
    assert digest(log) == expected


def test_the_first_conformity_match_begins_as_the_page_tells() -> None:
    _, _, log = conformity_match(Prisoners, 2, {}, 11)

    deal = row(log, "deal")
    assert deal["dealer"] == 1
    assert " ".join(deal["pile"][:5]) == "X1 Ks Jc Qd Js"
    assert " ".join(deal["deck"][:5]) == "4c 5c 4d 8h Ac"
    assert (row(log, "name_suit")["seat"], row(log, "name_suit")["suit"]) == (1, "s")
    assert row(log, "aces")["cards"] == ["Ad", "Ah", "As"]
