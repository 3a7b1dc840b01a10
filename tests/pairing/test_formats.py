"""Round robins and gauntlets, deal groups, and random seating."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.errors import BadOption
from referee.pairing import Entrant, PairingInput, PairingRound, PlayedRound, formats, round_robin, sections
from referee.pairing.seat_balance import balance_seats
from referee.pairing.seating import assign_seats
from referee.pairing.seeded_random import shuffle


def tournament_of(
    format: str, seats: int, entrants: int, *, cycles: int = 1, champion: str | None = None
) -> PairingInput:
    known = formats()[format]
    given_options = {"champion": champion} if format == "gauntlet" else {}
    people = tuple(Entrant(f"e{at}") for at in range(entrants))
    return PairingInput(seats, known.options(given_options, seats), cycles, people, (), b"draw" * 8)


def after(tournament: PairingInput, pairing_round: PairingRound) -> PairingInput:
    return replace(
        tournament, played=(*tournament.played, PlayedRound(pairing_round, ((),) * len(pairing_round.tables)))
    )


def carried_out(format: str, tournament: PairingInput) -> list[PairingRound]:
    rounds = []
    while (pairing_round := formats()[format].next_round(tournament)) is not None:
        seated = {entrant for table in pairing_round.tables for entrant in table.entrants}
        assert len(seated) == tournament.seats * len(pairing_round.tables)
        rounds.append(pairing_round)
        tournament = after(tournament, pairing_round)
    return rounds


def one_match(seats: int) -> int:
    return 1


def tables(rounds: list[PairingRound]) -> list[tuple[str, ...]]:
    return [table.entrants for pairing_round in rounds for table in pairing_round.tables]


# -- round robins --


def seat_counts(tables: Sequence[tuple[int, ...]]) -> dict[int, list[int]]:
    counts: dict[int, list[int]] = {bot: [0] * len(tables[0]) for table in tables for bot in table}
    for table in tables:
        for seat, bot in enumerate(table):
            counts[bot][seat] += 1
    return counts


@pytest.mark.parametrize(("bots", "seats"), [(n, k) for k in range(2, 7) for n in range(k, 10)])
@pytest.mark.parametrize("cycles", [1, 2, 3])
def test_every_table_meets_once_a_cycle_with_seats_as_even_as_the_numbers_allow(
    bots: int, seats: int, cycles: int
) -> None:
    rounds = round_robin(range(bots), seats, cycles)

    everywhere = [table for pairing_round in rounds for table in pairing_round]
    met = Counter(tuple(sorted(table)) for table in everywhere)
    assert met == dict.fromkeys(combinations(range(bots), seats), cycles)
    for pairing_round in rounds:
        assert len({bot for table in pairing_round for bot in table}) == seats * len(pairing_round)
    for counts in seat_counts(everywhere).values():
        assert max(counts) - min(counts) == (sum(counts) % seats > 0)
    if seats == 2:
        assert len(rounds) == cycles * (bots - 1 + bots % 2)  # those of the circle method
        assert cycles != 2 or len({*everywhere}) == len(everywhere)  # both seats against everybody


@given(st.integers(2, 6), st.lists(st.integers(0, 6), max_size=8), st.randoms(use_true_random=False))
def test_any_schedule_can_be_balanced(seats: int, sizes: list[int], random: Random) -> None:
    schedule = [[tuple(random.sample(range(9), seats)) for _ in range(size)] for size in sizes]

    balanced = balance_seats(schedule)

    assert [[sorted(table) for table in tables] for tables in balanced] == [
        [sorted(table) for table in tables] for tables in schedule
    ]
    if tables := [table for pairing_round in balanced for table in pairing_round]:
        for counts in seat_counts(tables).values():
            assert max(counts) - min(counts) <= 1


def test_tables_with_somebody_who_left_are_not_played_and_rounds_without_tables_are_passed_over() -> None:
    tournament = tournament_of("round_robin", 3, 5)  # ten tables, one per round
    whole = tables(carried_out("round_robin", tournament))
    first = formats()["round_robin"].next_round(tournament)
    assert first is not None
    left = replace(tournament, entrants=(replace(tournament.entrants[0], active=False), *tournament.entrants[1:]))

    rest = tables(carried_out("round_robin", after(left, first)))

    assert rest == [table for table in whole[1:] if "e0" not in table]
    assert formats()["round_robin"].expected_matches(after(left, first), one_match) == 1 + len(rest)


def test_a_round_robin_too_small_or_too_large_says_what_is_possible() -> None:
    known = formats()["round_robin"]

    with pytest.raises(BadOption, match="3 seats, but only 2"):
        round_robin("AB", 3)
    with pytest.raises(BadOption, match=r"30 bots would need 27405 tables; .* 20000 .* up to 27 bots"):
        known.check(30, 4, {}, 1)
    with pytest.raises(BadOption, match="no number of bots"):
        formats()["double_round_robin"].check(4, 4, {}, 10_001)
    with pytest.raises(BadOption, match="unknown"):
        known.options({"rounds": 3}, 2)


# -- gauntlets --


def test_late_challengers_get_all_their_tables_and_those_who_left_none() -> None:
    tournament = tournament_of("gauntlet", 2, 3)
    first = formats()["gauntlet"].next_round(tournament)
    assert first is not None
    (met,) = set(first.tables[0].entrants) - {"e0"}
    (waiting,) = {"e1", "e2"} - {met}
    people = tuple(replace(entrant, active=entrant.id != waiting) for entrant in tournament.entrants)

    rest = carried_out(
        "gauntlet", after(replace(tournament, entrants=(*people, Entrant("late", first_round=2))), first)
    )

    assert [set(table) for table in tables(rest)] == [{"e0", "late"}]


def test_the_champion_is_named_or_the_best_seed_and_without_it_all_is_over() -> None:
    tournament = tournament_of("gauntlet", 2, 4)
    gauntlet = formats()["gauntlet"]
    seeded = replace(
        tournament,
        entrants=(*tournament.entrants[:2], *(replace(entrant, seed=5) for entrant in tournament.entrants[2:])),
    )

    pairing_round = gauntlet.next_round(seeded)
    assert pairing_round is not None
    assert "e2" in pairing_round.tables[0].entrants

    gone = replace(tournament, entrants=(replace(tournament.entrants[0], active=False), *tournament.entrants[1:]))
    assert gauntlet.next_round(gone) is None
    assert gauntlet.expected_matches(gone, one_match) == 0

    with pytest.raises(BadOption, match="nobody is not entered"):
        gauntlet.next_round(replace(tournament, options={"champion": "nobody"}))
    with pytest.raises(BadOption, match="champion"):
        gauntlet.options({"champion": 3}, 2)
    with pytest.raises(BadOption, match="3 seats, but only 2"):
        gauntlet.check(2, 3, {}, 1)
    with pytest.raises(BadOption, match="at most 20000"):
        gauntlet.check(20_002, 2, {}, 1)


# -- deal groups --


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 15), min_size=2, max_size=4, unique=True), max_size=30), st.integers(1, 6))
def test_nobody_meets_a_deal_twice_not_even_through_a_sibling(seatings: list[list[int]], limit: int) -> None:
    tables = [[f"e{number}" for number in table] for table in seatings]
    owner_of = {f"e{at}": f"e{at // 3}" if at < 9 else "" for at in range(16)}

    groups = sections(tables, owner_of, limit)

    assert sorted(index for group in groups for index in group) == list(range(len(tables)))
    for group in groups:
        assert group == sorted(group)
        assert 1 <= len(group) <= limit
        people = [{owner_of[entrant] or f"alone {entrant}" for entrant in tables[index]} for index in group]
        assert sum(map(len, people)) == len(set().union(*people))


def test_a_group_takes_whatever_fits() -> None:
    pairing_round = [("a1", "b"), ("a2", "c"), ("d", "e"), ("f", "g")]

    assert sections(pairing_round, {"a1": "ann", "a2": "ann"}) == [[0, 2, 3], [1]]
    assert sections(pairing_round, {"a1": "ann", "a2": "ann"}, limit=2) == [[0, 2], [1, 3]]


# -- random draws and seats --


def test_lots_are_drawn_from_the_draw_and_the_purpose_alone() -> None:
    order = shuffle(range(50), b"draw", "seats")

    assert sorted(order) == list(range(50))
    assert shuffle(range(50), b"draw", "seats") == order
    assert shuffle(range(50), b"draw", "places") != order
    assert shuffle(range(50), b"other", "seats") != order


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 7])
def test_everybody_sits_where_it_costs_least(seats: int) -> None:
    costs = [[(3 * seat + 5 * who) % 7 for seat in range(seats)] for who in range(seats)]
    costs[0][seats - 1] = -100

    order = assign_seats(costs)

    assert sorted(order) == list(range(seats))
    assert order[seats - 1] == 0
