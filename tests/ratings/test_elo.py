"""Elo over placements: worked numbers, zero sum, exactness."""

import hashlib
import json
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.ratings.elo import MICRO, SCALE, START, elo_changes, expectation, k_factor

TABLES = st.integers(2, 10).flatmap(
    lambda seats: st.tuples(
        st.lists(st.integers(-500 * MICRO, 4_000 * MICRO), min_size=seats, max_size=seats),
        st.lists(st.integers(0, 60), min_size=seats, max_size=seats),
        st.lists(st.integers(1, seats), min_size=seats, max_size=seats),
    )
)
Table = tuple[list[int], list[int], list[int]]
FROZEN = {  # SHA-256 of the changes at 500 fixed tables, by seats: stored ladders depend on every digit
    2: "71dde671bc250199170008f1",
    3: "181e2ef78d8c81c2e6f6ab51",
    4: "f3d6719ea85e33fe87153a35",
    5: "5f31612d8c2abd8f577d7093",
    6: "149e661732de72c83f9ab64f",
    7: "3d27aef16451011c50208672",
    8: "8d6dc88d99d3673d67d61747",
    9: "7cf70b66f623f20b0b8fdbc1",
    10: "a9e64271e04d8fb14f9a0da2",
}


def frozen_tables(seats: int) -> Iterator[Table]:
    """Return 500 fixed tables from Knuth's MMIX generator, with close, distant and whole-point ratings."""
    state = seats

    def below(limit: int) -> int:
        nonlocal state
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        return (state >> 33) % limit

    for _ in range(500):
        spread = (0, 40, 400, 2_500)[below(4)] * (1, MICRO)[below(2)]
        unit = MICRO if spread < MICRO else 1
        ratings = [START + (below(2 * spread + 1) - spread) * unit for _ in range(seats)]
        yield ratings, [below(60) for _ in range(seats)], [1 + below(seats) for _ in range(seats)]


def spelled_out(ratings: list[int], games: list[int], placements: list[int]) -> list[int]:
    """Return the changes by the definition, pair by pair, in fractions."""
    changes = [0] * len(ratings)
    for one in range(len(ratings)):
        for other in range(one):
            score = Fraction((placements[one] < placements[other]) + (placements[one] <= placements[other]), 2)
            surprise = score - Fraction(expectation(ratings[one] - ratings[other]), SCALE)
            stake = Fraction(k_factor(games[one]) + k_factor(games[other]), 2 * (len(ratings) - 1)) * MICRO
            size = int(abs(stake * surprise) + Fraction(1, 2))
            change = size if surprise > 0 else -size
            changes[one] += change
            changes[other] -= change
    return changes


@pytest.mark.parametrize("seats", FROZEN)
def test_the_changes_are_what_they_always_were(seats: int) -> None:
    changes = json.dumps([elo_changes(*table) for table in frozen_tables(seats)])

    assert hashlib.sha256(changes.encode()).hexdigest()[:24] == FROZEN[seats]


@settings(max_examples=40)
@given(TABLES)
def test_the_changes_are_those_of_the_definition(table: Table) -> None:
    assert elo_changes(*table) == spelled_out(*table)


@pytest.mark.parametrize("gap", [0, 1, MICRO - 1, MICRO, MICRO + 1, 2_000 * MICRO - 1, 2_000 * MICRO, 9_000 * MICRO])
@pytest.mark.parametrize("placements", [[1, 2], [2, 1], [1, 1]])
def test_the_changes_are_those_of_the_definition_at_the_joints(gap: int, placements: list[int]) -> None:
    for ratings in ([START + gap, START], [START, START + gap]):
        assert elo_changes(ratings, [30, 30], placements) == spelled_out(ratings, [30, 30], placements)


def test_the_expectations_are_those_that_the_page_says() -> None:
    table = [round(10**9 / (1 + 10 ** (-points / 400))) for points in range(2002)]

    for points in range(2000):
        for rest in (0, 1, 500_001, 999_999):
            between = table[points] + (table[points + 1] - table[points]) * rest // 1_000_000
            assert expectation(points * 1_000_000 + rest) == between
            assert expectation(-points * 1_000_000 - rest) == 10**9 - between
    assert expectation(2_000_000_001) == expectation(5_000_000_000) == table[2000]


def test_two_equal_bots_move_by_half_of_what_is_at_stake() -> None:
    # K 40 for newcomers, expectation 1/2: 40 x (1 - 1/2) = 20 points.
    assert elo_changes([START, START], [0, 0], [1, 2]) == [20 * MICRO, -20 * MICRO]


def test_the_better_one_gains_less() -> None:
    # 200 points ahead, expectation 0.759747: K 20 x 0.240253 = 4.80506 points.
    changes = elo_changes([START + 200 * MICRO, START], [30, 30], [1, 2])

    assert changes == [4_805_061, -4_805_061]


def test_a_tie_among_equals_moves_nothing() -> None:
    assert elo_changes([START] * 4, [0] * 4, [1, 1, 1, 1]) == [0] * 4


def test_three_seats_share_the_stake_among_their_pairs() -> None:
    # Each pair stakes 40 / 2 = 20 points: first 10 + 10, second -10 + 10, third -10 - 10.
    assert elo_changes([START] * 3, [0] * 3, [1, 2, 3]) == [20 * MICRO, 0, -20 * MICRO]


def test_a_pair_stakes_the_mean_of_its_two_k() -> None:
    assert k_factor(29) == 40
    assert k_factor(30) == 20
    assert elo_changes([START, START], [0, 30], [1, 2]) == [15 * MICRO, -15 * MICRO]


@settings(max_examples=40)
@given(TABLES)
def test_F11_no_match_makes_or_destroys_points(table: Table) -> None:
    ratings, games, placements = table

    assert sum(elo_changes(ratings, games, placements)) == 0


@settings(max_examples=40)
@given(TABLES)
def test_the_order_of_seats_does_not_matter(table: Table) -> None:
    ratings, games, placements = table

    backwards = elo_changes(ratings[::-1], games[::-1], placements[::-1])

    assert backwards[::-1] == elo_changes(ratings, games, placements)


@settings(max_examples=40)
@given(TABLES, st.permutations(range(10)))
def test_seats_in_any_order_change_alike(table: Table, order: list[int]) -> None:
    seats = [seat for seat in order if seat < len(table[0])]
    ratings, games, placements = ([column[seat] for seat in seats] for column in table)

    changes = elo_changes(*table)

    assert elo_changes(ratings, games, placements) == [changes[seat] for seat in seats]


@settings(max_examples=40)
@given(TABLES)
def test_two_seats_win_what_they_would_have_lost_the_other_way_round(table: Table) -> None:
    (one, other), (played, other_played), _ = (column[:2] for column in table)

    won, lost = elo_changes([one, other], [played, other_played], [1, 2])
    swapped = elo_changes([other, one], [other_played, played], [2, 1])

    assert [lost, won] == swapped
    stake = (k_factor(played) + k_factor(other_played)) * MICRO // 2
    assert won - elo_changes([one, other], [played, other_played], [2, 1])[0] in range(stake - 1, stake + 2)


@settings(max_examples=40)
@given(TABLES, st.integers(0, 9))
def test_a_better_placement_never_costs_points(table: Table, seat: int) -> None:
    ratings, games, placements = table
    seat %= len(ratings)
    better = [place - (number == seat) for number, place in enumerate(placements)]

    assert elo_changes(ratings, games, better)[seat] >= elo_changes(*table)[seat]


@settings(max_examples=40)
@given(TABLES, st.integers(0, 9), st.integers(0, 500 * MICRO))
def test_a_higher_rating_never_wins_more(table: Table, seat: int, more: int) -> None:
    ratings, games, placements = table
    seat %= len(ratings)
    higher = [rating + more * (number == seat) for number, rating in enumerate(ratings)]

    assert elo_changes(higher, games, placements)[seat] <= elo_changes(*table)[seat]


@settings(max_examples=40)
@given(TABLES, st.lists(st.booleans(), min_size=10, max_size=10))
def test_seats_not_rated_take_no_part(table: Table, said: list[bool]) -> None:
    rated = said[: len(table[0])]
    counted = [seat for seat, counts in enumerate(rated) if counts]
    ratings, games, placements = ([column[seat] for seat in counted] for column in table)

    changes = elo_changes(*table, rated)

    assert [changes[seat] for seat in counted] == elo_changes(ratings, games, placements)
    assert sum(changes) == 0
    assert all(change == 0 for change, counts in zip(changes, rated, strict=True) if not counts)


@pytest.mark.parametrize("rated", [[False, False, True], [False] * 3])
def test_nobody_moves_where_fewer_than_two_are_rated(rated: list[bool]) -> None:
    assert elo_changes([START] * 3, [0] * 3, [1, 2, 3], rated) == [0] * 3


def test_a_table_with_a_stand_in_is_a_smaller_table() -> None:
    # Only seats 0 and 2 count: the whole stake of 40 is on one pair, expectation 1/2.
    assert elo_changes([START] * 3, [0] * 3, [1, 2, 3], [True, False, True]) == [20 * MICRO, 0, -20 * MICRO]


@given(st.integers(-1_999 * MICRO, 1_999 * MICRO))
def test_the_table_of_expectations_fits_the_formula(difference: int) -> None:
    with localcontext() as context:
        context.prec = 40
        exact = 1 / (1 + Decimal(10) ** (Decimal(-difference) / (400 * MICRO)))

    assert abs(Decimal(expectation(difference)) / SCALE - exact) < Decimal("5e-7")
    assert expectation(difference) + expectation(-difference) == SCALE


def test_whole_points_are_correctly_rounded() -> None:
    with localcontext() as context:
        context.prec = 60
        exact = [1 / (1 + Decimal(10) ** (Decimal(-points) / 400)) for points in range(2_001)]

    assert [expectation(points * MICRO) for points in range(2_001)] == [round(value * SCALE) for value in exact]
