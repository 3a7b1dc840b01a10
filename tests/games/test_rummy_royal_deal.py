"""Rummy Royal: the rulings on the table, the play and the paying up of a deal, and on the end of the match."""

from random import Random

import pytest

from referee.errors import BadOption, IllegalAction
from referee.games.cards import DECK
from referee.games.rummy_royal import RummyRoyal
from tests.games.playing import answered_by_default, named, one_step
from tests.games.rummy_royal import NOBODY_OUT, OUT_ON_ANOTHERS_LEAD, begun, board, choose, lead, leads, told

# -- the table --


@pytest.mark.parametrize("seats", range(2, 10))
def test_RR_01_two_to_nine_seats_play(seats: int) -> None:
    state = RummyRoyal.start(seats)

    answered_by_default(state, Random(seats))

    assert state.over


@pytest.mark.parametrize("seats", [1, 10])
def test_RR_01_neither_one_nor_ten(seats: int) -> None:
    with pytest.raises(BadOption):
        RummyRoyal.start(seats)


def test_RR_02_the_board_has_nine_spaces() -> None:
    state = RummyRoyal.start(2)

    assert [*state.observation(0)["board"]] == ["Th", "Jh", "Qh", "Kh", "Ah", "QK", "seq", "kitty", "pot"]


def test_RR_03_everybody_puts_the_ante_on_every_space() -> None:
    state = RummyRoyal.start(4, {"ante": 3})

    _, _, ante = state.resolve(2)

    assert ante == {"event": "ante", "deal": 1, "each": 27, "stacks": [173] * 4, "board": board(12)}


def test_RR_03_chips_that_were_not_won_stay_and_more_are_added() -> None:
    state = begun(OUT_ON_ANOTHERS_LEAD)

    choose(state, "keep")
    log = lead(state, "9c")

    assert named(log, "ante")[0]["board"] == board(18, kitty=9, pot=9)


@pytest.mark.parametrize(("seats", "given", "deals"), [(2, 0, 4), (9, 0, 18), (9, 1, 1), (2, 100, 100)])
def test_RR_04_the_number_of_deals_is_fixed_before(seats: int, given: int, deals: int) -> None:
    state = RummyRoyal.start(seats, {"deals": given})

    assert state.options["deals"] == deals
    assert state.observation(0)["options"]["deals"] == deals


def test_RR_04_the_first_dealer_is_drawn_and_the_deal_goes_to_the_left() -> None:
    state, dice, dealers = RummyRoyal.start(3), Random(4), []
    assert state.chance() == {"kind": "draw", "what": "first_dealer", "among": [0, 1, 2]}

    state.resolve(2)
    while not state.over:
        dealers += [row["dealer"] for row in named(one_step(state, dice), "deal")]

    assert dealers == [2, 0, 1, 2, 0, 1]


def test_RR_05_all_begin_with_the_same_stack() -> None:
    assert RummyRoyal.start(3, {"stack": 70}).stacks == [70, 70, 70]


def test_RR_05_cards_left_are_paid_in_full_below_zero() -> None:
    state = begun(OUT_ON_ANOTHERS_LEAD)
    state.stacks = [191, 2, 0, -7, 191, 191, 191, 191, 191]

    choose(state, "keep")
    log = lead(state, "9c")

    assert named(log, "deal_end")[0]["stacks"] == [250, -3, -6, -12, 186, 186, 186, 186, 186]


def test_RR_06_the_first_card_goes_to_the_dealers_left_and_the_last_of_a_lap_to_the_extra_hand() -> None:
    state = RummyRoyal.start(3)
    state.resolve(1)

    (deal,) = state.resolve(list(DECK))

    assert deal["hands"] == [list(DECK[1::4]), list(DECK[2::4]), list(DECK[0::4])]
    assert (deal["extra"], deal["dealer"], deal["deck"]) == (list(DECK[3::4]), 1, list(DECK))


@pytest.mark.parametrize(
    ("seats", "most", "least", "longer"),
    [
        *[(2, 18, 17, 1), (3, 13, 13, 4), (4, 11, 10, 2), (5, 9, 8, 4)],
        *[(6, 8, 7, 3), (7, 7, 6, 4), (8, 6, 5, 7), (9, 6, 5, 2)],
    ],
)
def test_RR_06_all_cards_are_dealt(seats: int, most: int, least: int, longer: int) -> None:
    state = begun(seats=seats, dealer=seats - 1)

    sizes = [*map(len, state.hands), len(state.dead)]

    assert sizes == [most] * longer + [least] * (seats + 1 - longer)


# -- the play --


def test_the_first_lead_belongs_to_the_dealers_left_in_any_suit() -> None:
    state = begun({3: "5c 7c 4d 9h 2s 3s"}, dealer=2)

    choose(state, "keep")

    assert (state.pending(), leads(state), state.colour) == ((3,), "5c 4d 9h 2s", "any")


@pytest.mark.parametrize("card", ["7d", "5c", "9s", "3d", "??", ""])
def test_only_the_lowest_of_a_suit_of_the_colour_due_is_led(card: str) -> None:
    state = begun({1: "2c 5c 4d 7d Qh 9s"}, "3c")
    choose(state, "keep")
    lead(state, "2c")

    assert leads(state) == "4d Qh"
    with pytest.raises(IllegalAction):
        lead(state, card or "-")


def test_RR_13_leads_without_a_choice_are_made_by_the_referee() -> None:
    state = begun({1: "2c 3c 4c 5c 6c 7c"}, "8c")

    log = choose(state, "keep")

    assert told(log)[:7] == ["1 2c", "1 3c", "1 4c", "1 5c", "1 6c", "1 7c", "1 kitty 9"]
    assert [row["lead"] for row in named(log, "play")] == [True, False, False, False, False, False]


def test_RR_13_saying_no_costs_nothing_and_the_colour_stays_due() -> None:
    state = begun({1: "2c 6s 7s 8s 9s Ts"}, "Js")
    choose(state, "keep")

    log = lead(state, "6s")

    assert told(log)[-2:] == ["stop red", "1 no red"]
    assert state.no_colour == [{"seat": 1, "colour": "red", "after": 5}]
    assert (state.pending(), state.colour, state.stacks[1]) == ((2,), "red", 191 + 9)


def test_RR_13_no_decision_is_left_that_is_no_choice() -> None:
    for seats in (2, 5, 9):
        state, dice = RummyRoyal.start(seats, {"max_bid": 3, "stack": 20}), Random(seats)
        while not state.over:
            for seat in state.pending():
                assert len(state.legal(seat)) >= 2
                assert state.forced_action(seat) is None
            one_step(state, dice)


def test_RR_14_a_suit_led_before_may_be_led_again() -> None:
    state = begun({1: "2c 4c 2d Kd 2s 9s"}, "3c 3d")

    choose(state, "keep")
    log = lead(state, "2c")

    assert told(log) == ["1 2c", "stop red", "1 2d", "stop black"]
    assert (state.pending(), leads(state)) == ((1,), "4c 2s")


def test_RR_14_a_later_sequence_finds_the_space_empty() -> None:
    state = begun({1: "6c 7c 8c 6d 7d 8d"}, "9c 9d")

    choose(state, "keep")
    log = told(lead(state, "6c"))

    assert log[:9] == ["1 6c", "1 7c", "1 8c", "1 seq 9", "stop red", "1 6d", "1 7d", "1 8d", "1 kitty 9"]


def test_no_calls_of_the_deal_before_are_kept() -> None:
    state = begun(NOBODY_OUT, seats=2)
    choose(state, "keep")
    lead(state, "2s")
    assert state.observation(0)["no_colour"] == [{"seat": 1, "colour": "red", "after": 9}]

    lead(state, "Qs")

    assert state.observation(0)["no_colour"] == []


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


def test_the_table_is_cleared_for_the_next_deal() -> None:
    state = begun(OUT_ON_ANOTHERS_LEAD)
    choose(state, "sell", "bid", *["pass"] * 7)
    while state.deal == 1:
        one_step(state, Random(1))

    seen = state.observation(3)

    assert (seen["deal"], seen["dealer"], seen["phase"], seen["colour"]) == (2, 1, "dealer", "any")
    assert (seen["played"], seen["no_colour"], seen["hand"], seen["dead_size"]) == ([], [], [], 0)
    assert seen["auction"] == {"amount": 0, "seat": None, "passed": []}
    assert seen["extra"] == {"fate": "undecided", "seat": None, "price": 0}
    assert state.observation(1)["discarded"] is None
