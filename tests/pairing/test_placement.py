"""Siblings in a knockout meet as late as swaps of seeds within a tier allow."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.pairing import Entrant, PairingInput, PairingRound
from referee.pairing.bracket_state import BracketState, serpentine, shape
from referee.pairing.knockout import Knockout, render_bracket
from referee.pairing.placement import BracketLayout, layout_of_pairs, layout_of_tables, place_siblings
from referee.ratings.elo import MICRO
from tests.pairing.test_knockout import KNOCKOUT, after, leg, tables, to_the_end, tournament

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def owned(owners: Sequence[str], seats: int = 2, **options: object) -> PairingInput:
    """Return a knockout in which the n-th seed, named by its letter or number, has the n-th owner."""
    names = LETTERS[: len(owners)] if len(owners) <= len(LETTERS) else [f"{at:02}" for at in range(len(owners))]
    drawn = tournament(names, seats, **options)
    return replace(
        drawn,
        entrants=tuple(
            replace(entrant, owner=owner.strip()) for entrant, owner in zip(drawn.entrants, owners, strict=True)
        ),
    )


def alone(before: PairingInput) -> PairingInput:
    """Return the same tournament as if every bot had another owner."""
    return replace(before, entrants=tuple(replace(entrant, owner=entrant.id) for entrant in before.entrants))


def pairs_in_parts(owners: Sequence[str], seeds: Sequence[int], parts: Sequence[int]) -> int:
    """Return the number of pairs of siblings in the same part."""
    placed = [(parts[position], owners[seed]) for position, seed in enumerate(seeds) if owners[seed]]
    return sum(one == two for one, two in combinations(placed, 2))


def placements(layout: BracketLayout, field: int) -> list[list[int]]:
    """Return all placements that swaps within tiers can reach."""
    found = []
    for orders in product(*(permutations(tier) for tier in layout.tiers)):
        seeds = list(range(field))
        for tier, order in zip(layout.tiers, orders, strict=True):
            for position, seed in zip(tier, order, strict=True):
                seeds[position] = seed
        found.append(seeds)
    return found


FIELDS = st.integers(2, 64).flatmap(
    lambda field: st.lists(st.sampled_from(LETTERS + " "), min_size=field, max_size=field)
)
FEW_OWNERS = st.integers(1, 6).flatmap(
    lambda owners: st.lists(st.sampled_from((LETTERS[:owners] + " ")[:owners]), min_size=3, max_size=9)
)


def stripped(owners: Sequence[str]) -> tuple[str, ...]:
    return tuple(owner.strip() for owner in owners)


# -- tables of two --


def test_the_weaker_sibling_changes_to_the_other_half_with_its_neighbour() -> None:
    # A meets H, then the winner of D and E: D, whose owner is that of A, swaps with C.
    first = owned("x  x    ")

    assert tables(KNOCKOUT.next_round(alone(first))) == [{*"AH"}, {*"BG"}, {*"CF"}, {*"DE"}]
    assert tables(KNOCKOUT.next_round(first)) == [{*"AH"}, {*"BG"}, {*"DF"}, {*"CE"}]
    assert render_bracket(after(first))["rounds"][0]["tables"][2]["entrants"][0]["seed"] == 3


@settings(max_examples=60, deadline=None)
@given(FIELDS)
def test_seeds_swap_within_their_tiers_only(drawn: list[str]) -> None:
    owners = stripped(drawn)

    seeds = place_siblings(owners, layout_of_pairs(len(owners)))

    tiers = [(position + 1 if position < 2 else position.bit_length() + 1) for position in range(len(owners))]
    assert [tiers[seed] for seed in seeds] == tiers
    assert sorted(seeds) == list(range(len(owners)))
    assert seeds[:2] == (0, 1)


@settings(max_examples=50, deadline=None)
@given(FEW_OWNERS)
def test_no_swaps_bring_fewer_siblings_into_the_same_half(drawn: list[str]) -> None:
    owners = stripped(drawn)
    layout = layout_of_pairs(len(owners))
    halves = layout.parts[0]

    seeds = place_siblings(owners, layout)

    fewest = min(pairs_in_parts(owners, other, halves) for other in placements(layout, len(owners)))
    assert pairs_in_parts(owners, seeds, halves) == fewest


def test_bots_of_others_link_two_tiers_that_have_no_owner_in_common() -> None:
    # The second of x can leave the half of the first only in exchange for C, and then meets the other bot of y there.
    owners = ("x", "", "y", "x", "y", "", "", "y")
    layout = layout_of_pairs(8)

    seeds = place_siblings(owners, layout)

    fewest = min(pairs_in_parts(owners, other, layout.parts[0]) for other in placements(layout, 8))
    assert pairs_in_parts(owners, seeds, layout.parts[0]) == fewest


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


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 64), st.sampled_from([2, 3, 4]), st.sampled_from(["rating", "draw"]))
def test_without_siblings_the_bracket_is_that_of_the_seeds(field: int, seats: int, seeding: str) -> None:
    if field < seats:
        return
    nobodys = owned([""] * field, seats, seeding=seeding)

    assert BracketState(alone(nobodys)).field == BracketState(nobodys).field_by_strength
    assert KNOCKOUT.next_round(alone(nobodys)) == KNOCKOUT.next_round(nobodys)


def test_if_all_have_one_owner_nobody_swaps() -> None:
    for field in range(2, 40):
        assert place_siblings(("x",) * field, layout_of_pairs(field)) == tuple(range(field))


@settings(max_examples=50, deadline=None)
@given(FIELDS)
def test_a_round_that_was_paired_by_strength_alone_stays(drawn: list[str]) -> None:
    first = owned(drawn)
    paired_before = after(alone(first))

    upgraded = replace(paired_before, entrants=first.entrants)

    assert render_bracket(upgraded) == render_bracket(paired_before)
    assert KNOCKOUT.next_round(upgraded) == KNOCKOUT.next_round(paired_before)


@settings(max_examples=50, deadline=None)
@given(FIELDS)
def test_the_bracket_follows_from_its_first_round(drawn: list[str]) -> None:
    first = owned(drawn)

    second = after(first)

    assert [*BracketState(second).seeds] == [*BracketState(first).field]


def test_siblings_who_always_win_meet_in_the_final() -> None:
    end = to_the_end(owned("x  x" + " " * 28))  # the stronger wins, except that D is in the half of B

    (final,) = end.played[-1].round.tables
    assert {*final.entrants} == {"00", "01"}
    assert {*(entrant for table in end.played[-2].round.tables for entrant in table.entrants)} == {
        "00",
        "01",
        "02",
        "03",
    }
    assert {"00", "03"} not in [{*table.entrants} for played in end.played for table in played.round.tables]


# -- larger tables --


@settings(max_examples=50, deadline=None)
@given(st.integers(4, 40), st.data())
def test_larger_tables_swap_within_rows(field: int, data: st.DataObject) -> None:
    owners = stripped(data.draw(st.lists(st.sampled_from(LETTERS + " "), min_size=field, max_size=field)))
    cut = shape(field, 4, 1)
    at_tables = serpentine(cut.byes, cut.sizes)
    layout = layout_of_tables(field, at_tables)

    seeds = place_siblings(owners, layout)

    before = pairs_in_parts(owners, range(field), layout.parts[0])
    assert sorted(seeds) == list(range(field))
    assert seeds[: cut.byes + len(cut.advancing)] == tuple(range(cut.byes + len(cut.advancing)))
    assert all(sorted(seeds[position] for position in tier) == [*tier] for tier in layout.tiers)
    assert pairs_in_parts(owners, seeds, layout.parts[0]) <= before


def test_siblings_sit_at_different_tables_of_four() -> None:
    first = owned("x      x   y   y", 4, advance=2)  # the seeds would seat A with H, not L with P

    assert tables(KNOCKOUT.next_round(alone(first))) == [{*"AHIP"}, {*"BGJO"}, {*"CFKN"}, {*"DELM"}]
    assert tables(KNOCKOUT.next_round(first)) == [{*"AGIP"}, {*"BHJO"}, {*"CFKN"}, {*"DELM"}]


def test_siblings_who_advance_are_kept_apart_in_later_rounds() -> None:
    # Without siblings, the second round is A D G F and B C H E.
    second = after(owned("x  x            ", 4, advance=2))

    assert tables(KNOCKOUT.next_round(alone(second))) == [{*"ADGF"}, {*"BCHE"}]
    assert not any({"A", "D"} <= table for table in tables(KNOCKOUT.next_round(second)))


def test_a_table_that_was_paired_by_strength_alone_lets_as_many_advance() -> None:
    # 11 entrants at tables of four have three byes and two tables, from which three and two entrants advance.
    running = owned("   x   x   ", 4, advance=2, tie_breaks=1)
    pairing_round: PairingRound | None = KNOCKOUT.next_round(alone(running))
    assert pairing_round is not None
    first, second = pairing_round.tables
    assert {"D", "H"} <= {*second.entrants} or {"D", "H"} <= {*first.entrants}

    for table, advancing in ((first, 3), (second, 2)):
        for tied in (2, 3):  # the entrant who is placed so is tied with the next one
            placements = tuple(at if at != tied + 1 else tied for at in range(1, 5))
            legs = [replace(leg(table.entrants), placements=placements)]
            assert (Knockout().more_legs(running, table, legs) > 0) == (tied == advancing)


def test_an_entrant_without_an_owner_is_nobodys_sibling() -> None:
    entrants = tuple(Entrant(name, rating=(2000 - at) * MICRO) for at, name in enumerate("ABCDEFGH"))

    assert BracketState(replace(tournament("ABCDEFGH"), entrants=entrants)).field == (*"ABCDEFGH",)
