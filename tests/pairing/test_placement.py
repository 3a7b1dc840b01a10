"""Siblings in a knockout meet as late as swaps of two seeds within a tier allow."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.pairing import PairingInput
from referee.pairing.bracket_state import BracketState, serpentine, shape
from referee.pairing.knockout import render_bracket
from referee.pairing.placement import layout_of_pairs, layout_of_tables, place_siblings
from tests.pairing.test_knockout import KNOCKOUT, after, leg, tables, to_the_end, tournament

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
some = settings(max_examples=50, deadline=None)


def owned(owners: Sequence[str], seats: int = 2, **options: object) -> PairingInput:
    """Return a knockout in which the n-th seed, named by its letter or number, has the n-th owner."""
    names = LETTERS[: len(owners)] if len(owners) <= len(LETTERS) else [f"{at:02}" for at in range(len(owners))]
    drawn = tournament(names, seats, **options)
    entrants = [replace(own, owner=owner.strip()) for own, owner in zip(drawn.entrants, owners, strict=True)]
    return replace(drawn, entrants=tuple(entrants))


def alone(before: PairingInput) -> PairingInput:
    """Return the same tournament as if every bot had another owner."""
    return replace(before, entrants=tuple(replace(entrant, owner=entrant.id) for entrant in before.entrants))


def pairs_in_parts(owners: Sequence[str], seeds: Sequence[int], parts: Sequence[int]) -> int:
    """Return the number of pairs of siblings in the same part."""
    placed = [(parts[position], owners[seed]) for position, seed in enumerate(seeds) if owners[seed]]
    return sum(one == two for one, two in combinations(placed, 2))


def fields(least: int, most: int) -> st.SearchStrategy[tuple[str, ...]]:
    """Draw the owners of a field, "" for none."""
    owners = st.sampled_from([*LETTERS, ""])
    return st.integers(least, most).flatmap(lambda field: st.tuples(*[owners] * field))


# -- tables of two --


def test_the_weaker_sibling_changes_to_the_other_half_with_its_neighbour() -> None:
    # A meets H, then the winner of D and E: D, whose owner is that of A, swaps with C.
    first = owned("x  x    ")

    assert tables(KNOCKOUT.next_round(alone(first))) == [{*"AH"}, {*"BG"}, {*"CF"}, {*"DE"}]
    assert tables(KNOCKOUT.next_round(first)) == [{*"AH"}, {*"BG"}, {*"DF"}, {*"CE"}]
    assert render_bracket(after(first))["rounds"][0]["tables"][2]["entrants"][0]["seed"] == 3


@some
@given(fields(2, 64))
def test_seeds_swap_within_their_tiers_only_and_the_bracket_follows_from_its_first_round(
    owners: tuple[str, ...],
) -> None:
    layout, first = layout_of_pairs(len(owners)), owned(owners)

    seeds = place_siblings(owners, layout)

    tiers = [(position + 1 if position < 2 else position.bit_length() + 1) for position in range(len(owners))]
    assert [tiers[seed] for seed in seeds] == tiers
    assert sorted(seeds) == list(range(len(owners)))
    assert seeds[:2] == (0, 1)
    for halves in layout.parts[:1]:
        assert pairs_in_parts(owners, seeds, halves) <= pairs_in_parts(owners, range(len(owners)), halves)
    assert [*BracketState(after(first)).seeds] == [*BracketState(first).field]


@pytest.mark.parametrize("field", [*range(3, 20), 31, 32, 47])
def test_two_siblings_meet_only_in_the_final_if_one_of_their_tiers_allows_it(field: int) -> None:
    layout = layout_of_pairs(field)
    halves = layout.parts[0]
    tier_of = {position: tier for tier in ((0,), (1,), *layout.tiers) for position in tier}
    for one, two in combinations(range(field), 2):
        owners = tuple("x" if seed in (one, two) else "" for seed in range(field))

        seeds = place_siblings(owners, layout)

        apart = any(halves[a] != halves[b] for a in tier_of[one] for b in tier_of[two] if a != b)
        assert (halves[seeds.index(one)] != halves[seeds.index(two)]) == apart
        assert apart or seeds == tuple(range(field))


@pytest.mark.parametrize("field", [8, 16, 32, 64])
def test_four_siblings_meet_in_the_semi_finals(field: int) -> None:
    layout = layout_of_pairs(field)
    for number in range(60):
        family = {(7 * number + step * (3 + number // 7)) % field for step in range(4)}
        owners = tuple("x" if seed in family else "" for seed in range(field))

        seeds = place_siblings(owners, layout)

        assert len({layout.parts[1][seeds.index(seed)] for seed in family}) == len(family), family


@some
@given(st.integers(4, 64), st.sampled_from([2, 3, 4]), st.sampled_from(["rating", "draw"]))
def test_without_siblings_the_bracket_is_that_of_the_seeds(field: int, seats: int, seeding: str) -> None:
    nobodys = owned([""] * field, seats, seeding=seeding)

    assert KNOCKOUT.next_round(alone(nobodys)) == KNOCKOUT.next_round(nobodys)
    if seeding == "rating":
        assert BracketState(nobodys).field == tuple(entrant.id for entrant in nobodys.entrants)
    assert place_siblings(("x",) * field, layout_of_pairs(field)) == tuple(range(field))  # all have one owner


def test_siblings_who_always_win_meet_in_the_final() -> None:
    end = to_the_end(owned("x  x" + " " * 28))  # the stronger wins, except that D is in the half of B

    (final,) = end.played[-1].round.tables
    assert {*final.entrants} == {"00", "01"}
    semi_finalists = {entrant for table in end.played[-2].round.tables for entrant in table.entrants}
    assert semi_finalists == {"00", "01", "02", "03"}
    assert {"00", "03"} not in [{*table.entrants} for played in end.played for table in played.round.tables]


# -- larger tables --


@some
@given(fields(4, 40))
def test_larger_tables_swap_within_rows(owners: tuple[str, ...]) -> None:
    field = len(owners)
    cut = shape(field, 4, 1)
    layout = layout_of_tables(field, serpentine(cut.byes, cut.sizes))

    seeds = place_siblings(owners, layout)

    before = pairs_in_parts(owners, range(field), layout.parts[0])
    assert sorted(seeds) == list(range(field))
    assert seeds[: cut.byes + len(cut.advancing)] == tuple(range(cut.byes + len(cut.advancing)))
    assert all(sorted(seeds[position] for position in tier) == [*tier] for tier in layout.tiers)
    assert pairs_in_parts(owners, seeds, layout.parts[0]) <= before


def test_siblings_sit_at_different_tables_of_four_in_the_first_round_and_later() -> None:
    first = owned("x      x   y   y", 4, advance=2)  # the seeds would seat A with H, not L with P
    second = after(owned("x  x            ", 4, advance=2))

    assert tables(KNOCKOUT.next_round(alone(first))) == [{*"AHIP"}, {*"BGJO"}, {*"CFKN"}, {*"DELM"}]
    assert tables(KNOCKOUT.next_round(first)) == [{*"AGIP"}, {*"BHJO"}, {*"CFKN"}, {*"DELM"}]
    assert tables(KNOCKOUT.next_round(alone(second))) == [{*"ADGF"}, {*"BCHE"}]
    assert not any({"A", "D"} <= table for table in tables(KNOCKOUT.next_round(second)))


def test_tie_breaks_are_played_where_a_table_lets_entrants_advance() -> None:
    # 11 entrants at tables of four have three byes and two tables, from which three and two entrants advance.
    running = owned("   x   x   ", 4, advance=2, tie_breaks=1)
    pairing_round = KNOCKOUT.next_round(running)
    assert pairing_round is not None

    for table, advancing in zip(pairing_round.tables, (3, 2), strict=True):
        for tied in (2, 3):  # the entrant who is placed so is tied with the next one
            placements = tuple(at if at != tied + 1 else tied for at in range(1, 5))
            legs = [replace(leg(table.entrants), placements=placements)]
            assert (KNOCKOUT.more_legs(running, table, legs) > 0) == (tied == advancing)
