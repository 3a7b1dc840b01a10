"""Test what benchmarks play: every outcome is possible, and every decision is counted."""

from random import Random

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


def test_as_many_decisions_are_made_as_requested_and_each_is_observed() -> None:
    seen: list[int] = []

    def observe(state: State, seat: int) -> None:
        seen.append(seat)

    play(SAINT_POKER, 2, 90, Random(1))
    play(SAINT_POKER, 2, 90, Random(1), observe)

    assert len(seen) == 90
