"""Standings: points, byes, tie-breaks in order, shared ranks."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.pairing import Entrant, Leg, PairingInput, PlayedRound, formats
from referee.pairing.history import read_history
from referee.standings import (
    TIE_BREAKS,
    MatchOutcome,
    RankedEntrant,
    ScoredBye,
    compute_standings,
    compute_tournament_standings,
    points,
)

NONE, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)
some = settings(max_examples=20, deadline=None, derandomize=True, database=None)


def outcome(entrants: Any, placements: Any, group: str = "g", **others: Any) -> MatchOutcome:
    return MatchOutcome(entrants, placements, [0] * len(placements), group, **others)


def column(rows: list[RankedEntrant], name: str) -> dict[Any, float | None]:
    """Return a column by entrant, as decimals like the published ones."""
    values = {row.entrant: row.tie_breaks[name] for row in rows}
    return {entrant: None if value is None else float(value) for entrant, value in values.items()}


def places(rows: list[RankedEntrant]) -> dict[Any, int]:
    return {row.entrant: row.rank for row in rows}


# -- points and places --


def test_points_are_the_share_of_opponents_left_behind() -> None:
    assert points([1, 2]) == [1, 0]
    assert points([1, 1]) == [HALF] * 2
    # Second of four: one behind of three. The tied pair at 3: half of one of three.
    assert points([1, 2, 3, 3]) == [1, Fraction(2, 3), Fraction(1, 6), Fraction(1, 6)]


def test_equals_in_everything_share_a_place_and_the_next_one_is_left_out() -> None:
    rows = compute_standings(
        "ABCD", [MatchOutcome("AB", [1, 2], [3, -3], "g"), MatchOutcome("CD", [1, 2], [5, -5], "g")]
    )

    assert [(row.rank, row.entrant, row.matches, row.points, row.wins, row.returns) for row in rows] == [
        (1, "A", 1, ONE, 1, 3),
        (1, "C", 1, ONE, 1, 5),
        (3, "B", 1, Fraction(0), 0, -3),
        (3, "D", 1, Fraction(0), 0, -5),
    ]


def test_an_entrant_without_a_match_stands_with_nothing() -> None:
    assert [(row.rank, row.matches, row.points) for row in compute_standings("AB", [])] == [(1, 0, NONE), (1, 0, NONE)]
    assert compute_standings("", []) == []


def test_a_first_place_that_is_shared_is_drawn_and_any_other_place_lost() -> None:
    rows = compute_standings("ABC", [outcome("AB", [1, 1]), outcome("ABC", [1, 1, 3]), outcome("ABC", [1, 2, 2])])

    assert [(row.entrant, row.wins, row.draws, row.losses) for row in rows] == [
        ("A", 1, 2, 0),
        ("B", 0, 2, 1),
        ("C", 0, 0, 2),
    ]


def test_a_bye_brings_its_points_and_is_no_match() -> None:
    rows = compute_standings("ABC", [outcome("AB", [1, 2])], [ScoredBye("C", HALF)])

    assert [(row.entrant, row.points, row.matches, row.byes) for row in rows] == [
        ("A", 1, 1, 0),
        ("C", HALF, 0, 1),
        ("B", 0, 1, 0),
    ]


def test_a_seat_played_by_a_substitute_brings_its_entrant_nothing_and_the_others_their_points() -> None:
    rows = compute_standings("ABC", [outcome("ABC", [1, 2, 3], scored=(False, True, True))])

    assert [(row.entrant, row.points, row.matches) for row in rows] == [("B", HALF, 1), ("A", 0, 0), ("C", 0, 1)]


# -- published worked examples --

# IA Mario Held, Exercises in Tie-Breaking (rev. 2403220900, for FIDE Handbook C.07 of 2023), pages 10 to 50: 16
# players, 5 rounds. "9+" won against 9, "=" drew, "-" lost; H a bye of half a point, U and F (a forfeit) of one,
# Z a round without a point between others; a round that is missing at the end was not played after leaving.
HELD_SWISS = {
    1: "9+ 13= 2= 15+ 4=", 2: "10+ 7+ 1= 16+ 3=", 3: "11= 6+ 8+ 4= 2=", 4: "12+ H 13+ 3= 1=",
    5: "13- 15- 11+ 7= 10+", 6: "14- 3- U 10+ 8+", 7: "15+ 2- 16- 5= 11-", 8: "16= 14+ 3- 13+ 6-",
    9: "1- 10- H Z U", 10: "2- 9+ 15- 6- 5-", 11: "3= 16- 5- F 7+", 12: "4- U F",
    13: "5+ 1= 4- 8- 14-", 14: "6+ 8- Z Z 13+", 15: "7- 5+ 10+ 1- 16-", 16: "8= 11+ 7+ 2- 15+",
}  # fmt: skip
HELD_POINTS = [3.5, 4.0, 3.5, 3.5, 2.5, 3.0, 1.5, 2.5, 1.5, 1.0, 2.5, 2.0, 1.5, 2.0, 2.0, 3.5]
HELD_BUCHHOLZ = [12.5, 13.0, 15.5, 15.0, 8.5, 12.0, 14.5, 13.5, 9.0, 13.0, 13.5, 11.5, 14.0, 11.0, 12.0, 12.5]
HELD_SONNEBORN_BERGER = [8, 9.5, 10.5, 9.75, 4.25, 6.5, 3.25, 5.25, 2.25, 1.5, 5.75, 4, 4.25, 4.5, 3.5, 7.25]
HELD_GAMES_WON = [2, 3, 2, 2, 2, 2, 1, 2, 0, 1, 1, 0, 1, 2, 2, 3]
# The same paper's round-robin of six; the game 5 against 6, forfeited, counts as played there.
HELD_ROUND_ROBIN = {
    1: "5= 2+ 3+ 4- 6+", 2: "6+ 1- 5+ 3= 4+", 3: "4+ 6+ 1- 2= 5+",
    4: "3- 5- 6= 1+ 2-", 5: "1= 4+ 2- 6- 3-", 6: "2- 3- 4= 5+ 1-",
}  # fmt: skip


def played(sheet: Mapping[int, str]) -> tuple[list[MatchOutcome], list[ScoredBye]]:
    results: list[MatchOutcome] = []
    byes: list[ScoredBye] = []
    for player, line in sheet.items():
        for word in line.split():
            if word[:-1]:
                rival = int(word[:-1])
                if player < rival:
                    results.append(outcome((player, rival), {"+": (1, 2), "=": (1, 1), "-": (2, 1)}[word[-1]]))
            else:
                byes.append(ScoredBye(player, {"H": HALF, "U": ONE, "F": ONE, "Z": NONE}[word]))
    return results, byes


def test_the_swiss_table_of_a_published_exercise() -> None:
    rows = compute_standings(HELD_SWISS, *played(HELD_SWISS), tie_breaks=TIE_BREAKS["swiss"])

    players = range(1, 17)
    assert column(rows, "points") == dict(zip(players, HELD_POINTS, strict=True))
    assert column(rows, "buchholz") == dict(zip(players, HELD_BUCHHOLZ, strict=True))
    assert column(rows, "sonneborn_berger") == dict(zip(players, HELD_SONNEBORN_BERGER, strict=True))
    assert column(rows, "wins") == dict(zip(players, HELD_GAMES_WON, strict=True))
    # 1 and 16 are level on Buchholz and never met: Sonneborn-Berger separates them. 8 and 11 likewise.
    assert [row.entrant for row in rows] == [2, 3, 4, 1, 16, 6, 11, 8, 5, 15, 12, 14, 7, 13, 9, 10]
    assert [row.rank for row in rows] == list(players)


def test_the_round_robin_of_a_published_exercise() -> None:
    rows = compute_standings(HELD_ROUND_ROBIN, *played(HELD_ROUND_ROBIN))

    assert places(rows) == {1: 1, 2: 2, 3: 2, 4: 6, 5: 5, 6: 4}
    assert column(rows, "sonneborn_berger") == {1: 9.25, 2: 6.25, 3: 6.25, 4: 4.25, 5: 3.25, 6: 2.25}
    assert column(rows, "head_to_head") == {1: 2, 2: 0.5, 3: 0.5, 4: 0.5, 5: 1, 6: 1.5}


# -- tie-breaks --


def test_tables_of_three_divide_what_opponents_bring() -> None:
    results = [
        outcome("ABC", [1, 2, 3]),  # A 1, B 1/2, C 0
        outcome("DEF", [1, 1, 3]),  # D and E 3/4
        outcome("ADF", [2, 1, 3]),  # D 1, A 1/2
        outcome("BCE", [1, 3, 1]),  # B and E 3/4
    ]

    rows = compute_standings("ABCDEF", results, tie_breaks=TIE_BREAKS["swiss"])

    assert column(rows, "points") == {"A": 1.5, "B": 1.25, "C": 0, "D": 1.75, "E": 1.5, "F": 0}
    # A: (B + C) / 2 + (D + F) / 2 = 5/8 + 7/8. F: (D + E) / 2 + (A + D) / 2.
    assert column(rows, "buchholz") == {"A": 1.5, "B": 1.5, "C": 2.75, "D": 1.5, "E": 1.5, "F": 3.25}
    # A was ahead of B and C, then of F: 5/8. E was level with D, before F, level with B, before C: 7/16 + 5/16.
    assert (column(rows, "sonneborn_berger")["A"], column(rows, "sonneborn_berger")["E"]) == (0.625, 0.75)
    assert column(rows, "head_to_head")["A"] is None  # A and E, tied so far, never met
    assert [row.entrant for row in rows] == ["D", "E", "A", "B", "F", "C"]


def test_meetings_count_again_among_those_who_are_still_tied() -> None:
    # A and B have 2 of 3, C and D 1; then A beat B, and D beat C.
    results = [outcome(pair, [1, 2]) for pair in ("AB", "AD", "CA", "BC", "BD", "DC")]

    rows = compute_standings("CBDA", results, tie_breaks=["head_to_head"])

    assert [(row.rank, row.entrant, row.tie_breaks["head_to_head"]) for row in rows] == [
        (1, "A", 2 * ONE),
        (2, "B", 2 * ONE),
        (3, "D", ONE),
        (4, "C", ONE),
    ]


def test_meetings_do_not_decide_unless_all_of_the_tied_met_equally_often() -> None:
    # All have one point of two; A beat B, nobody else of the three met.
    results = [outcome(pair, [1, 2]) for pair in ("AB", "XA", "BX", "CX", "XC")]

    rows = compute_standings("ABCX", results, tie_breaks=["points", "head_to_head"])

    assert places(rows) == {"X": 1, "A": 2, "B": 2, "C": 2}


def test_a_withdrawal_costs_opponents_half_a_point_of_buchholz_a_match_at_most() -> None:
    # W beat A, then left; A and B have one point each from two matches.
    results = [outcome(pair, [1, 2]) for pair in ("WA", "BC", "AC")]

    rows = compute_standings("ABCW", results, [ScoredBye("B", NONE)], tie_breaks=["points", "buchholz"])

    # A met W (1 point and 1/2 for the match it missed) and C (0). B met C and had a bye: its own point again.
    assert column(rows, "buchholz") == {"A": 1.5, "B": 1, "C": 2, "W": 2}


def test_a_gauntlet_is_ranked_by_points_per_match() -> None:
    # H, whom all others challenge, wins two of four; it has the most points, but no better a share than C.
    results = [outcome(("H", "A"), [1, 2]), outcome(("H", "B"), [1, 2]), outcome(("C", "H"), [1, 2])]
    results += [outcome(("D", "H"), [1, 1])]

    rows = compute_standings("HABCD", results, tie_breaks=TIE_BREAKS["gauntlet"])

    assert [(row.rank, row.entrant) for row in rows] == [(1, "C"), (2, "H"), (3, "D"), (4, "A"), (4, "B")]


def test_places_of_a_knockout_are_taken_as_given() -> None:
    knockout = compute_standings("ABC", [], tie_breaks=TIE_BREAKS["knockout"], given={"bracket": {"B": 1, "A": 2}})

    assert places(knockout) == {"B": 1, "A": 2, "C": 3}


def test_a_bye_of_a_swiss_stands_for_all_matches_of_its_round() -> None:
    # Round 1 plays each table's deal on both seats; a bye at tables of two is a win.
    results = [
        outcome("AB", [1, 2], tournament_round=1),
        outcome("BA", [1, 2], tournament_round=1),
        outcome("AC", [1, 2], tournament_round=2),
    ]

    rows = compute_tournament_standings("swiss", 2, "ABC", results, [(1, "C", "odd"), (2, "B", "odd")])

    assert [(row.entrant, row.byes) for row in rows] == [("A", 0), ("B", 1), ("C", 1)]
    assert column(rows, "points") == {"A": 2, "B": 2, "C": 2}
    assert column(rows, "buchholz") == {"A": 6, "B": 6, "C": 6}  # A met B twice and C; B A twice and itself; …


@pytest.mark.parametrize(("seats", "entrants"), [(2, 7), (3, 8), (4, 11)])
def test_a_swiss_pairs_by_the_points_that_its_table_shows(seats: int, entrants: int) -> None:
    dice, swiss = Random(seats), formats()["swiss"]
    people = tuple(Entrant(f"bot {number}") for number in range(entrants))
    tournament = PairingInput(seats, swiss.options({}, seats), 1, people, (), bytes(32))
    results: list[MatchOutcome] = []
    byes: list[tuple[int, str, str]] = []
    while pairing_round := swiss.next_round(tournament):
        number = len(tournament.played) + 1
        legs = []
        for table_of in pairing_round.tables:
            placed = [1 + dice.randrange(seats) for _ in range(seats)]
            legs.append((Leg(table_of.entrants, tuple(placed), (0,) * seats),))
            results.append(outcome(table_of.entrants, placed, tournament_round=number))
        byes += [(number, bye.entrant, bye.reason) for bye in pairing_round.byes]
        tournament = replace(tournament, played=(*tournament.played, PlayedRound(pairing_round, tuple(legs))))

    rows = compute_tournament_standings("swiss", seats, [entrant.id for entrant in people], results, byes)

    known = read_history(tournament)
    assert byes
    assert {row.entrant: row.points for row in rows} == {
        entrant: Fraction(score, 2 * (seats - 1)) for entrant, score in zip(known.ids, known.score, strict=True)
    }


def test_byes_of_other_formats_bring_nothing() -> None:
    (row,) = compute_tournament_standings("knockout", 2, "A", [], [(1, "A", "odd")], given={"bracket": {"A": 1}})

    assert (row.rank, row.points, row.byes) == (1, NONE, 0)


def test_every_format_declares_its_tie_breaks() -> None:
    assert set(formats()) <= set(TIE_BREAKS)


# -- properties --

ENTRANTS = "ABCDEFG"
Happened = tuple[list[MatchOutcome], list[ScoredBye]]


@st.composite
def tournaments(draw: st.DrawFn) -> Happened:
    """Return random matches among some of the entrants, unbalanced and incomplete."""

    def match(number: int) -> MatchOutcome:
        seated = draw(st.permutations(ENTRANTS))[: draw(st.integers(2, 4))]
        ranks = [draw(st.integers(1, 4)) for _ in seated]
        return MatchOutcome(
            tuple(seated),
            [1 + sum(other < own for other in ranks) for own in ranks],
            [draw(st.integers(-9, 9)) for _ in seated],
            f"group {number % 4}",
            scored=tuple(draw(st.sampled_from([True, True, True, False])) for _ in seated),
        )

    byes = st.builds(ScoredBye, st.sampled_from(ENTRANTS), st.sampled_from([HALF, ONE]))
    return [match(number) for number in range(draw(st.integers(0, 12)))], draw(st.lists(byes, max_size=3))


@some
@given(tournaments(), st.randoms(use_true_random=False))
def test_the_order_of_results_and_entrants_cannot_matter(tournament: Happened, dice: Any) -> None:
    results, byes = tournament
    for tie_breaks in TIE_BREAKS.values():
        rows = {row.entrant: row for row in compute_standings(ENTRANTS, results, byes, tie_breaks=tie_breaks)}
        mixed = dice.sample(results, len(results)), dice.sample(byes, len(byes))

        again = compute_standings(dice.sample(ENTRANTS, len(ENTRANTS)), *mixed, tie_breaks=tie_breaks)

        assert {row.entrant: row for row in again} == rows


@some
@given(tournaments())
def test_points_add_up_and_equals_share_a_place(tournament: Happened) -> None:
    full = [MatchOutcome(result.entrants, result.placements, result.returns, result.group) for result in tournament[0]]

    rows = compute_standings(ENTRANTS, full, tie_breaks=TIE_BREAKS["swiss"])

    assert sum(row.points for row in rows) == sum(Fraction(len(result.entrants), 2) for result in full)
    for above, below in pairwise(rows):
        assert above.points >= below.points
        assert above.rank <= below.rank
        if above.rank == below.rank:
            assert above.tie_breaks == below.tie_breaks
