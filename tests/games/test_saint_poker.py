"""Saint Poker: the rulings of its rules page, defaults, and what is seen."""

import pytest

from referee.errors import IllegalAction
from referee.games.cards import DECK
from referee.games.saint_poker import SaintPoker
from tests.games.saint_poker_table import dealt, river, select, selecting


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


# -- legal lists and defaults --


def test_a_pair_the_other_way_round_is_the_same_action() -> None:
    state = selecting("Jh Js 4s 8c 6d", ["Ac 2c 9c", "Qd Kd 9d"])

    revealed = select(state, "Ac 2c", "Kd Qd")[0]

    assert revealed["cards"] == [["2c", "Ac"], ["Qd", "Kd"]]
