"""Tables of two sizes: nobody is left over, smaller tables are shared out, and points are comparable."""

from collections import Counter
from fractions import Fraction
from functools import cache

from referee.pairing import Entrant, Leg, PairingInput, PairingRound, PlayedRound, Table, formats
from referee.pairing.history import read_history
from referee.pairing.round_robin import round_robin
from referee.pairing.sections import sections
from referee.pairing.table_sizes import split_tables

# -- sizes --


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
    assert split_tables(10, 4, 0) == (4, 4)  # without smaller tables, two are left over


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


def test_a_smaller_table_of_a_gauntlet_is_for_those_who_had_the_fewest() -> None:
    people = tuple(Entrant(letter, active=letter != "F") for letter in "ABCDEF")
    tournament = PairingInput(4, {}, 2, people, (ranked("ABC"), ranked("ADEF")), b"draw" * 8, 3)

    # B, C, D and E meet the champion A once more, in pairs.
    pairing_round = formats()["gauntlet"].next_round(tournament)

    assert pairing_round is not None
    assert [{*table.entrants} for table in pairing_round.tables] == [{"A", "D", "E"}]


def test_tables_of_different_sizes_do_not_share_their_cards() -> None:
    assert sections(["ABC", "DE", "FGH", "IJ"], {}) == [[0, 2], [1, 3]]
