"""Round-robin rounds: everyone meets everyone, nobody sits twice in a round, seats are balanced."""

from collections import Counter
from itertools import combinations

import pytest

from referee.errors import BadOption
from referee.pairing import round_robin


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


def test_seats_are_balanced_within_a_cycle() -> None:
    taken = Counter(
        (bot, seat)
        for pairing_round in round_robin(range(6), 3)
        for table in pairing_round
        for seat, bot in enumerate(table)
    )

    counts = [taken[bot, seat] for bot in range(6) for seat in range(3)]

    assert max(counts) - min(counts) <= 2  # 10 tables each, 3 seats: 3 or 4 at best


def test_too_few_bots_are_refused_with_the_numbers() -> None:
    with pytest.raises(BadOption, match="3 seats, but only 2"):
        round_robin("AB", 3)


def test_a_tournament_beyond_reason_is_refused() -> None:
    with pytest.raises(BadOption, match="at most"):
        round_robin(range(100), 4)
