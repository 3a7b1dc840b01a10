"""Tables of two sizes: nobody is left over, smaller tables are shared out, and points are comparable."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from random import Random

import pytest

from referee.pairing import Entrant, Leg, PairingInput, PairingRound, PlayedRound, Table, formats
from referee.pairing.history import read_history
from referee.pairing.round_robin import round_robin
from referee.pairing.sections import sections
from referee.pairing.table_sizes import split_tables
from tools.simulate.invariants import check, small_spread
from tools.simulate.simulation import History, Mishaps, Scenario, play_to_end

FIELDS = [(3, 5, 7, 8, 10, 13, 21), pytest.param(range(3, 41), marks=pytest.mark.long)]  # numbers of entrants


def play(name: str, entrants: int, seats: int, min_seats: int = 2, **options: object) -> History:
    """Play a tournament without mishaps, every two entrants having one owner, and check its invariants."""
    known = formats()[name]
    people = tuple(Entrant(f"e{number}", f"owner {number // 2}") for number in range(entrants))
    complete = known.options(options, seats)
    known.check(entrants, seats, complete, 1, min_seats)
    tournament = PairingInput(seats, complete, 1, people, (), b"draw" * 8, min_seats)
    history = play_to_end(Scenario(known, tournament, Mishaps()), Random(entrants * 100 + seats))
    check(history)
    return history


def count_byes(history: History) -> int:
    return sum(len(pairing_round.byes) for _, pairing_round in history.decided)


# -- sizes --


@pytest.mark.parametrize(
    ("entrants", "seats", "min_seats", "sizes"),
    [
        (10, 4, 2, (4, 3, 3)),
        (10, 4, 0, (4, 4)),  # two are left over
        (12, 4, 2, (4, 4, 4)),
        (5, 4, 2, (3, 2)),
        (5, 4, 3, (4,)),  # 3 + 2 is not allowed, so one is left over
        (3, 4, 2, (3,)),
        (1, 4, 2, ()),
        (7, 2, 2, (2, 2, 2)),
    ],
)
def test_entrants_share_tables_of_nearly_equal_sizes(
    entrants: int, seats: int, min_seats: int, sizes: tuple[int, ...]
) -> None:
    assert split_tables(entrants, seats, min_seats) == sizes


def test_as_few_as_possible_are_left_over() -> None:
    for seats in range(3, 11):
        for least in range(2, seats + 1):

            @cache
            def most_seated(entrants: int, seats: int = seats, least: int = least) -> int:
                tables = range(least, min(seats, entrants) + 1)
                return max((size + most_seated(entrants - size, seats, least) for size in tables), default=0)

            for entrants in range(1, 41):
                sizes = split_tables(entrants, seats, least)
                assert sum(sizes) == most_seated(entrants, seats, least)
                assert all(least <= size <= seats for size in sizes)
                assert not sizes or sizes[0] - sizes[-1] <= 1


# -- formats --


@pytest.mark.parametrize("fields", FIELDS, ids=["few", "all"])
@pytest.mark.parametrize("seats", range(3, 11))
def test_nobody_is_idle_in_a_knockout_and_challengers_meet_the_champion_equally_often(
    seats: int, fields: Sequence[int]
) -> None:
    for entrants in (count for count in fields if count >= seats):
        assert count_byes(play("knockout", entrants, seats)) == 0
        for advance in range(2, min(seats, 4)):
            play("knockout", entrants, seats, advance=advance, best_of=2, tie_breaks=1)
        play("knockout", entrants, seats, min_seats=seats - 1)
        decided = play("gauntlet", entrants, seats).decided
        tables = (table for _, pairing_round in decided for table in pairing_round.tables)
        met = Counter(entrant for table in tables for entrant in table.entrants)
        assert sorted(met.values())[:-1] == [1] * (entrants - 1)


def test_the_best_seeds_of_a_knockout_sit_at_the_smaller_tables() -> None:
    first = play("knockout", 10, 4).decided[0][1]

    assert [len(table.entrants) for table in first.tables] == [3, 3, 4]


@pytest.mark.parametrize(
    ("entrants", "seats"),
    [
        *((count, seats) for count in (5, 7) for seats in range(3, count + 1)),
        *((10, 4), (13, 7), (25, 4)),
        *(pytest.param(count, seats, marks=pytest.mark.long) for count in (10, 13) for seats in (3, 5, 6, 8, 9, 10)),
        *(pytest.param(*size, marks=pytest.mark.long) for size in ((31, 8), (38, 10), (40, 3))),
    ],
)
def test_nobody_is_idle_in_a_swiss_and_smaller_tables_are_shared_out(entrants: int, seats: int) -> None:
    history = play("swiss", entrants, seats, rounds=4 if entrants < 25 else 3)

    assert count_byes(history) == 0
    assert small_spread(history) <= 1


def test_who_does_not_fit_a_swiss_with_smaller_tables_has_a_bye() -> None:
    assert count_byes(play("swiss", 5, 4, min_seats=3, rounds=3)) == 3


@pytest.mark.parametrize(
    "fields", [(*range(3, 13), 17), pytest.param((26, 40), marks=pytest.mark.long)], ids=["small", "large"]
)
@pytest.mark.parametrize("seats", range(3, 11))
def test_everyone_plays_every_round_of_a_round_robin_and_meets_about_equally_often(
    seats: int, fields: Sequence[int]
) -> None:
    for entrants in (count for count in fields if count >= seats and (count, seats) != (4, 3)):
        rounds = round_robin(range(entrants), seats, min_seats=2)
        met = Counter(pair for tables in rounds for table in tables for pair in combinations(sorted(table), 2))
        sat = Counter((len(table), entrant) for tables in rounds for table in tables for entrant in table)
        meetings = [met[pair] for pair in combinations(range(entrants), 2)]

        assert len(rounds) == entrants
        assert all(sorted(entrant for table in tables for entrant in table) == [*range(entrants)] for tables in rounds)
        assert len({*sat.values()}) <= 2
        assert all(len({sat[size, entrant] for entrant in range(entrants)}) == 1 for size, _ in sat)
        assert min(meetings) > 0
        assert max(meetings) - min(meetings) <= 4


def test_five_entrants_at_tables_of_three_and_two_have_equal_seats_and_four_play_at_tables_of_three() -> None:
    seats = Counter(
        (entrant, len(table), seat)
        for tables in round_robin("ABCDE", 3, min_seats=2)
        for table in tables
        for seat, entrant in enumerate(table)
    )

    assert len(seats) == seats.total() == 5 * 5
    assert round_robin("ABCD", 3, min_seats=2) == round_robin("ABCD", 3)


# -- points and deals --


def ranked(*tables: str) -> PlayedRound:
    """Return a round whose tables ended in seat order."""
    legs = tuple((Leg(tuple(table), tuple(range(1, len(table) + 1)), (0,) * len(table)),) for table in tables)
    return PlayedRound(PairingRound(tuple(Table(leg.entrants) for (leg,) in legs)), legs)


def test_the_swiss_pairs_by_shares_of_opponents_beaten() -> None:
    people = tuple(Entrant(letter) for letter in "ABCDEFG")

    history = read_history(PairingInput(4, {"rounds": 3}, 1, people, (ranked("ABCD", "EFG"),), b"draw" * 8, 3))

    shares = {id: Fraction(score, 2 * history.unit) for id, score in zip(history.ids, history.score, strict=True)}
    assert shares["A"] == shares["E"] == 1
    assert shares["D"] == shares["G"] == 0
    assert (shares["B"], shares["C"], shares["F"]) == (Fraction(2, 3), Fraction(1, 3), Fraction(1, 2))
    assert {id: small for id, small in zip(history.ids, history.small, strict=True) if small} == dict.fromkeys("EFG", 1)


def test_a_late_entrant_does_not_have_to_catch_up_on_smaller_tables() -> None:
    people = (*(Entrant(letter) for letter in "ABCDE"), Entrant("F", first_round=2))
    played, second = ranked("ABC", "DE"), ranked("ABCDE")

    late = read_history(PairingInput(3, {"rounds": 3}, 1, people, (played, played), b"draw" * 8, 2))
    history = read_history(PairingInput(5, {"rounds": 3}, 1, people, (played, second), b"draw" * 8, 2))

    assert late.small[late.ids.index("D")] == 2
    assert history.small[history.ids.index("F")] == 0


def test_tables_of_different_sizes_do_not_share_their_cards() -> None:
    assert sections(["ABC", "DE", "FGH", "IJ"], {}) == [[0, 2], [1, 3]]
