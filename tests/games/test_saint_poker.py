"""Saint Poker: the rulings of its rules page, defaults, and what is seen."""

import re
from pathlib import Path
from random import Random

import pytest

from referee.errors import BadOption, IllegalAction
from referee.games.cards import DECK
from referee.games.saint_poker import SaintPoker
from tests.games.playing import answered_by_default, named
from tests.games.saint_poker_table import dealt, ranked, river, select, selecting, take


@pytest.mark.parametrize("rounds", [0, 9, True, "8", 8.0, None])
def test_SP_01_rounds_outside_one_to_eight_are_refused(rounds: object) -> None:
    with pytest.raises(BadOption) as refused:
        SaintPoker.start(2, {"rounds": rounds})

    assert refused.value.field == "rounds"


@pytest.mark.parametrize(("seats", "up", "stock"), [(2, 3, 29), (3, 2, 20), (4, 1, 11), (5, 0, 2)])
def test_SP_01_the_cards_come_out_exactly(seats: int, up: int, stock: int) -> None:
    state = SaintPoker.start(seats)

    _, deal, setup = state.resolve(list(DECK))

    assert sum(map(len, deal["hands"])) == 10 * seats
    assert len(deal["future_river"]) == up
    assert 52 - 10 * seats - up == stock
    assert setup["stock_size"] == stock - up


def test_SP_01_a_hand_shrinks_by_one_a_round() -> None:
    state = SaintPoker.start(3)
    rng = Random(1)
    sizes = []
    while not state.over:
        asked = state.chance()
        if asked is not None:
            state.resolve(asked["cards"] if asked["kind"] == "deck" else asked["among"])
            continue
        if state.phase == "river" and len(state.pending()) == 3:
            sizes.append(len(state.hands[0]))
        seat = rng.choice(state.pending())
        state.apply(seat, rng.choice(state.legal(seat)))

    assert sizes == [10, 9, 8, 7, 6, 5, 4, 3]


def test_SP_02_the_last_round_has_its_pickup_unless_left_out() -> None:
    with_pickup, without = (SaintPoker.start(2, {"rounds": 1, "final_pickup": last}) for last in (True, False))

    _, log = answered_by_default(with_pickup, Random(2))
    _, short_log = answered_by_default(without, Random(2))

    assert [len(named(log, event)) for event in ("pickup_order", "take", "discard")] == [1, 4, 1]
    assert not {"draw", "pickup_order", "take", "discard"} & {row["event"] for row in short_log}
    assert with_pickup.observation(0)["river"] == []
    assert with_pickup.observation(0)["revealed"] == [[], []]
    assert with_pickup.observation(0)["pickup_order"] == log[-7]["order"]
    assert len(without.observation(0)["river"]) == 5
    assert [len(cards) for cards in without.observation(0)["revealed"]] == [2, 2]
    assert without.observation(0)["pickup_order"] == []
    assert None not in without.observation(0)["ranks"]


def test_SP_03_cards_are_dealt_one_at_a_time_from_seat_0() -> None:
    state = SaintPoker.start(3)

    _, deal, _ = state.resolve(list(DECK))

    assert deal["hands"] == [list(DECK[seat:30:3]) for seat in range(3)]
    assert deal["future_river"] == list(DECK[30:32])


def test_SP_04_the_new_future_river_lies_open_before_the_choice_in_the_last_round_too() -> None:
    state = SaintPoker.start(2, {"rounds": 1})

    _, deal, setup = state.resolve(list(DECK))

    assert setup["river"] == deal["future_river"] == list(DECK[20:23])
    assert setup["future_river"] == state.observation(0)["future_river"] == list(DECK[23:26])
    assert state.phase == "river"


def test_SP_05_a_seat_may_play_two_one_or_none_of_its_own() -> None:
    state = selecting("Ah Kh Qh Jh Th", ["2c 3c", "9h 8h", "Ac As", "4d 5d", "6s 7s"])

    _, score = select(state, "2c 3c", "9h 8h", "Ac As", "4d 5d", "6s 7s")

    assert score["ranks"] == [[8, 14]] * 5


def test_SP_06_the_royal_flush_is_the_highest_straight_flush() -> None:
    assert ranked("Ts Js Qs Ks As 2c 3c") == [8, 14]
    assert ranked("Ac 2d 3h 4s 5c Kd Qd") == [4, 5]


def test_SP_07_flushes_compare_all_five_cards_and_suits_never() -> None:
    assert ranked("Ah Qh 9h 6h 4h 2c 2d") > ranked("As Qs 9s 6s 3s 2c 2d")
    assert ranked("Ah Qh 9h 6h 4h 2c 2d") == ranked("Ac Qc 9c 6c 4c 2h 2s")


@pytest.mark.parametrize(("number", "winners", "each"), [(7, 1, 7), (7, 2, 4), (8, 3, 3), (1, 4, 1), (8, 4, 2)])
def test_SP_08_points_are_split_and_rounded_up(number: int, winners: int, each: int) -> None:
    # Four nines lie on the table: the aces win by their kicker, the others tie behind them.
    hands = ["Ac 3c", "Ad 3d", "Ah 3h", "As 3s"][:winners] + ["4c 5c", "4d 5d", "4h 5h", "4s 5s"][winners - 1 :]
    state = selecting("9c 9d 9h 9s 2c", hands, round=number)

    score = select(state, *hands)[1]

    assert score["points"] == each
    assert score["scores"] == [each] * winners + [0] * (5 - winners)


def test_SP_09_any_card_face_up_may_be_taken_and_no_other() -> None:
    state = selecting("Jh Js 4s 8c 6d", ["2c Ac 9c", "Qd Kd 9d"])
    state.future_river, state.discards = ["3h", "3s", "5h"], ["7h"]
    select(state, "2c Ac", "Qd Kd")

    cards = [action["card"] for action in state.legal(1)]

    assert cards == ["2c", "4s", "6d", "8c", "Jh", "Js", "Qd", "Kd", "Ac"]
    for other in ("3h", "7h", "9d", "9c", "As"):
        with pytest.raises(IllegalAction):
            state.apply(1, {"type": "take", "card": other})


def test_SP_10_groups_are_drawn_from_the_worst_to_the_best_and_once_for_both_laps() -> None:
    state = selecting("2s 7h 9c Jd Kd", ["Ac Qc 5c", "Ad Qd 5d", "3c 4c 5h", "3d 4d 5s"])

    events = select(state, "Ac Qc", "Ad Qd", "3c 4c", "3d 4d")
    first = state.chance()
    assert state.observation(0)["phase"] == "pickup"
    assert state.observation(0)["pickup_order"] == []
    (draw,) = state.resolve([3, 2])
    second = state.chance()
    assert state.observation(0)["pickup_order"] == []
    other_draw, order = state.resolve([0, 1])

    assert named(events, "score")[0]["groups"] == [[0, 1], [2, 3]]
    assert [asked and asked["among"] for asked in (first, second)] == [[2, 3], [0, 1]]
    assert (draw["result"], other_draw["result"], order["order"]) == ([3, 2], [0, 1], [3, 2, 0, 1])
    assert state.queue == [3, 2, 0, 1, 3, 2, 0, 1]
    assert state.observation(0)["pickup_order"] == [3, 2, 0, 1]


def test_SP_10_the_lap_is_told_in_the_pickup_and_0_elsewhere() -> None:
    state = selecting("5h 4s Jh 2d 3d", ["Kc Ac 9c", "6c Kd 9d"])
    laps = [state.observation(0)["lap"]]
    select(state, "Kc Ac", "6c Kd")
    for card in ("2d", "3d", "4s", "5h"):
        laps.append(state.observation(0)["lap"])
        take(state, card)
    laps.append(state.observation(0)["lap"])

    assert laps == [0, 1, 1, 2, 2, 0]


def test_SP_10_there_is_no_lap_any_more_when_the_match_is_over() -> None:
    state = selecting("5h 4s Jh 2d 3d", ["Kc Ac 9c", "6c Kd 9d"], rounds=1)
    select(state, "Kc Ac", "6c Kd")
    take(state, "2d", "3d", "4s", "5h")

    assert (state.over, state.observation(0)["lap"]) == (True, 0)


def test_SP_11_equal_points_share_a_place() -> None:
    state = SaintPoker.start(4)
    state.points = [5, 9, 5, 1]

    assert state.placements() == [2, 1, 2, 4]
    assert state.scores() == state.returns() == [5, 9, 5, 1]


def test_SP_12_choices_are_secret_until_all_have_answered() -> None:
    state = dealt(["9c", "7h", "6h"])
    before = [state.observation(seat) for seat in range(3)]

    assert state.apply(1, {"type": "river", "card": "7h"}) == []

    assert [state.observation(seat) for seat in range(3)] == before
    assert before[0]["to_act"] == [0, 1, 2]
    assert "7h" in state.observation(1)["hand"]
    with pytest.raises(IllegalAction):
        state.apply(1, {"type": "river", "card": "7h"})


def test_SP_13_scores_discards_taken_cards_and_the_stock_are_public() -> None:
    state = selecting("Jh Js 4s 8c 6d", ["2c Ac 9c", "Qd Kd 9d"])
    state.stock = ["3h", "3s", "5h", "5s"]
    select(state, "2c Ac", "Qd Kd")
    take(state, "Ac", "Kd", "Jh", "Js")

    seen = [state.observation(seat) for seat in range(2)]

    for public in ("scores", "discards", "known", "stock_size", "hand_sizes", "future_river", "river"):
        assert seen[0][public] == seen[1][public]
    assert seen[0]["discards"] == ["2c", "4s", "6d", "8c", "Qd"]
    assert seen[0]["known"] == [["Js", "Kd"], ["Jh", "Ac"]]


def test_SP_13_a_taken_card_is_known_until_it_is_played() -> None:
    state = selecting("Jh Js 4s 8c 6d", ["2c Ac 9c", "Qd Kd 9d"])
    state.known = [["9c"], []]

    select(state, "Ac 9c", "Qd Kd")

    assert state.known == [[], []]


def test_SP_14_the_river_is_complete_before_the_selection() -> None:
    state = dealt(["9c", "7h"], future="2s 3s 4s")

    river(state, "9c", "7h")

    assert state.phase == "select"
    assert state.observation(1)["river"] == [
        *[{"card": card, "from": None} for card in ("2s", "3s", "4s")],
        {"card": "9c", "from": 0},
        {"card": "7h", "from": 1},
    ]


def test_SP_15_every_seat_is_ranked() -> None:
    state = selecting("7h 9c 2s Jd Kd", ["Ac Qc 5c", "Ad Kc 5d", "3c 4c 5h"])

    _, score, order = select(state, "Ac Qc", "Ad Kc", "3c 4c")

    assert score["groups"] == [[1], [0], [2]]
    assert order["order"] == [2, 0, 1]
    assert state.observation(2)["ranks"] == score["ranks"]


# -- legal lists and defaults --


def test_lists_stand_in_canonical_order_and_begin_with_the_default() -> None:
    state = selecting("Jh Js 4s 8c 6d", ["Ac 2c 9c", "Qd Kd 9d"])

    assert [action["cards"] for action in state.legal(0)] == [["2c", "9c"], ["2c", "Ac"], ["9c", "Ac"]]
    assert state.default(0) == {"type": "select", "cards": ["2c", "9c"]}


def test_a_pair_the_other_way_round_is_the_same_action() -> None:
    state = selecting("Jh Js 4s 8c 6d", ["Ac 2c 9c", "Qd Kd 9d"])

    revealed = select(state, "Ac 2c", "Kd Qd")[0]

    assert revealed["cards"] == [["2c", "Ac"], ["Qd", "Kd"]]


def test_only_two_cards_left_is_forced_in_everybodys_eyes() -> None:
    state = selecting("Jh Js 4s 8c 6d", ["Ac 2c", "Qd Kd"], round=8)
    assert state.forced_action(0) == {"type": "select", "cards": ["2c", "Ac"]}

    state = selecting("Jh Js 4s 8c 6d", ["Ac 2c 9c", "Qd Kd 9d"])
    assert state.forced_action(0) is None


def test_what_belongs_to_a_round_is_cleared_for_the_next() -> None:
    state = selecting("5h 4s Jh 2d 3d", ["Kc Ac 9c", "6c Kd 9d"])
    select(state, "Kc Ac", "6c Kd")

    take(state, "2d", "3d", "4s", "5h")

    seen = state.observation(0)
    assert (seen["round"], seen["ranks"], seen["revealed"], seen["pickup_order"]) == (2, [None] * 2, [[], []], [])


# -- what is seen --


def test_a_view_has_the_fields_of_the_page() -> None:
    state = selecting("5h 4s Jh 2d 3d", ["Kc Ac 9c", "6c Kd 9d"], round=2)
    state.stock, state.future_river, state.discards = ["3h", "3s"], ["2h", "2s", "4c"], ["7h"]
    select(state, "Kc Ac", "6c Kd")
    take(state, "Ac", "5h")

    assert state.observation(1) == {
        "game": "saint-poker",
        "seat": 1,
        "players": 2,
        "options": {"rounds": 8, "final_pickup": True},
        "phase": "pickup",
        "round": 2,
        "scores": [0, 2],
        "to_act": [0],
        "hand": ["5h", "9d"],
        "hand_sizes": [2, 2],
        "known": [["Ac"], ["5h"]],
        "river": [
            *[{"card": card, "from": None} for card in ("4s", "Jh")],
            *[{"card": "2d", "from": 0}, {"card": "3d", "from": 1}],
        ],
        "future_river": ["2h", "2s", "4c"],
        "stock_size": 2,
        "revealed": [["Kc"], ["6c", "Kd"]],
        "ranks": [[4, 5], [4, 6]],
        "pickup_order": [0, 1],
        "lap": 2,
        "discards": ["7h"],
    }


def test_only_the_deal_is_masked() -> None:
    deal = SaintPoker.start(3).resolve(list(DECK))[1]

    for viewer in (None, 0, 1, 2):
        (masked,) = SaintPoker.visible_events([deal], viewer, {})
        assert masked["deck"] == ["??"] * 52
        assert masked["future_river"] == deal["future_river"]
        for seat in range(3):
            assert masked["hands"][seat] == (deal["hands"][seat] if seat == viewer else ["??"] * 10)


def test_every_ruling_has_a_test() -> None:
    names = " ".join(path.read_text() for path in Path(__file__).parent.glob("test_saint_poker*.py"))
    tested = set(re.findall(r"SP_\d\d", names))

    assert tested == {f"SP_{number:02}" for number in range(1, 16)}
