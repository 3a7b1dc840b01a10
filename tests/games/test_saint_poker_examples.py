"""Saint Poker: the worked examples of its rules page."""

from random import Random

import pytest

from referee.games.saint_poker import SaintPoker
from tests.games.playing import answered_by_default, named
from tests.games.saint_poker_table import dealt, river, select, selecting, take


def test_SP_05_SP_15_example_1_the_example_round_of_the_sheet() -> None:
    state = dealt(["9c 8s Tc", "7h 8h 9h", "6h 2h Kh", "Js 4c 8d"], future="5h")

    (laid,) = river(state, "9c", "7h", "6h", "Js")
    revealed, score, order = select(state, "8s Tc", "8h 9h", "2h Kh", "4c 8d")
    taken = take(state, "8s", "8h", "9h", "5h", "Tc", "7h", "Kh", "8d")

    assert laid["river"] == ["5h", "9c", "7h", "6h", "Js"]
    assert revealed["cards"] == [["8s", "Tc"], ["8h", "9h"], ["2h", "Kh"], ["4c", "8d"]]
    assert score["ranks"] == [[4, 11], [8, 9], [5, 13, 7, 6, 5, 2], [4, 9]]
    assert score["names"] == ["straight", "straight flush", "flush", "straight"]
    assert score["groups"] == [[1], [2], [0], [3]]
    assert (score["points"], score["scores"]) == (1, [0, 1, 0, 0])
    assert order["order"] == [3, 0, 2, 1]
    assert [(row["seat"], row["lap"], row["source"]) for row in named(taken, "take")] == [
        *[(3, 1, 0), (0, 1, 1), (2, 1, 1), (1, 1, "river")],
        *[(3, 2, 0), (0, 2, "river"), (2, 2, 2), (1, 2, 3)],
    ]
    assert named(taken, "discard")[0]["cards"] == ["2h", "4c", "6h", "9c", "Js"]
    assert [len(own) for own in state.hands] == [9, 9, 9, 9]


def test_SP_08_SP_10_example_2_a_tie_for_the_win() -> None:
    state = selecting("Ad 7h 9c 4d Qd", ["2c Ah 3c", "2d As 3d", "9s Jc 3h"], round=7)

    _, score = select(state, "2c Ah", "2d As", "9s Jc")
    asked = state.chance()
    draw, order = state.resolve([1, 0])

    assert score["ranks"] == [[1, 14, 12, 9, 7], [1, 14, 12, 9, 7], [1, 9, 14, 12, 11]]
    assert (score["points"], score["scores"]) == (4, [4, 4, 0])
    assert asked == {"kind": "draw", "what": "pickup_order", "among": [0, 1], "ordered": True}
    assert (draw["what"], draw["round"], draw["among"], draw["result"]) == ("pickup_order", 7, [0, 1], [1, 0])
    assert order["order"] == [2, 1, 0]


def test_SP_05_SP_08_example_3_all_tie_on_the_river() -> None:
    hands = ["2c 3c", "2d 3d", "2h 3h", "2s 3s", "4c 4d"]
    state = selecting("Ah Kh Qh Jh Th", hands, round=8)

    _, score = select(state, *hands)
    among = (state.chance() or {})["among"]
    _, order = state.resolve([3, 0, 4, 2, 1])

    assert score["ranks"] == [[8, 14]] * 5
    assert (score["points"], score["scores"]) == (2, [2, 2, 2, 2, 2])
    assert among == [0, 1, 2, 3, 4]
    assert order["order"] == [3, 0, 4, 2, 1]


def test_SP_10_example_4_tied_losers_draw_as_well() -> None:
    state = selecting("Kd 7h 2s 3c 4d", ["Kc Ac 9c", "8d Qd 9d", "8s Qs 9s"])

    _, score = select(state, "Kc Ac", "8d Qd", "8s Qs")
    among = (state.chance() or {})["among"]
    state.resolve([2, 1])

    assert score["ranks"] == [[1, 13, 14, 7, 4], [0, 13, 12, 8, 7, 4], [0, 13, 12, 8, 7, 4]]
    assert score["scores"] == [1, 0, 0]
    assert among == [1, 2]
    assert state.queue == [2, 1, 0, 2, 1, 0]


def test_SP_06_example_5_the_ace_is_also_low() -> None:
    state = selecting("5h 4s Jh 2d 3d", ["Kc Ac 9c", "6c Kd 9d"])

    _, score, order = select(state, "Kc Ac", "6c Kd")

    assert score["ranks"] == [[4, 5], [4, 6]]
    assert score["scores"] == [0, 1]
    assert order["order"] == [0, 1]


def test_SP_07_SP_09_example_6_kickers_and_taking_from_others() -> None:
    state = selecting("Jh Js 4s 8c 6d", ["2c Ac 9c", "Qd Kd 9d"])

    _, score, order = select(state, "2c Ac", "Qd Kd")
    taken = take(state, "Ac", "Kd", "Jh", "Js")

    assert score["ranks"] == [[1, 11, 14, 8, 6], [1, 11, 13, 12, 8]]
    assert score["scores"] == [1, 0]
    assert order["order"] == [1, 0]
    assert [row["source"] for row in named(taken, "take")] == [0, 1, "river", "river"]
    assert state.known == [["Js", "Kd"], ["Jh", "Ac"]]
    assert named(taken, "discard")[0]["cards"] == ["2c", "4s", "6d", "8c", "Qd"]


@pytest.mark.parametrize(("seats", "decisions", "stock"), [(2, 64, 5), (3, 96, 4), (4, 128, 3), (5, 160, 2)])
def test_SP_01_SP_02_example_8_lengths_of_full_matches(seats: int, decisions: int, stock: int) -> None:
    state = SaintPoker.start(seats)

    taken, _ = answered_by_default(state, Random(seats))

    assert taken == decisions == SaintPoker.decision_bound(seats, state.options)
    assert [len(own) for own in state.hands] == [2] * seats
    assert len(state.stock) == stock
    assert len(state.discards) == 40


def test_SP_02_example_8_a_short_match_without_its_last_pickup() -> None:
    state = SaintPoker.start(2, {"rounds": 2, "final_pickup": False})

    decisions, _ = answered_by_default(state, Random(8))

    assert decisions == 12 == SaintPoker.decision_bound(2, state.options)
    assert [len(own) for own in state.hands] == [6, 6]
