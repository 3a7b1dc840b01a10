"""Round-robin rounds: everyone meets everyone, nobody sits twice in a round, seats are balanced."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import BadOption
from referee.pairing import round_robin
from referee.pairing.seat_balance import balance_seats


@pytest.mark.parametrize(("bots", "seats"), [(n, k) for k in range(2, 6) for n in range(k, 9)])
@pytest.mark.parametrize("cycles", [1, 2])
def test_every_table_meets_once_a_cycle(bots: int, seats: int, cycles: int) -> None:
    rounds = round_robin(range(bots), seats, cycles)

    met = Counter(tuple(sorted(table)) for pairing_round in rounds for table in pairing_round)

    assert met == dict.fromkeys(combinations(range(bots), seats), cycles)
    for pairing_round in rounds:
        assert len({bot for table in pairing_round for bot in table}) == seats * len(pairing_round)


@pytest.mark.parametrize("bots", range(2, 12))
def test_two_cycles_give_everybody_each_seat_against_everybody(bots: int) -> None:
    tables = [table for pairing_round in round_robin(range(bots), 2, 2) for table in pairing_round]

    assert sorted(tables) == sorted(
        (entrant, other) for entrant in range(bots) for other in range(bots) if entrant != other
    )


@pytest.mark.parametrize(("bots", "rounds"), [(4, 3), (5, 5), (6, 5), (7, 7)])
def test_pairs_need_no_more_rounds_than_the_circle_method(bots: int, rounds: int) -> None:
    assert len(round_robin(range(bots), 2)) == rounds


def seat_counts(tables: Sequence[tuple[int, ...]]) -> dict[int, list[int]]:
    counts: dict[int, list[int]] = {bot: [0] * len(tables[0]) for table in tables for bot in table}
    for table in tables:
        for seat, bot in enumerate(table):
            counts[bot][seat] += 1
    return counts


@pytest.mark.parametrize(("bots", "seats"), [(n, k) for k in range(2, 7) for n in range(k, 11)])
@pytest.mark.parametrize("cycles", [1, 2, 3, 4])
def test_seats_are_as_even_as_the_numbers_allow(bots: int, seats: int, cycles: int) -> None:
    tables = [table for pairing_round in round_robin(range(bots), seats, cycles) for table in pairing_round]

    for counts in seat_counts(tables).values():
        assert max(counts) - min(counts) == (sum(counts) % seats > 0)


def test_nobody_has_a_seat_again_against_the_same_in_the_second_cycle() -> None:
    tables = [table for pairing_round in round_robin(range(8), 4, 2) for table in pairing_round]
    first, second = tables[:70], tables[70:]

    assert not [
        bot
        for before, after in zip(first, second, strict=True)
        for bot, again in zip(before, after, strict=True)
        if bot == again
    ]


@given(
    seats=st.integers(2, 6),
    sizes=st.lists(st.integers(0, 6), max_size=8),
    random=st.randoms(use_true_random=False),
)
def test_any_schedule_can_be_balanced(seats: int, sizes: list[int], random: Random) -> None:
    schedule = [[tuple(random.sample(range(9), seats)) for _ in range(size)] for size in sizes]

    balanced = balance_seats(schedule)

    assert [[sorted(table) for table in tables] for tables in balanced] == [
        [sorted(table) for table in tables] for tables in schedule
    ]
    if tables := [table for pairing_round in balanced for table in pairing_round]:
        for counts in seat_counts(tables).values():
            assert max(counts) - min(counts) <= 1
    assert balance_seats(balanced) == balanced


def test_too_few_bots_are_refused_with_the_numbers() -> None:
    with pytest.raises(BadOption, match="3 seats, but only 2"):
        round_robin("AB", 3)


def test_a_tournament_beyond_reason_is_refused() -> None:
    with pytest.raises(BadOption, match="at most"):
        round_robin(range(100), 4)
