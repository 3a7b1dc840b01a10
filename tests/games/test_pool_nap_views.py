"""Pool Nap: defaults, forced moves, and what is seen."""

from random import Random

import pytest

from referee.games.pool_nap import PoolNap
from tests.games.playing import answered_by_default, named, positions
from tests.games.pool_nap_table import HANDS_A, PASS, PLAY_A, begun, bid, deck_for, play, row


def test_the_default_passes_and_then_plays_the_lowest_legal_card() -> None:
    state = begun()
    assert state.default(1) == PASS
    bid(state, 3, 0, 0)
    assert state.default(1) == {"type": "play", "card": "2h"}


def test_only_what_everybody_can_see_is_forced() -> None:
    state = begun()
    assert state.forced_action(1) is None
    bid(state, 3, 0, 0)
    play(state, "As Ts")
    assert state.legal(0) == [{"type": "play", "card": "9s"}]
    assert state.forced_action(0) is None  # one card of the suit led: nobody else can know
    play(state, "9s Ks Js Td Qs 8d Jd 3h Ah Kh")

    assert state.forced_action(2) == {"type": "play", "card": "9d"}  # the last trick


def test_a_seat_without_chips_for_any_bid_passes_by_force() -> None:
    state = begun()
    state.chips = [40, 10, 6]

    bid(state, 3)

    assert state.forced_action(2) == PASS
    assert state.forced_action(1) is None


def test_a_finished_match_keeps_its_last_view() -> None:
    state = begun(rounds=1)
    bid(state, 3, 0, 0)
    play(state, PLAY_A)

    seen = state.observation(1)

    assert (seen["phase"], seen["to_act"], seen["bidder"], seen["trump"]) == ("over", [], 1, "s")
    assert [trick["winner"] for trick in seen["tricks"]] == [1, 1, 1, 2, 2]
    assert seen["tricks"][0]["leader"] == 1
    assert seen["tricks"][0]["cards"][1] == {"seat": 2, "card": "Ts"}


def test_a_view_has_the_fields_of_the_page() -> None:
    state = begun()
    bid(state, 3, 0, 0)
    play(state, "As Ts")

    assert state.observation(0) == {
        "game": "pool-nap",
        "seat": 0,
        "players": 3,
        "options": state.options,
        "phase": "play",
        "round": 1,
        "round_limit": 21,
        "dealer": 0,
        "to_act": [0],
        "chips": [49, 49, 49],
        "pot": 3,
        "out_round": [None, None, None],
        "hand": ["9s", "Td", "Jd", "Qh", "Kh"],
        "hand_sizes": [5, 4, 4],
        "bids": [{"seat": 1, "tricks": 3}, {"seat": 2, "tricks": 0}, {"seat": 0, "tricks": 0}],
        "bid": 3,
        "bidder": 1,
        "trump": "s",
        "trick": [{"seat": 1, "card": "As"}, {"seat": 2, "card": "Ts"}],
        "tricks": [],
        "tricks_won": [0, 0, 0],
    }


def test_only_the_deal_is_masked() -> None:
    state = PoolNap.start(3)
    state.resolve(0)
    deal = row(state.resolve(deck_for(HANDS_A, state.order)), "deal")

    for viewer in (None, 0, 1, 2):
        (masked,) = PoolNap.visible_events([deal], viewer, {})
        assert masked["deck"] == ["??"] * 52
        for seat in range(3):
            assert masked["hands"][seat] == (HANDS_A[seat].split() if seat == viewer else ["??"] * 5)


@pytest.mark.parametrize("seats", [2, 5, 10])
def test_chips_and_pot_always_add_up(seats: int) -> None:
    for state in positions(PoolNap.start(seats, {"start_chips": 9, "bid_cover": False}), Random(seats)):
        assert sum(state.chips) + state.pot == 9 * seats  # type: ignore[attr-defined]  # a PoolNap
        assert min(state.chips) >= 0  # type: ignore[attr-defined]  # a PoolNap


def test_a_match_of_defaults_is_passed_out_to_its_round_limit() -> None:
    state = PoolNap.start(10)

    decisions, log = answered_by_default(state, Random(1))

    assert decisions == 200
    assert len(named(log, "passed_out")) == 20
