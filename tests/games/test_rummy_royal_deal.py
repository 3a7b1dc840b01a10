"""Rummy Royal: the rulings on the table, the play and the paying up of a deal, and on the end of the match."""

from random import Random

import pytest

from referee.errors import BadOption
from referee.games.cards import DECK
from referee.games.rummy_royal import RummyRoyal
from tests.games.playing import answered_by_default
from tests.games.rummy_royal import OUT_ON_ANOTHERS_LEAD, begun, board, choose, lead, told

# -- the table --


def test_RR_01_two_to_nine_seats_play() -> None:
    for seats in (2, 9):
        state = RummyRoyal.start(seats)
        answered_by_default(state, Random(seats))
        assert state.over
    for seats in (1, 10):
        with pytest.raises(BadOption):
            RummyRoyal.start(seats)


def test_RR_02_the_board_has_nine_spaces() -> None:
    state = RummyRoyal.start(2)

    assert [*state.observation(0)["board"]] == ["Th", "Jh", "Qh", "Kh", "Ah", "QK", "seq", "kitty", "pot"]


def test_RR_03_everybody_puts_the_ante_on_every_space() -> None:
    state = RummyRoyal.start(4, {"ante": 3})

    _, _, ante = state.resolve(2)

    assert ante == {"event": "ante", "deal": 1, "each": 27, "stacks": [173] * 4, "board": board(12)}


@pytest.mark.parametrize(("seats", "given", "deals"), [(2, 0, 4), (9, 0, 18), (9, 1, 1), (2, 100, 100)])
def test_RR_04_the_number_of_deals_is_fixed_before(seats: int, given: int, deals: int) -> None:
    state = RummyRoyal.start(seats, {"deals": given})

    assert state.options["deals"] == deals
    assert state.observation(0)["options"]["deals"] == deals


def test_RR_06_the_first_card_goes_to_the_dealers_left_and_the_last_of_a_lap_to_the_extra_hand() -> None:
    state = RummyRoyal.start(3)
    state.resolve(1)

    (deal,) = state.resolve(list(DECK))

    assert deal["hands"] == [list(DECK[1::4]), list(DECK[2::4]), list(DECK[0::4])]
    assert (deal["extra"], deal["dealer"], deal["deck"]) == (list(DECK[3::4]), 1, list(DECK))


# -- paying up and the end --


def test_RR_15_nothing_is_dealt_when_the_board_is_empty() -> None:
    state = begun(OUT_ON_ANOTHERS_LEAD, deals=1)
    state.board = board(0)

    choose(state, "keep")
    log = lead(state, "9c")

    assert [row["event"] for row in log[-2:]] == ["deal_end", "match_end"]
    assert state.over


def test_RR_15_less_than_five_chips_lie_on_the_first_pay_cards() -> None:
    state = begun(OUT_ON_ANOTHERS_LEAD, deals=1)
    state.board = board(0, seq=3)
    choose(state, "keep")
    lead(state, "9c")

    state.resolve(8)
    final, _ = state.resolve(list(DECK))

    assert final["spaces"] == {"Th": 1, "Jh": 1, "Qh": 1, "Kh": 0, "Ah": 0}
    assert final["dealt"] == DECK.index("Ah") + 1
    # Th is card 34 of the deck, from 0, and the first card goes to seat 0.
    assert final["won"][0] == {"seat": 34 % 9, "card": "Th", "chips": 1}


def test_RR_16_the_pay_card_is_paid_before_kitty_and_pot() -> None:
    state = begun({0: "Th Jh Qh Kh Ah", 1: "2c 3c 4c 5c 6c 9h"})

    choose(state, "keep")
    log = told(lead(state, "9h"))

    assert log[-6:] == ["0 QK 9", "0 Ah", "0 Ah 9", "0 kitty 9", "0 pot 9", "0 out"]


def test_RR_17_equal_stacks_share_a_place() -> None:
    state = RummyRoyal.start(4)
    state.stacks = [190, 240, 190, -3]

    assert state.placements() == [2, 1, 2, 4]
    assert state.returns() == [-10, 40, -10, -203]
