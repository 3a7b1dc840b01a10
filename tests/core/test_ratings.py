"""Elo over placements: worked numbers, zero sum, exactness."""

from decimal import Decimal, localcontext

from hypothesis import given
from hypothesis import strategies as st

from referee.ratings import MICRO, SCALE, START, elo_changes, expectation, k_factor

TABLES = st.integers(2, 10).flatmap(
    lambda seats: st.tuples(
        st.lists(st.integers(-500 * MICRO, 4_000 * MICRO), min_size=seats, max_size=seats),
        st.lists(st.integers(0, 60), min_size=seats, max_size=seats),
        st.lists(st.integers(1, seats), min_size=seats, max_size=seats),
    )
)


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


@given(TABLES)
def test_F11_no_match_makes_or_destroys_points(table: tuple[list[int], list[int], list[int]]) -> None:
    ratings, games, placements = table

    assert sum(elo_changes(ratings, games, placements)) == 0


@given(TABLES)
def test_the_order_of_seats_does_not_matter(table: tuple[list[int], list[int], list[int]]) -> None:
    ratings, games, placements = table

    backwards = elo_changes(ratings[::-1], games[::-1], placements[::-1])

    assert backwards[::-1] == elo_changes(ratings, games, placements)


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
