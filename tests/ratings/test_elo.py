"""Elo over placements, for tables whose seats have different owners: worked numbers, zero sum, exactness."""

import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.ratings.elo import MICRO, SCALE, START, expectation
from referee.ratings.exchange import Change, Seat, exchange, k_factor

TABLES = st.integers(2, 10).flatmap(
    lambda seats: st.tuples(
        st.lists(st.integers(-500 * MICRO, 4_000 * MICRO), min_size=seats, max_size=seats),
        st.lists(st.integers(9 * MICRO, 400 * MICRO), min_size=seats, max_size=seats),
        st.lists(st.integers(1, seats), min_size=seats, max_size=seats),
    )
)
Table = tuple[list[int], list[int], list[int]]
# SHA-256 of the changes at 4,500 fixed tables: stored ladders depend on every digit.
FROZEN = "ccce54d30abd57ea202deec3f0191564e416e16318e38cdddb515af03f2813a5"


def changes_of(ratings: list[int], information: list[int], placements: list[int]) -> list[Change]:
    """Return the changes of seats with an owner each, which no cap limits: one match stakes too little."""
    seats = zip(ratings, information, placements, strict=True)
    return exchange([Seat(rating, told, str(n), place) for n, (rating, told, place) in enumerate(seats)], {})


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
        yield ratings, [below(60 * MICRO) for _ in range(seats)], [1 + below(seats) for _ in range(seats)]


def spelled_out(ratings: list[int], information: list[int], placements: list[int]) -> list[int]:
    """Return the changes of the ratings by the definition, pair by pair, in fractions."""
    changes, seats = [0] * len(ratings), len(ratings)
    for one, other in permutations(range(seats), 2):
        score = Fraction((placements[one] < placements[other]) + (placements[one] <= placements[other]), 2)
        surprise = score - Fraction(expectation(ratings[one] - ratings[other]), SCALE)
        size = int(abs(surprise) * k_factor(information[one], seats) / (seats - 1) + Fraction(1, 2))
        changes[one] += size if surprise > 0 else -size
    return changes


def test_the_changes_are_what_they_always_were() -> None:
    changes = json.dumps([changes_of(*table) for seats in range(2, 11) for table in frozen_tables(seats)])

    assert hashlib.sha256(changes.encode()).hexdigest() == FROZEN


@settings(max_examples=40)
@given(TABLES)
def test_F11_the_changes_are_those_of_the_definition_which_makes_or_destroys_no_points(table: Table) -> None:
    changes = changes_of(*table)

    assert [change.rating for change in changes] == spelled_out(*table)
    assert sum(change.rating + change.balance for change in changes) == 0


@pytest.mark.parametrize("gap", [0, 1, MICRO - 1, MICRO, MICRO + 1, 2_000 * MICRO - 1, 2_000 * MICRO, 9_000 * MICRO])
@pytest.mark.parametrize("placements", [[1, 2], [2, 1], [1, 1]])
def test_the_changes_are_those_of_the_definition_at_the_joints(gap: int, placements: list[int]) -> None:
    for ratings in ([START + gap, START], [START, START + gap]):
        table = ratings, [30 * MICRO, 30 * MICRO], placements
        assert [change.rating for change in changes_of(*table)] == spelled_out(*table)


def test_the_expectations_are_those_that_the_page_says() -> None:
    table = [round(10**9 / (1 + 10 ** (-points / 400))) for points in range(2002)]

    for points in range(2000):
        for rest in (0, 1, 500_001, 999_999):
            between = table[points] + (table[points + 1] - table[points]) * rest // 1_000_000
            assert expectation(points * 1_000_000 + rest) == between
            assert expectation(-points * 1_000_000 - rest) == 10**9 - between
    assert expectation(2_000_000_001) == expectation(5_000_000_000) == table[2000]
