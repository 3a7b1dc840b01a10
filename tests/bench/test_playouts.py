"""What benchmarks play and compare: the same deals for both sides, every outcome possible."""

from random import Random

from bench.players import ahead, duplicate, play_out, with_error
from bench.playouts import outcome, play, play_watched
from referee.games import catalogue
from referee.games.state import State

SAINT_POKER = catalogue()["saint-poker"]


def test_chance_brings_a_permutation_of_a_deck_and_a_member_of_a_draw() -> None:
    rng = Random(1)
    deck = [str(number) for number in range(52)]

    brought = outcome({"kind": "deck", "cards": deck}, rng)

    assert brought != deck
    assert sorted(brought) == sorted(deck)
    assert outcome({"kind": "draw", "what": "seat", "among": [3, 4]}, rng) in (3, 4)


def test_a_deal_brings_the_same_whenever_it_is_played_and_another_deal_does_not() -> None:
    states = [SAINT_POKER.start(2) for _ in range(3)]

    for state, deal in zip(states, (7, 7, 8), strict=True):
        play_out(state, {0: "first", 1: "first"}, deal)

    assert states[0] == states[1]
    assert states[0] != states[2]


def test_a_player_against_itself_is_neither_ahead_nor_behind() -> None:
    results = [duplicate(SAINT_POKER, 4, "random", deal) for deal in range(40)]

    shares = [share for share, _ in results]
    assert abs(sum(shares) / 40 - 0.5) < 0.1


def test_a_better_placement_is_a_lower_number() -> None:
    assert [ahead(1, 2), ahead(2, 2), ahead(3, 1)] == [1, 0.5, 0]


def test_an_error_is_that_of_the_mean() -> None:
    # Deviation of 0, 2: sqrt(2); by the square root of two values: 1.
    assert with_error([0.0, 2.0]) == "1 ± 1"


def test_so_many_decisions_are_made_and_each_is_looked_at() -> None:
    seen: list[int] = []

    def look(state: State, seat: int) -> None:
        seen.append(seat)

    play(SAINT_POKER, 2, 90, Random(1))
    play_watched(SAINT_POKER, 2, 90, Random(1), look)

    assert len(seen) == 90
