"""Ranking of hands, compared with a plain enumeration of all hands of five and with the rules page."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest

from referee.games.cards import DECK, RANK
from referee.games.poker import CATEGORIES, category, rank


def ranked(cards: str) -> list[int]:
    return rank(cards.split())


def plain_rank(five: tuple[str, ...]) -> list[int]:
    """Rank five cards the slow way, directly from the table of categories."""
    values = sorted((RANK[card] for card in five), reverse=True)
    groups = sorted(((times, value) for value, times in Counter(values).items()), reverse=True)
    times, ties = [times for times, _ in groups], [value for _, value in groups]
    flush = len({card[1] for card in five}) == 1
    if values == [14, 5, 4, 3, 2]:
        straight = 5
    else:
        straight = values[0] if len(set(values)) == 5 and values[0] - values[4] == 4 else 0
    if flush and straight:
        return [8, straight]
    if times == [4, 1]:
        return [7, *ties]
    if times == [3, 2]:
        return [6, *ties]
    if flush:
        return [5, *values]
    if straight:
        return [4, straight]
    return [{(3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1, (1, 1, 1, 1, 1): 0}[tuple(times)], *ties]


@pytest.mark.parametrize("size", [5, 6, 7])
def test_a_hand_ranks_as_the_best_of_all_its_fives(size: int) -> None:
    rng = Random(size)
    # Few ranks and few suits as well, so that flushes, full houses and straight flushes come up.
    packs = [DECK, [card for card in DECK if card[1] in "cd"], [card for card in DECK if card[0] in "2345A"]]
    for turn in range(1500):
        cards = rng.sample(packs[turn % 3], size)
        assert rank(cards) == max(map(plain_rank, combinations(cards, 5))), cards


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("Ts Js Qs Ks As", [8, 14]),
        ("2d 3d 4d 5d Ad", [8, 5]),
        ("2d 3d 4d 5d 6d Ad 7c", [8, 6]),
        ("9c 9d 9h 9s 2c 2d Kh", [7, 9, 13]),
        ("9c 9d 9h Kc Kd Kh 2s", [6, 13, 9]),
        ("9c 9d 9h Kc Kd Qc Qd", [6, 9, 13]),
        ("2s 4s 6s 8s Ts Qs As", [5, 14, 12, 10, 8, 6]),
        ("3c 4d 5h 6s 7c 7d 7h", [4, 7]),
        ("2c 3d Qc Kd Ah 7s 8s", [0, 14, 13, 12, 8, 7]),  # no straight round the corner
        ("5c 5d 5h Kc 2d 9h", [3, 5, 13, 9]),
        ("5c 5d 9h 9s Kc Kd Ah", [2, 13, 9, 14]),
        ("5c 5d 9h Ts Kc", [1, 5, 13, 10, 9]),
    ],
)
def test_tie_values_stand_in_the_order_of_the_page(cards: str, expected: list[int]) -> None:
    assert ranked(cards) == expected


def test_a_rank_may_be_changed_without_harm() -> None:
    ranked("Ac Kd Qh Js 9c").append(99)

    assert ranked("Ac Kd Qh Js 9c") == [0, 14, 13, 12, 11, 9]


def test_categories_have_the_names_of_the_page() -> None:
    assert [category([value]) for value in range(9)] == list(CATEGORIES)
    assert CATEGORIES[8] == "straight flush"
    assert CATEGORIES[0] == "high card"
