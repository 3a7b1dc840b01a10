"""Round robins and gauntlets as formats, deal groups of tables, and lots."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.errors import BadOption
from referee.pairing import Entrant, PairingRound, PlayedRound, TournamentState, formats, sections
from referee.pairing.seating import assign_seats
from referee.pairing.seeded_random import shuffle


def event_of(
    format: str, seats: int, entrants: int, *, cycles: int = 1, champion: str | None = None
) -> TournamentState:
    known = formats()[format]
    given_options = {"champion": champion} if format == "gauntlet" else {}
    people = tuple(Entrant(f"e{at}") for at in range(entrants))
    return TournamentState(seats, known.options(given_options, seats), cycles, people, (), b"draw" * 8)


def after(event: TournamentState, stage: PairingRound) -> TournamentState:
    return replace(event, played=(*event.played, PlayedRound(stage, ((),) * len(stage.tables))))


def carried_out(format: str, event: TournamentState) -> list[PairingRound]:
    stages = []
    while (stage := formats()[format].next_stage(event)) is not None:
        assert len({one for table in stage.tables for one in table.entrants}) == event.seats * len(stage.tables)
        stages.append(stage)
        event = after(event, stage)
    return stages


def tables(stages: list[PairingRound]) -> list[tuple[str, ...]]:
    return [table.entrants for stage in stages for table in stage.tables]


def test_the_formats_are_known_by_their_names() -> None:
    names = {"round_robin", "double_round_robin", "swiss", "knockout", "gauntlet", "ladder"}

    assert {name: known.name for name, known in formats().items()} == {name: name for name in names}


# -- round robins --


@pytest.mark.parametrize(("seats", "entrants"), [(2, 7), (3, 6), (4, 6)])
@pytest.mark.parametrize(("format", "times"), [("round_robin", 1), ("double_round_robin", 2)])
def test_every_set_of_entrants_meets_the_promised_number_of_times(
    seats: int, entrants: int, format: str, times: int
) -> None:
    event = event_of(format, seats, entrants, cycles=2)

    stages = carried_out(format, event)

    met = Counter(frozenset(table) for table in tables(stages))
    assert met == dict.fromkeys(map(frozenset, combinations([one.id for one in event.entrants], seats)), 2 * times)
    assert formats()[format].expected_matches(event) == met.total()


def test_in_a_double_round_robin_everybody_has_both_seats_against_everybody() -> None:
    stages = carried_out("double_round_robin", event_of("double_round_robin", 2, 5))

    assert sorted(tables(stages)) == sorted((f"e{a}", f"e{b}") for a in range(5) for b in range(5) if a != b)


def test_places_in_the_schedule_are_drawn() -> None:
    event = event_of("round_robin", 2, 8)
    other = replace(event, draw=b"other draw")

    assert carried_out("round_robin", event) == carried_out("round_robin", event)
    assert carried_out("round_robin", event)[0] != carried_out("round_robin", other)[0]


def test_tables_with_somebody_who_left_are_not_played_and_stages_without_tables_are_passed_over() -> None:
    event = event_of("round_robin", 3, 5)  # ten tables, one a stage
    whole = tables(carried_out("round_robin", event))
    first = formats()["round_robin"].next_stage(event)
    assert first is not None
    left = replace(event, entrants=(replace(event.entrants[0], active=False), *event.entrants[1:]))

    rest = tables(carried_out("round_robin", after(left, first)))

    assert rest == [table for table in whole[1:] if "e0" not in table]
    assert formats()["round_robin"].expected_matches(after(left, first)) == 1 + len(rest)


def test_a_round_robin_too_large_says_what_is_possible() -> None:
    known = formats()["round_robin"]

    with pytest.raises(BadOption, match=r"30 bots would need 27405 tables; .* 20000 .* up to 27 bots"):
        known.check(30, 4, {}, 1)
    with pytest.raises(BadOption, match="no number of bots"):
        formats()["double_round_robin"].check(4, 4, {}, 10_001)
    with pytest.raises(BadOption, match="unknown"):
        known.options({"stages": 3}, 2)


# -- gauntlets --


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.integers(0, 9), st.integers(1, 3))
def test_everybody_meets_the_champion_equally_often(seats: int, more: int, cycles: int) -> None:
    event = event_of("gauntlet", seats, seats + more, cycles=cycles, champion="e1")

    stages = carried_out("gauntlet", event)

    met = Counter(one for table in tables(stages) for one in table)
    assert met.pop("e1") == len(stages) == formats()["gauntlet"].expected_matches(event)
    assert set(met.values()) <= {cycles, cycles + 1}
    assert sum(count > cycles for count in met.values()) <= max(0, seats - 2)
    assert len(met) == seats + more - 1
    champion_sat = Counter(table.index("e1") for table in tables(stages))
    counts = [champion_sat[seat] for seat in range(seats)]
    assert max(counts) - min(counts) <= 2


def test_late_challengers_get_all_their_tables_and_those_who_left_none() -> None:
    event = event_of("gauntlet", 2, 3)
    first = formats()["gauntlet"].next_stage(event)
    assert first is not None
    (met,) = set(first.tables[0].entrants) - {"e0"}
    (waiting,) = {"e1", "e2"} - {met}
    people = tuple(replace(one, active=one.id != waiting) for one in event.entrants)

    rest = carried_out("gauntlet", after(replace(event, entrants=(*people, Entrant("late", since=2))), first))

    assert [set(table) for table in tables(rest)] == [{"e0", "late"}]


def test_the_champion_is_named_or_the_best_seed_and_without_it_all_is_over() -> None:
    event = event_of("gauntlet", 2, 4)
    gauntlet = formats()["gauntlet"]
    seeded = replace(event, entrants=(*event.entrants[:2], *(replace(one, seed=5) for one in event.entrants[2:])))

    stage = gauntlet.next_stage(seeded)
    assert stage is not None
    assert "e2" in stage.tables[0].entrants

    gone = replace(event, entrants=(replace(event.entrants[0], active=False), *event.entrants[1:]))
    assert gauntlet.next_stage(gone) is None
    assert gauntlet.expected_matches(gone) == 0

    with pytest.raises(BadOption, match="nobody is not entered"):
        gauntlet.next_stage(replace(event, options={"champion": "nobody"}))
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
    stage = [[f"e{one}" for one in table] for table in seatings]
    owner_of = {f"e{at}": f"e{at // 3}" if at < 9 else "" for at in range(16)}

    groups = sections(stage, owner_of, limit)

    assert sorted(index for group in groups for index in group) == list(range(len(stage)))
    for group in groups:
        assert group == sorted(group)
        assert 1 <= len(group) <= limit
        people = [{owner_of[one] or f"alone {one}" for one in stage[index]} for index in group]
        assert sum(map(len, people)) == len(set().union(*people))


def test_a_group_takes_whatever_fits() -> None:
    stage = [("a1", "b"), ("a2", "c"), ("d", "e"), ("f", "g")]

    assert sections(stage, {"a1": "ann", "a2": "ann"}) == [[0, 2, 3], [1]]
    assert sections(stage, {"a1": "ann", "a2": "ann"}, limit=2) == [[0, 2], [1, 3]]


# -- lots and seats --


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
