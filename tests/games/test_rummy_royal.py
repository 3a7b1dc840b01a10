"""Rummy Royal: the worked examples and bounds of its rules page.

The rulings on a deal, and those on the extra hand with what may be seen, have files of their own.
"""

import pytest

from referee.games.cards import DECK
from referee.games.rummy_royal import RummyRoyal
from referee.match.canonical import Json
from tests.games.playing import named
from tests.games.rummy_royal import NOBODY_OUT, OUT_ON_ANOTHERS_LEAD, begun, board, choose, lead, leads, told

# -- the worked examples --


def test_RR_13_RR_14_example_1_the_example_of_the_sheet() -> None:
    state = begun({1: "2c 3c 6s 7s 8s Ah", 2: "3h 3s 5d 7h Jh Ac"}, "2d 2h 2s 4c 9s")

    choose(state, "keep")
    assert (state.pending(), leads(state)) == ((1,), "2c Ah 6s")
    assert told(lead(state, "Ah")) == ["1 Ah", "1 Ah 9", "stop black"]
    assert (state.pending(), leads(state)) == ((1,), "2c 6s")
    log = told(lead(state, "6s"))

    assert log == ["1 6s", "1 7s", "1 8s", "1 seq 9", "stop red", "1 no red"]
    assert (state.pending(), leads(state)) == ((2,), "5d 3h")
    assert state.stacks[1] == 209


def test_RR_12_example_2_stops() -> None:
    state = begun({1: "2d 2h 2s 4c 5c Kd", 3: "2c 3d 3h 3s 6c", 5: "3c 4d 4h 4s 7c"}, "5d 5h 5s 6s 8c")

    choose(state, "keep")
    assert told(lead(state, "4c")) == ["1 4c", "1 5c", "3 6c", "5 7c", "stop red"]
    assert (state.pending(), leads(state)) == ((5,), "4d 4h")
    assert told(lead(state, "4d")) == ["5 4d", "stop black"]
    assert (state.pending(), leads(state)) == ((5,), "3c 4s")
    log = lead(state, "3c")

    assert told(log)[:6] == ["5 3c", "stop red", "5 4h", "stop black", "5 4s", "5 kitty 9"]
    assert [row["lead"] for row in named(log, "play")] == [True, True, True]
    assert named(log, "deal_end")[0]["winner"] == 5


def test_RR_15_example_3_hearts_and_out() -> None:
    state = begun({1: "2c Th Jh Qh Kh Ah"}, "3c", deals=1)

    choose(state, "keep")
    log = lead(state, "Th")

    assert told(log) == [
        *["1 Th", "1 Th 9", "1 Jh", "1 Jh 9", "1 Qh", "1 Qh 9", "1 Kh", "1 Kh 9", "1 QK 9", "1 Ah", "1 Ah 9"],
        *["stop black", "1 2c", "1 kitty 9", "1 out"],
    ]
    (end,) = named(log, "deal_end")
    assert end["cards_left"] == [5, 0, 6, 5, 5, 5, 5, 5, 5]
    assert (end["stacks"][1], end["board"]) == (295, board(0, seq=9, pot=9))
    assert [state.board[card] for card in ("Th", "Jh", "Qh", "Kh", "Ah")] == [4, 4, 4, 3, 3]


def test_RR_14_example_4_queen_and_king_apart() -> None:
    state = begun({1: "2c 3c 4c 5c 6c Qh", 4: "7c 9c Kh 7s 9s"}, "Ah")

    choose(state, "keep")
    log = lead(state, "Qh")

    assert told(log)[:5] == ["1 Qh", "1 Qh 9", "4 Kh", "4 Kh 9", "stop black"]
    assert state.board["QK"] == 9


def test_example_5_out_on_anothers_lead_with_the_pot() -> None:
    state = begun(OUT_ON_ANOTHERS_LEAD)

    choose(state, "keep")
    log = lead(state, "9c")

    assert told(log) == ["1 9c", "0 Tc", "0 Jc", "0 Qc", "0 Kc", "0 Ac", "0 kitty 9", "0 pot 9", "0 out"]
    (end,) = named(log, "deal_end")
    assert (sum(end["cards_left"]), end["stacks"][0]) == (41, 250)


def test_RR_14_example_6_the_other_board() -> None:
    state = begun({1: "6h 7h 8h 9h Th 2c"}, "Jh", sequence="89T")

    choose(state, "keep")
    log = told(lead(state, "6h"))

    assert log[:7] == ["1 6h", "1 7h", "1 8h", "1 9h", "1 Th", "1 Th 9", "1 seq 9"]


def test_RR_14_example_6_a_sequence_apart_wins_nothing() -> None:
    state = begun({1: "2c 3c 4c 5c 6s 8s", 5: "7s"}, "9s")

    choose(state, "keep")
    log = told(lead(state, "6s"))

    assert log[:4] == ["1 6s", "5 7s", "1 8s", "stop red"]
    assert state.board["seq"] == 9


def test_RR_05_example_7_nobody_out() -> None:
    state = begun(NOBODY_OUT, seats=2)
    choose(state, "keep")

    assert told(lead(state, "2s")) == [
        *[f"1 {rank}s" for rank in "2345678"],
        *["1 seq 2", "1 9s", "1 Ts", "stop red", "1 no red"],
        *[f"0 {rank}d" for rank in "56789TJQKA"],
        "stop black",
    ]
    assert (state.pending(), leads(state)) == ((0,), "Jc Qs")
    log = lead(state, "Qs")

    assert told(log) == ["0 Qs", "0 Ks", "0 As", "stop red", "0 no red", "1 no red", "nobody out"]
    (end,) = named(log, "deal_end")
    assert (end["cards_left"], end["stacks"]) == ([4, 9], [187, 184])
    assert (end["winner"], end["board"]) == (None, board(2, seq=0, kitty=15))


def test_RR_15_example_8_the_final_deal_after_example_7() -> None:
    state = begun(NOBODY_OUT, seats=2, deals=1)
    choose(state, "keep")
    lead(state, "2s Qs")

    (draw,) = state.resolve(1)
    first = ["2c", "Ah", "Th", "3c", "Kh", "Jh", "Qh"]
    final, end = state.resolve(first + [card for card in DECK if card not in first])

    assert (draw["what"], draw["among"], draw["result"]) == ("final_dealer", [0, 1], 1)
    assert final["spaces"] == {"Th": 6, "Jh": 6, "Qh": 6, "Kh": 6, "Ah": 5}
    assert (final["dealer"], final["dealt"]) == (1, 7)
    assert [(prize["card"], prize["seat"], prize["chips"]) for prize in final["won"]] == [
        *[("Ah", 1, 5), ("Th", 0, 6), ("Kh", 0, 6), ("Jh", 1, 6), ("Qh", 0, 6)]
    ]
    assert (final["stacks"], final["board"]) == ([205, 195], board(0))
    assert (end["scores"], end["returns"], end["placements"]) == ([205, 195], [5, -5], [1, 2])


def test_RR_05_example_11_debt() -> None:
    state = begun(OUT_ON_ANOTHERS_LEAD, stack=10, deals=2)
    choose(state, "keep")

    log = lead(state, "9c")

    assert named(log, "deal_end")[0]["stacks"] == [60, -4, -5, -4, -4, -4, -4, -4, -4]
    (ante,) = named(log, "ante")
    assert ante["stacks"][1] == -13
    assert ante["board"] == board(18, kitty=9, pot=9)


# -- bounds --


@pytest.mark.parametrize(
    ("seats", "options", "bound"),
    [(2, {}, 348), (9, {}, 1908), (9, {"deals": 100, "max_bid": 200}, 25_600), (2, {"deals": 1}, 87)],
)
def test_no_match_takes_more_decisions_than_the_page_says(seats: int, options: Json, bound: int) -> None:
    assert RummyRoyal.decision_bound(seats, RummyRoyal.complete_options(seats, options)) == bound
