"""Swiss stages: simulated events, whatever happens in them, and what must hold at every stage of each."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from referee.errors import BadOption
from referee.pairing import Bye, Entrant, Leg, PairingRound, PlayedRound, Table, TournamentState, bye_points, formats
from referee.pairing.history import read_history
from referee.pairing.matching import augment_matching
from referee.pairing.swiss import default_stages, most_stages

SWISS = formats()["swiss"]


def event_of(
    seats: int, entrants: int, *, stages: int | None = None, owners: int = 0, draw: bytes = b"draw" * 8
) -> TournamentState:
    """``owners`` own two entrants each."""
    people = tuple(Entrant(f"e{at}", f"owner {at // 2}" if at < 2 * owners else "") for at in range(entrants))
    return TournamentState(seats, SWISS.options({"stages": stages}, seats), 1, people, (), draw)


def played(event: TournamentState, stage: PairingRound, dice: Random, *, cancelled: float = 0.0) -> TournamentState:
    """The event after the stage, with results by the dice."""
    legs = []
    for table in stage.tables:
        placements = tuple(dice.randint(1, event.seats) for _ in table.entrants)
        leg = Leg(table.entrants, placements, (0,) * event.seats)
        legs.append(() if dice.random() < cancelled else (leg,))
    return replace(event, played=(*event.played, PlayedRound(stage, tuple(legs))))


def simulated(event: TournamentState, dice: Random) -> Iterator[tuple[TournamentState, PairingRound]]:
    """Each stage with the event before it."""
    while (stage := SWISS.next_stage(event)) is not None:
        yield event, stage
        event = played(event, stage, dice)


def meetings(stage: PairingRound) -> set[frozenset[str]]:
    return {frozenset(pair) for table in stage.tables for pair in combinations(table.entrants, 2)}


def assert_whole(event: TournamentState, stage: PairingRound) -> None:
    """Everybody who is there plays once or has a bye; no more byes than must be; none twice before all had one."""
    there = [entrant.id for entrant in event.entrants if entrant.active and entrant.since <= len(event.played) + 1]
    resting = [bye.entrant for bye in stage.byes]
    seated = [one for table in stage.tables for one in table.entrants]
    assert sorted([*seated, *resting]) == sorted(there)
    assert len(resting) == len(there) % event.seats
    rested = Counter(bye.entrant for stage_played in event.played for bye in stage_played.stage.byes)
    if resting:
        fewest = sorted(rested[one] for one in there)[: len(resting)]
        assert sorted(rested[one] for one in resting) == fewest


# -- tables of two --


@settings(max_examples=25, deadline=None)  # a whole event each
@given(st.integers(4, 15), st.integers(0, 3), st.integers(0, 2**32))
def test_pairs_over_a_whole_event(entrants: int, owners: int, seed: int) -> None:
    dice = Random(seed)
    event = event_of(2, entrants, stages=min(7, most_stages(entrants, 2)), owners=min(owners, entrants // 2))
    owner_of = {entrant.id: entrant.owner or entrant.id for entrant in event.entrants}
    met: set[frozenset[str]] = set()
    matches: Counter[str] = Counter()

    for before, stage in simulated(event, dice):
        assert_whole(before, stage)
        assert SWISS.next_stage(before) == stage
        people = [one for table in stage.tables for one in table.entrants]
        assert_as_few_as_possible(people, meetings(stage), met, owner_of)
        met |= meetings(stage)
        matches.update(people)

    assert len({matches[entrant.id] for entrant in event.entrants}) <= 2
    assert min(matches[entrant.id] for entrant in event.entrants) >= event.options["stages"] - 1


def assert_as_few_as_possible(
    people: list[str], pairs: set[frozenset[str]], met: set[frozenset[str]], owner_of: dict[str, str]
) -> None:
    """As many new opponents as any pairing has; and no siblings when a pairing without both exists."""

    def strangers(one: int, other: int) -> bool:
        return frozenset((people[one], people[other])) not in met

    def unrelated(one: int, other: int) -> bool:
        return strangers(one, other) and owner_of[people[one]] != owner_of[people[other]]

    numbers = range(len(people))
    assert 2 * len(pairs - met) == len(augment_matching(numbers, strangers, {}))
    if len(augment_matching(numbers, unrelated, {})) == len(people):
        assert all(len({owner_of[one] for one in pair}) == 2 for pair in pairs)


@settings(max_examples=25, deadline=None)  # a whole event each
@given(st.integers(16, 40), st.integers(0, 2**32))
@example(20, 422962034)
def test_seats_of_pairs_never_differ_by_more_than_two_nor_repeat_three_times(entrants: int, seed: int) -> None:
    dice = Random(seed)
    event = event_of(2, entrants, stages=default_stages(entrants, 2))

    *_, (before, stage) = simulated(event, dice)

    of = read_history(played(before, stage, dice))
    last_stage_may = 1  # a top scorer may have to take what is left there
    uneven = [one for one, (first, second) in enumerate(of.sat) if abs(first - second) > 2]
    assert len(uneven) <= last_stage_may
    half = default_stages(entrants, 2) - 1  # of what could be had before it; a win counts two
    assert all(read_history(before).score[one] > half for one in uneven)
    assert (
        sum(len(set(seats[at : at + 3])) == 1 for seats in of.lately for at in range(len(seats) - 2)) <= last_stage_may
    )


def test_the_strongest_meet_the_upper_half_of_the_rest_first() -> None:
    event = event_of(2, 8)
    seeded = replace(event, entrants=tuple(replace(one, seed=at + 1) for at, one in enumerate(event.entrants)))

    stage = SWISS.next_stage(seeded)

    assert stage is not None
    assert [set(table.entrants) for table in stage.tables] == [{f"e{at}", f"e{at + 4}"} for at in range(4)]
    first_seats = [table.entrants[0] for table in stage.tables]
    assert first_seats in (["e0", "e5", "e2", "e7"], ["e4", "e1", "e6", "e3"])  # by turns from a seat drawn by lot


def test_a_bye_goes_to_the_lowest_score_and_counts_as_a_win() -> None:
    """Stage 1: e6 rests, e3, e4, e5 lose. Stage 2: one of the three rests, the lowest number of them: e5."""
    people = tuple(Entrant(f"e{at}", seed=at + 1) for at in range(7))
    event = TournamentState(2, {"stages": 3}, 1, people, (), b"x" * 32)
    first = SWISS.next_stage(event)
    assert first is not None
    assert first.byes == (Bye("e6", "odd"),)

    legs = tuple(
        (Leg(table.entrants, (1, 2) if table.entrants[0] < table.entrants[1] else (2, 1), (0, 0)),)
        for table in first.tables
    )
    second = SWISS.next_stage(replace(event, played=(PlayedRound(first, legs),)))

    assert second is not None
    assert second.byes == (Bye("e5", "odd"),)
    assert {"e6", "e2"} in [set(table.entrants) for table in second.tables] or {"e6", "e0"} in [
        set(table.entrants) for table in second.tables
    ]  # among those with a win


# -- tables of more --


@settings(max_examples=25, deadline=None)  # a whole event each
@given(st.integers(3, 5), st.integers(0, 30), st.integers(0, 4), st.integers(0, 2**32))
def test_tables_of_more_over_a_whole_event(seats: int, more: int, owners: int, seed: int) -> None:
    dice = Random(seed)
    event = event_of(seats, seats + more, owners=min(owners, (seats + more) // 2))
    matches: Counter[str] = Counter()

    for before, stage in simulated(event, dice):
        assert_whole(before, stage)
        matches.update(one for table in stage.tables for one in table.entrants)

    stages = default_stages(seats + more, seats)
    assert set(matches.values()) <= {stages, stages - 1}
    assert max(max(sat) - min(sat) for sat in read_history(played(before, stage, dice)).sat) <= 3


def test_tables_of_four_meet_anew_where_there_is_room() -> None:
    dice = Random(4)
    met: Counter[frozenset[str]] = Counter()

    for _, stage in simulated(event_of(4, 64, stages=5, owners=8), dice):
        met.update(meetings(stage))
        assert all(len({int(one[1:]) // 2 for one in table.entrants if int(one[1:]) < 16}) == sum(
            int(one[1:]) < 16 for one in table.entrants) for table in stage.tables)  # fmt: skip

    assert met.total() == 5 * 16 * 6
    assert max(met.values()) == 1


# -- what comes between --


@settings(max_examples=25, deadline=None)  # a whole event each
@given(st.integers(2, 4), st.integers(0, 2**32))
def test_late_entries_withdrawals_and_cancelled_tables(seats: int, seed: int) -> None:
    dice = Random(seed)
    event = event_of(seats, 14, stages=6)
    while (stage := SWISS.next_stage(event)) is not None:
        assert_whole(event, stage)
        event = played(event, stage, dice, cancelled=0.1)
        people = [replace(one, active=one.active and dice.random() > 0.08) for one in event.entrants]
        if dice.random() < 0.5:
            people.append(Entrant(f"late{len(people)}", since=len(event.played) + 1 + dice.randrange(2)))
        event = replace(event, entrants=tuple(people))

    left = sum(one.active and one.since <= len(event.played) + 1 for one in event.entrants)
    assert len(event.played) == 6 or left < seats


def test_who_was_to_meet_and_did_not_may_meet_again() -> None:
    event = event_of(2, 2, stages=1)
    stage = SWISS.next_stage(event)
    assert stage is not None

    again = SWISS.next_stage(replace(event, options={"stages": 2}, played=(PlayedRound(stage, ((),)),)))

    assert again is not None
    assert meetings(again) == meetings(stage)
    assert read_history(replace(event, played=(PlayedRound(stage, ((),)),))).met == [{}, {}]


def test_matches_at_one_table_are_one_meeting_and_several_results() -> None:
    stage = PairingRound((Table(("e0", "e1")),), (Bye("e2", "odd"),))
    leg = Leg(("e0", "e1"), (1, 2), (0, 0))
    turned = Leg(("e1", "e0"), (1, 1), (0, 0))

    of = read_history(replace(event_of(2, 3), played=(PlayedRound(stage, ((leg, turned),)),)))

    at = {one: place for place, one in enumerate(of.ids)}
    assert [of.score[at[one]] for one in ("e0", "e1", "e2")] == [3, 1, 4]  # in halves; the bye for both matches
    assert of.met[at["e0"]] == {at["e1"]: 1}
    assert of.sat[at["e0"]] == [1, 1]
    assert bye_points(2) == 1
    assert bye_points(4) * 2 == 1


def test_another_draw_pairs_otherwise() -> None:
    stages = {SWISS.next_stage(event_of(2, 20, draw=bytes([lot]) * 32)) for lot in range(3)}

    assert len(stages) == 3


# -- what is refused --


def test_options_are_complete_and_strange_ones_refused() -> None:
    assert SWISS.options({}, 2) == {"stages": None}
    for wrong in ({"stages": 0}, {"stages": True}, {"stages": "3"}, {"stages": 101}, {"rounds": 3}):
        with pytest.raises(BadOption, match="format_options"):
            SWISS.options(wrong, 2)


@pytest.mark.parametrize(
    ("entrants", "seats", "stages", "cycles", "reason"),
    [
        (3, 4, None, 1, "4 seats, but only 3"),
        (6, 2, 6, 1, "at most 5 stages, not 6"),
        (7, 2, 8, 1, "at most 7 stages, not 8"),
        (11, 4, 4, 1, "at most 3 stages, not 4"),  # three byes a stage
        (8, 2, 3, 2, "one cycle"),
    ],
)
def test_events_that_cannot_be_are_refused(entrants: int, seats: int, stages: int, cycles: int, reason: str) -> None:
    with pytest.raises(BadOption, match=reason):
        SWISS.check(entrants, seats, {"stages": stages}, cycles)


@pytest.mark.parametrize(("entrants", "seats", "stages"), [(8, 2, 3), (9, 2, 4), (2, 2, 1), (3, 2, 2), (64, 4, 5)])
def test_stages_by_default(entrants: int, seats: int, stages: int) -> None:
    assert default_stages(entrants, seats) == stages
    event = event_of(seats, entrants)
    assert SWISS.expected_matches(event) == stages * (entrants // seats)


def test_what_a_stand_in_plays_brings_no_points() -> None:
    event = event_of(2, 4)
    ids = [one.id for one in event.entrants]
    legs = tuple((Leg(seated, (1, 2), (1, -1), (False, True)),) for seated in ((ids[0], ids[1]), (ids[2], ids[3])))
    stage = PairingRound(tuple(Table(leg.entrants) for (leg,) in legs))

    of = read_history(replace(event, played=(PlayedRound(stage, legs),)))

    assert set(of.score) == {0}
    assert all(sum(met.values()) == 1 for met in of.met)
