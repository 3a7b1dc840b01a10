"""Test what benchmarks play and compare: the same deals for both sides, every outcome possible."""

from random import Random

from bench.players import compare_placements, mean_and_error, play_duplicate, play_out
from bench.playouts import draw, play
from referee.games import catalogue
from referee.games.state import State

SAINT_POKER = catalogue()["saint-poker"]


def test_chance_brings_a_permutation_of_a_deck_and_a_member_of_a_draw() -> None:
    rng = Random(1)
    deck = [str(number) for number in range(52)]

    brought = draw({"kind": "deck", "cards": deck}, rng)

    assert brought != deck
    assert sorted(brought) == sorted(deck)
    assert draw({"kind": "draw", "what": "seat", "among": [3, 4]}, rng) in (3, 4)


def test_chance_is_the_same_whenever_a_deal_is_played_and_differs_for_another_deal() -> None:
    states = [SAINT_POKER.start(2) for _ in range(3)]

    for state, deal in zip(states, (7, 7, 8), strict=True):
        play_out(state, {0: "first", 1: "first"}, deal)

    assert states[0] == states[1]
    assert states[0] != states[2]


def test_a_player_is_about_as_good_as_itself() -> None:
    results = [play_duplicate(SAINT_POKER, 4, "random", deal) for deal in range(40)]

    shares = [share for share, _ in results]
    assert abs(sum(shares) / 40 - 0.5) < 0.1


def test_a_better_placement_is_a_lower_number() -> None:
    assert [compare_placements(1, 2), compare_placements(2, 2), compare_placements(3, 1)] == [1, 0.5, 0]


def test_an_error_is_that_of_the_mean() -> None:
    # Deviation of 0, 2: sqrt(2); by the square root of two values: 1.
    assert mean_and_error([0.0, 2.0]) == "1 ± 1"


def test_as_many_decisions_are_made_as_requested_and_each_is_observed() -> None:
    seen: list[int] = []

    def observe(state: State, seat: int) -> None:
        seen.append(seat)

    play(SAINT_POKER, 2, 90, Random(1))
    play(SAINT_POKER, 2, 90, Random(1), observe)

    assert len(seen) == 90
