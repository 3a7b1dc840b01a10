"""Positions drawn from an observation: they look the same to the seat, and hidden cards are fairly drawn."""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import islice, permutations
from random import Random
from typing import Any

import pytest

from referee.conformance.positions import scenarios
from referee.games import catalogue
from referee.games.cards import RANKS
from referee.games.pool_nap import PoolNap
from referee.games.state import Seat, State
from referee.house.resampling import RESAMPLE, pool_nap, prisoners
from referee.house.resampling.dealing import deal
from tests.games import prince_albert, prisoners_table
from tests.games.playing import positions
from tests.games.rummy_royal import begun, choose

every_game = pytest.mark.parametrize("name", sorted(catalogue()))
HIDDEN = {  # members of a position that no seat sees in full
    *("hands", "aside", "stock", "left_over", "pile", "dead", "holder", "down", "up", "deck", "piles"),
    *("history", "previous", "sealed", "unsent"),
}


def asked_positions(name: str, matches: int, most: int) -> Iterator[tuple[State, Seat]]:
    """Yield positions of random matches under extreme options, with a seat that is asked."""
    rules, dice = catalogue()[name], Random(name)
    for scenario in islice(scenarios(rules, dice), matches):
        for state in islice(positions(rules.start(scenario.seats, scenario.options), dice), most):
            for seat in state.pending():
                yield state, seat


def agrees(state: State, seat: Seat, chance: Random) -> State:
    """Assert that a position drawn from the observation of this seat agrees with it; return the position."""
    seen = state.observation(seat)
    drawn = RESAMPLE[state.name](seen, chance)
    assert drawn.observation(seat) == seen
    assert drawn.legal(seat) == state.legal(seat)
    assert set(drawn.pending()) == {*state.pending(), *state.sealed}
    public = state.as_json()
    assert {name: value for name, value in drawn.as_json().items() if name not in HIDDEN} == {
        name: value for name, value in public.items() if name not in HIDDEN
    }
    return drawn


@every_game
def test_a_drawn_position_looks_the_same_to_its_seat_and_is_the_same_in_all_that_is_public(name: str) -> None:
    chance, kinds = Random(1), Counter[str]()

    for state, seat in asked_positions(name, matches=10, most=250):
        kinds[state.phase] += 1
        if chance.random() < 0.1 or kinds[state.phase] < 20:
            agrees(state, seat, chance)

    assert sum(kinds.values()) > 500


@every_game
def test_a_drawn_position_can_be_played_to_the_end(name: str) -> None:
    chance = Random(2)

    for state, seat in islice(asked_positions(name, matches=8, most=200), 0, None, 40):
        drawn = agrees(state, seat, chance)
        *_, last = positions(drawn, chance)  # rules raise if cards are missing or occur twice
        assert last.over


@every_game
def test_twin_worlds_that_look_the_same_to_a_seat_give_the_same_drawn_positions(name: str) -> None:
    chance, twins = Random(3), 0

    for state, seat in islice(asked_positions(name, matches=10, most=200), 0, None, 20):
        twin = RESAMPLE[name](state.observation(seat), chance)
        twins += twin.as_json() != state.as_json()

        drawn = [RESAMPLE[name](world.observation(seat), Random(5)).as_json() for world in (state, twin)]

        assert drawn[0] == drawn[1]
    assert twins > 5


def test_every_possible_hidden_deal_is_equally_likely() -> None:
    # Two seats of Pool Nap before the last trick: seat 1 has one card, which is one of 43 that seat 0 has not seen.
    state = PoolNap.start(2)
    state.resolve(1)
    deck = ["4d", "5d", "As", "2c", "3c", "4c", "6d", "Ks", "5c", "6c"]
    state.resolve(deck + [card for card in (state.chance() or {})["cards"] if card not in deck])
    for action in [{"type": "bid", "tricks": 2}, {"type": "pass"}]:
        state.apply(state.pending()[0], action)
    for card in ("As", "2c", "Ks", "3c", "6d", "4c", "5d", "5c"):
        state.apply(state.pending()[0], {"type": "play", "card": card})
    seen, draws = state.observation(0), 3000

    found = Counter(pool_nap.resample(seen, Random(seed)).hands[1][0] for seed in range(draws))

    # Seat 1 followed neither spades nor diamonds, so its card is a club or a heart, and it has played four clubs.
    possible = {rank + suit for rank in RANKS for suit in "ch"} - {"2c", "3c", "4c", "5c"}
    assert set(found) == possible
    assert chi_square(found, len(possible), draws) < limit(len(possible))


def test_deals_with_excluded_cards_are_equally_likely_also_after_a_repair() -> None:
    cards, sizes, excluded = list("abcdefg"), [2, 2, 3], [set("abcd"), set("abef"), set()]
    possible = {
        (frozenset(order[:2]), frozenset(order[2:4]))
        for order in permutations(cards)
        if not {*order[:2]} & excluded[0] and not {*order[2:4]} & excluded[1]
    }

    found = Counter((frozenset(hands[0]), frozenset(hands[1])) for hands in deals(cards, sizes, excluded, 2000))

    assert set(found) == possible
    assert chi_square(found, len(possible), 2000) < limit(len(possible))


def deals(cards: list[str], sizes: list[int], excluded: list[set[str]], count: int) -> Iterator[list[list[str]]]:
    dice = Random(7)
    for _ in range(count):
        yield deal(cards, sizes, dice, excluded)


def test_a_deal_that_no_hand_can_take_is_an_error() -> None:
    with pytest.raises(ValueError, match="no hand can have a"):
        deal(["a", "b"], [1, 1], Random(1), [{"a"}, {"a"}])


def chi_square(found: Counter[Any], kinds: int, draws: int) -> float:
    expected = draws / kinds
    return math.fsum((count - expected) ** 2 for count in found.values()) / expected


def limit(kinds: int) -> float:
    """Return a bound that the statistic exceeds once in 30,000 cases (mean plus four standard deviations)."""
    return kinds - 1 + 4 * math.sqrt(2 * (kinds - 1))


# -- what each game lets a seat conclude --


def test_no_hand_keeps_aces_that_the_first_joker_would_have_taken() -> None:
    state = prisoners_table.begun({0: "2c 3d", 1: "Ac Ad", 2: "Ah As"}, "X1", players=3)
    state.apply(0, {"type": "name_suit", "suit": "c"})

    aces = [
        {card for card in hand if card[0] == "A"}
        for seed in range(200)
        for hand in prisoners.resample(state.observation(0), Random(seed)).hands
    ]

    assert {len(own) for own in aces} == {0, 1, 2, 3}  # three without the ace of clubs take no joker
    assert not any(len(own) == 3 and "Ac" in own for own in aces)


def test_a_card_that_did_not_follow_is_in_no_hand() -> None:
    state = begun({1: "4c 5c 6c 7c 2d 4d Jd 9h 3s 5s Ks"}, seats=4)
    choose(state, "keep")
    chance = Random(1)
    while not state.played:
        state.apply(state.pending()[0], state.legal(state.pending()[0])[0])

    for _ in range(60):
        asked = state.pending()
        if not asked or state.phase != "lead":
            break
        drawn = agrees(state, asked[0], chance)
        assert drawn.phase == "lead"
        state.apply(asked[0], chance.choice(state.legal(asked[0])))


def test_a_card_taken_off_a_pile_stays_known_until_it_is_discarded() -> None:
    state = prince_albert.begun(["Kd Kc 9d 6c 3h", "Ac Jd 9s 6h 3c", "2c 4d 5h 7s Ks"])
    prince_albert.play(state, "0:p 1:b4 2:p 1:p 2:xKs 0:x3h<2")

    seat = state.pending()[0]
    for seed in range(40):
        drawn = agrees(state, seat, Random(seed))
        assert "Ks" in drawn.observation(0)["hands"][0]
