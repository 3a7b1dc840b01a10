"""Prisoners: its legal lists, what is accepted, what is seen and logged, and the bounds of its rules page."""

from itertools import combinations
from random import Random

import pytest

from referee.errors import IllegalAction
from referee.games.cards import ORDER
from referee.games.prisoners import Prisoners, bid_cards
from referee.games.prisoners_bids import total
from referee.match.canonical import Json, dumps
from tests.games.playing import answered_by_default, named, one_step, positions
from tests.games.prisoners_table import HANDS, PASS, TEN_HEARTS, all_pass, begun, dealt, deck_for, row, say
from tests.match.playing import at_random, header, played

# -- lists and defaults --


@pytest.mark.parametrize("seed", range(8))
def test_a_list_holds_every_bid_there_is_in_the_order_of_the_page(seed: int) -> None:
    dice = Random(seed)
    state = begun({}, "Jh", players=8)
    state.hands[0] = sorted(dice.sample(bid_cards(2), 10), key=ORDER.__getitem__)
    state.suit, least = dice.choice("cdhs"), dice.choice([0, 4, 9])
    state.high = {"seat": 7, "cards": [], "total": least} if least else None

    found = {chosen for size in range(1, 11) for chosen in combinations(state.hands[0], size)}
    bids = [cards for cards in found if total(cards, state.suit) > least]
    bids.sort(key=lambda cards: (total(cards, state.suit or ""), len(cards), [ORDER[card] for card in cards]))

    assert state.legal(0) == [PASS, *({"type": "bid", "cards": [*cards]} for cards in bids)]


def test_the_longest_list_has_the_length_and_size_of_the_page() -> None:
    state = begun({0: TEN_HEARTS + " 2c 2d 2s 3c 3d 3s 4c 4d 4s 5c"}, "Jh", players=2)

    legal = state.legal(0)

    assert len(legal) == 1058
    assert len(dumps(legal)) == 52_472


def test_the_default_is_a_pass_or_clubs() -> None:
    assert begun({}, "Jh").default(0) == PASS
    state = begun({}, "X1")
    assert state.default(0) == {"type": "name_suit", "suit": "c"}
    assert [action["suit"] for action in state.legal(0)] == ["c", "d", "h", "s"]


def test_cards_of_a_bid_may_stand_in_any_order() -> None:
    state = begun(HANDS, "Jh", players=3)

    assert say(state, "2s 2h 2c 2d")[0]["cards"] == ["2c", "2d", "2h", "2s"]


@pytest.mark.parametrize(
    "action",
    [
        {"type": "bid", "cards": []},
        {"type": "bid", "cards": ["9h", "9h"]},
        {"type": "bid", "cards": ["Ah"]},  # of another hand
        {"type": "bid", "cards": ["X1"]},
        {"type": "bid", "cards": ["9h", 2]},
        {"type": "bid", "cards": "9h"},
        {"type": "bid", "cards": ("9h",)},
        {"type": "bid", "cards": ["9h"], "total": 9},
        {"type": "pass", "cards": ["9h"]},
        {"type": "pass", "cards": []},
        {"type": "name_suit", "suit": "h"},
    ],
)
def test_anything_else_is_refused(action: Json) -> None:
    state = begun(HANDS, "Jh", players=3)

    with pytest.raises(IllegalAction):
        state.apply(0, action)


def test_a_suit_is_named_by_its_letter_alone() -> None:
    state = begun({}, "X1")

    for wrong in ({"suit": "x"}, {"suit": ["c"]}, {"suit": "c", "type": "bid"}, {"suit": "c", "why": 1}):
        with pytest.raises(IllegalAction):
            state.apply(0, {"type": "name_suit", **wrong})
    with pytest.raises(IllegalAction):
        state.apply(0, PASS)


# -- what is seen --


def test_a_view_has_the_fields_of_the_page() -> None:
    state = begun(HANDS, "Jc Jh", players=3)
    all_pass(state)
    say(state, "2h", "")

    assert state.observation(2) == {
        "game": "prisoners",
        "players": 3,
        "options": {"decks": 1, "direction": "clockwise", "bidding": "open", "deals": 1},
        "seat": 2,
        "deal": 1,
        "dealer": 0,
        "leader": 0,
        "phase": "bid",
        "to_act": [2],
        "hand": HANDS[2].split(),
        "hand_sizes": [12, 13, 13],
        "prisoner": "Jh",
        "suit": "h",
        "high": {"seat": 0, "cards": ["2h"], "total": 2},
        "bids": [{"seat": 0, "cards": ["2h"], "total": 2}, {"seat": 1, "cards": [], "total": 0}],
        "turned": [{"prisoner": "Jc", "suit": "c", "to": None}],
        "prisoners_left": 12,
        "refuse": ["2h"],
        "left_over": 1,
        "joker_seen": False,
        "claims": [],
        "scores": [0, 0, 0],
    }


def test_while_a_suit_is_named_the_joker_is_seen_without_one() -> None:
    seen = begun({}, "X2").observation(1)

    assert (seen["phase"], seen["prisoner"], seen["suit"], seen["joker_seen"]) == ("name_suit", "X2", None, True)
    assert (seen["to_act"], seen["high"], seen["bids"]) == ([0], None, [])


def test_a_finished_match_keeps_its_last_view_without_a_prisoner() -> None:
    state = begun({0: "Ah"}, "Jh", players=2)
    state.pile = []

    say(state, "Ah", "")

    seen = state.observation(1)
    assert (seen["phase"], seen["to_act"], seen["prisoner"], seen["suit"]) == ("over", [], None, None)
    assert (seen["high"], seen["leader"]) == ({"seat": 0, "cards": ["Ah"], "total": 11}, 0)
    assert [said["seat"] for said in seen["bids"]] == [0, 1]


def test_only_the_deal_is_masked() -> None:
    state, log = dealt(HANDS, "Jh", players=3)
    deal = row(log, "deal")
    assert deal["left_over"] == ["As"]

    for viewer in (None, 0, 1, 2):
        (masked,) = Prisoners.visible_events([deal], viewer, {})
        assert (masked["pile"], masked["deck"], masked["left_over"]) == (["??"] * 14, ["??"] * 40, ["??"])
        for seat in range(3):
            assert masked["hands"][seat] == (HANDS[seat].split() if seat == viewer else ["??"] * 13)
    for event in [*log, *say(state, "2h", "3h", "")]:
        assert event is deal or Prisoners.mask_event(event, None) == event


# -- bounds --


@pytest.mark.parametrize(
    ("players", "options", "bound"),
    [
        *((2, {}, 69), (4, {}, 97), (10, {}, 361), (10, {"deals": 20}, 7220)),
        *((2, {"bidding": "single"}, 29), (4, {"decks": 2}, 193), (3, {"bidding": "single", "deals": 3}, 129)),
    ],
)
def test_the_bound_of_decisions(players: int, options: Json, bound: int) -> None:
    assert Prisoners.decision_bound(players, Prisoners.start(players, options).options) == bound


@pytest.mark.parametrize("players", range(2, 11))
def test_points_and_rows_keep_the_bounds_of_the_page(players: int) -> None:
    dice, log = Random(players), list[Json]()
    state = Prisoners.start(players)
    decks = int(state.options["decks"])
    dealt_cards = 40 * decks // players * players

    while not state.over:
        log += one_step(state, dice)

    lost = sum({"J": 50, "Q": 100, "K": 150, "X": 200}[lost[0]] for lost in refused(log))
    assert sum(state.scores()) == 1600 * decks - lost
    assert len(log) - 3 <= 3 + 28 * decks + 14 * decks * players + dealt_cards + 4 * decks  # three of the match


def refused(log: list[Json]) -> list[str]:
    return [event["prisoner"] for event in named(log, "prisoner") if event["to"] is None]


def test_a_match_of_defaults_gives_every_prisoner_to_nobody() -> None:
    _, log = answered_by_default(Prisoners.start(3), Random(2))

    assert {event["how"] for event in named(log, "prisoner")} <= {"none", "claim"}
    assert not named(log, "bid")


def test_the_second_deal_starts_from_nothing_but_the_scores() -> None:
    state = begun({0: "Ac Ad As", 1: "Ah"}, "Jd", deals=2)
    say(state, "Ac Ad As")
    all_pass(state)
    state.pile = []
    log = all_pass(state)
    assert [event["event"] for event in log[-1:]] == ["deal_end"]
    state.resolve((state.chance() or {})["cards"])
    state.resolve(deck_for({}, state))

    seen = state.observation(0)

    assert (seen["deal"], seen["dealer"], seen["leader"], seen["scores"]) == (2, 1, 1, [50, 0, 0, 0])
    assert (seen["claims"], seen["joker_seen"], seen["refuse"], seen["turned"]) == ([], False, [], [])


# -- the log --


def test_a_pass_of_the_referee_is_no_decision_and_looks_like_any_other() -> None:
    match = played(header("prisoners", 10), at_random(Random(5)))

    rows = [row for row in match.log.rows if row["type"] == "decision"]
    events = [event for row in rows for event in row["events"]]

    passes = named(events, "pass")
    assert len(passes) > sum(row["action"] == PASS for row in rows)
    assert {tuple(event) for event in passes} == {("event", "deal", "seat")}
    assert {row["source"] for row in rows} == {"bot"}


@pytest.mark.parametrize("players", [2, 5, 10])
def test_every_question_has_two_answers_at_least_and_none_is_forced(players: int) -> None:
    for state in positions(Prisoners.start(players), Random(players)):
        for seat in state.pending():
            assert len(state.legal(seat)) >= 2
            assert state.forced_action(seat) is None
