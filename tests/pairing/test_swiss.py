"""Swiss rounds: properties of every round in simulated tournaments, with withdrawals and late entries."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from referee.errors import BadOption
from referee.pairing import Bye, Entrant, Leg, PairingInput, PairingRound, PlayedRound, Table, bye_points, formats
from referee.pairing.history import read_history
from referee.pairing.matching import augment_matching
from referee.pairing.swiss import default_rounds, max_rounds

SWISS = formats()["swiss"]


def tournament_of(
    seats: int, entrants: int, *, rounds: int | None = None, owners: int = 0, draw_key: bytes = b"draw" * 8
) -> PairingInput:
    """Return a Swiss tournament in which ``owners`` own two entrants each."""
    people = tuple(Entrant(f"e{at}", f"owner {at // 2}" if at < 2 * owners else "") for at in range(entrants))
    return PairingInput(seats, SWISS.options({"rounds": rounds}, seats), 1, people, (), draw_key)


def played(
    tournament: PairingInput, pairing_round: PairingRound, dice: Random, *, cancelled: float = 0.0
) -> PairingInput:
    """Return the tournament after the round, with random results."""
    legs = []
    for table in pairing_round.tables:
        placements = tuple(dice.randint(1, tournament.seats) for _ in table.entrants)
        leg = Leg(table.entrants, placements, (0,) * tournament.seats)
        legs.append(() if dice.random() < cancelled else (leg,))
    return replace(tournament, played=(*tournament.played, PlayedRound(pairing_round, tuple(legs))))


def simulated(tournament: PairingInput, dice: Random) -> Iterator[tuple[PairingInput, PairingRound]]:
    """Yield each round with the tournament before it."""
    while (pairing_round := SWISS.next_round(tournament)) is not None:
        yield tournament, pairing_round
        tournament = played(tournament, pairing_round, dice)


def meetings(pairing_round: PairingRound) -> set[frozenset[str]]:
    return {frozenset(pair) for table in pairing_round.tables for pair in combinations(table.entrants, 2)}


def assert_whole(tournament: PairingInput, pairing_round: PairingRound) -> None:
    """Require one table or bye per active entrant, the fewest byes possible, no second bye before all had one."""
    there = [
        entrant.id
        for entrant in tournament.entrants
        if entrant.active and entrant.first_round <= len(tournament.played) + 1
    ]
    resting = [bye.entrant for bye in pairing_round.byes]
    seated = [entrant for table in pairing_round.tables for entrant in table.entrants]
    assert sorted([*seated, *resting]) == sorted(there)
    assert len(resting) == len(there) % tournament.seats
    rested = Counter(bye.entrant for round_played in tournament.played for bye in round_played.round.byes)
    if resting:
        fewest = sorted(rested[entrant] for entrant in there)[: len(resting)]
        assert sorted(rested[entrant] for entrant in resting) == fewest


# -- tables of two --


@settings(max_examples=25, deadline=None)  # a whole tournament each
@given(st.integers(4, 15), st.integers(0, 3), st.integers(0, 2**32))
def test_pairs_over_a_whole_event(entrants: int, owners: int, seed: int) -> None:
    dice = Random(seed)
    tournament = tournament_of(2, entrants, rounds=min(7, max_rounds(entrants, 2)), owners=min(owners, entrants // 2))
    owner_of = {entrant.id: entrant.owner or entrant.id for entrant in tournament.entrants}
    met: set[frozenset[str]] = set()
    matches: Counter[str] = Counter()

    for before, pairing_round in simulated(tournament, dice):
        assert_whole(before, pairing_round)
        assert SWISS.next_round(before) == pairing_round
        people = [entrant for table in pairing_round.tables for entrant in table.entrants]
        assert_as_few_as_possible(people, meetings(pairing_round), met, owner_of)
        met |= meetings(pairing_round)
        matches.update(people)

    assert len({matches[entrant.id] for entrant in tournament.entrants}) <= 2
    assert min(matches[entrant.id] for entrant in tournament.entrants) >= tournament.options["rounds"] - 1


def assert_as_few_as_possible(
    people: list[str], pairs: set[frozenset[str]], met: set[frozenset[str]], owner_of: dict[str, str]
) -> None:
    """Require the maximum number of new opponents, and no siblings when a pairing without both exists."""

    def strangers(entrant: int, other: int) -> bool:
        return frozenset((people[entrant], people[other])) not in met

    def unrelated(entrant: int, other: int) -> bool:
        return strangers(entrant, other) and owner_of[people[entrant]] != owner_of[people[other]]

    numbers = range(len(people))
    assert 2 * len(pairs - met) == len(augment_matching(numbers, strangers, {}))
    if len(augment_matching(numbers, unrelated, {})) == len(people):
        assert all(len({owner_of[entrant] for entrant in pair}) == 2 for pair in pairs)


@settings(max_examples=25, deadline=None)  # a whole tournament each
@given(st.integers(16, 40), st.integers(0, 2**32))
@example(20, 422962034)
def test_seats_of_pairs_never_differ_by_more_than_two_nor_repeat_three_times(entrants: int, seed: int) -> None:
    dice = Random(seed)
    tournament = tournament_of(2, entrants, rounds=default_rounds(entrants, 2))

    *_, (before, pairing_round) = simulated(tournament, dice)

    history = read_history(played(before, pairing_round, dice))
    last_round_may = 1  # a top scorer may have to take what is left there
    uneven = [entrant for entrant, (first, second) in enumerate(history.seat_counts) if abs(first - second) > 2]
    assert len(uneven) <= last_round_may
    half = default_rounds(entrants, 2) - 1  # of the possible score before it; a win counts two
    assert all(read_history(before).score[entrant] > half for entrant in uneven)
    assert (
        sum(len(set(seats[at : at + 3])) == 1 for seats in history.recent_seats for at in range(len(seats) - 2))
        <= last_round_may
    )


def test_the_strongest_meet_the_upper_half_of_the_rest_first() -> None:
    tournament = tournament_of(2, 8)
    seeded = replace(
        tournament, entrants=tuple(replace(entrant, seed=at + 1) for at, entrant in enumerate(tournament.entrants))
    )

    pairing_round = SWISS.next_round(seeded)

    assert pairing_round is not None
    assert [set(table.entrants) for table in pairing_round.tables] == [{f"e{at}", f"e{at + 4}"} for at in range(4)]
    first_seats = [table.entrants[0] for table in pairing_round.tables]
    assert first_seats in (["e0", "e5", "e2", "e7"], ["e4", "e1", "e6", "e3"])  # alternating from a random seat


def test_a_bye_goes_to_the_lowest_score_and_counts_as_a_win() -> None:
    """Round 1: e6 has the bye, e3, e4, e5 lose. Round 2: of these three the lowest-ranked, e5, has the bye."""
    people = tuple(Entrant(f"e{at}", seed=at + 1) for at in range(7))
    tournament = PairingInput(2, {"rounds": 3}, 1, people, (), b"x" * 32)
    first = SWISS.next_round(tournament)
    assert first is not None
    assert first.byes == (Bye("e6", "odd"),)

    legs = tuple(
        (Leg(table.entrants, (1, 2) if table.entrants[0] < table.entrants[1] else (2, 1), (0, 0)),)
        for table in first.tables
    )
    second = SWISS.next_round(replace(tournament, played=(PlayedRound(first, legs),)))

    assert second is not None
    assert second.byes == (Bye("e5", "odd"),)
    assert {"e6", "e2"} in [set(table.entrants) for table in second.tables] or {"e6", "e0"} in [
        set(table.entrants) for table in second.tables
    ]  # among those with a win


# -- larger tables --


@settings(max_examples=25, deadline=None)  # a whole tournament each
@given(st.integers(3, 5), st.integers(0, 30), st.integers(0, 4), st.integers(0, 2**32))
def test_tables_of_more_over_a_whole_event(seats: int, more: int, owners: int, seed: int) -> None:
    dice = Random(seed)
    tournament = tournament_of(seats, seats + more, owners=min(owners, (seats + more) // 2))
    matches: Counter[str] = Counter()

    for before, pairing_round in simulated(tournament, dice):
        assert_whole(before, pairing_round)
        matches.update(entrant for table in pairing_round.tables for entrant in table.entrants)

    rounds = default_rounds(seats + more, seats)
    assert set(matches.values()) <= {rounds, rounds - 1}
    assert max(max(sat) - min(sat) for sat in read_history(played(before, pairing_round, dice)).seat_counts) <= 3


def test_tables_of_four_meet_anew_where_there_is_room() -> None:
    dice = Random(4)
    met: Counter[frozenset[str]] = Counter()

    for _, pairing_round in simulated(tournament_of(4, 64, rounds=5, owners=8), dice):
        met.update(meetings(pairing_round))
        assert all(len({int(entrant[1:]) // 2 for entrant in table.entrants if int(entrant[1:]) < 16}) == sum(
            int(entrant[1:]) < 16 for entrant in table.entrants) for table in pairing_round.tables)  # fmt: skip

    assert met.total() == 5 * 16 * 6
    assert max(met.values()) == 1


# -- changes during a tournament --


@settings(max_examples=25, deadline=None)  # a whole tournament each
@given(st.integers(2, 4), st.integers(0, 2**32))
def test_late_entries_withdrawals_and_cancelled_tables(seats: int, seed: int) -> None:
    dice = Random(seed)
    tournament = tournament_of(seats, 14, rounds=6)
    while (pairing_round := SWISS.next_round(tournament)) is not None:
        assert_whole(tournament, pairing_round)
        tournament = played(tournament, pairing_round, dice, cancelled=0.1)
        people = [replace(entrant, active=entrant.active and dice.random() > 0.08) for entrant in tournament.entrants]
        if dice.random() < 0.5:
            people.append(Entrant(f"late{len(people)}", first_round=len(tournament.played) + 1 + dice.randrange(2)))
        tournament = replace(tournament, entrants=tuple(people))

    left = sum(entrant.active and entrant.first_round <= len(tournament.played) + 1 for entrant in tournament.entrants)
    assert len(tournament.played) == 6 or left < seats


def test_who_was_to_meet_and_did_not_may_meet_again() -> None:
    tournament = tournament_of(2, 2, rounds=1)
    pairing_round = SWISS.next_round(tournament)
    assert pairing_round is not None

    again = SWISS.next_round(replace(tournament, options={"rounds": 2}, played=(PlayedRound(pairing_round, ((),)),)))

    assert again is not None
    assert meetings(again) == meetings(pairing_round)
    assert read_history(replace(tournament, played=(PlayedRound(pairing_round, ((),)),))).met == [{}, {}]


def test_matches_at_one_table_are_one_meeting_and_several_results() -> None:
    pairing_round = PairingRound((Table(("e0", "e1")),), (Bye("e2", "odd"),))
    leg = Leg(("e0", "e1"), (1, 2), (0, 0))
    turned = Leg(("e1", "e0"), (1, 1), (0, 0))

    history = read_history(replace(tournament_of(2, 3), played=(PlayedRound(pairing_round, ((leg, turned),)),)))

    at = {entrant: place for place, entrant in enumerate(history.ids)}
    assert [history.score[at[entrant]] for entrant in ("e0", "e1", "e2")] == [
        3,
        1,
        4,
    ]  # in half points; the bye counts for both matches
    assert history.met[at["e0"]] == {at["e1"]: 1}
    assert history.seat_counts[at["e0"]] == [1, 1]
    assert bye_points(2) == 1
    assert bye_points(4) * 2 == 1


def test_another_draw_pairs_otherwise() -> None:
    rounds = {SWISS.next_round(tournament_of(2, 20, draw_key=bytes([lot]) * 32)) for lot in range(3)}

    assert len(rounds) == 3


# -- refusals --


def test_options_are_complete_and_strange_ones_refused() -> None:
    assert SWISS.options({}, 2) == {"rounds": None}
    for wrong in ({"rounds": 0}, {"rounds": True}, {"rounds": "3"}, {"rounds": 101}, {"round": 3}):
        with pytest.raises(BadOption, match="format_options"):
            SWISS.options(wrong, 2)


@pytest.mark.parametrize(
    ("entrants", "seats", "rounds", "cycles", "reason"),
    [
        (3, 4, None, 1, "4 seats, but only 3"),
        (6, 2, 6, 1, "at most 5 rounds, not 6"),
        (7, 2, 8, 1, "at most 7 rounds, not 8"),
        (11, 4, 4, 1, "at most 3 rounds, not 4"),  # three byes a round
        (8, 2, 3, 2, "must be 1"),
    ],
)
def test_events_that_cannot_be_are_refused(entrants: int, seats: int, rounds: int, cycles: int, reason: str) -> None:
    with pytest.raises(BadOption, match=reason):
        SWISS.check(entrants, seats, {"rounds": rounds}, cycles)


@pytest.mark.parametrize(("entrants", "seats", "rounds"), [(8, 2, 3), (9, 2, 4), (2, 2, 1), (3, 2, 2), (64, 4, 5)])
def test_rounds_by_default(entrants: int, seats: int, rounds: int) -> None:
    assert default_rounds(entrants, seats) == rounds
    tournament = tournament_of(seats, entrants)
    assert SWISS.expected_matches(tournament, lambda seats: 1) == rounds * (entrants // seats)


def test_what_a_stand_in_plays_brings_no_points() -> None:
    tournament = tournament_of(2, 4)
    ids = [entrant.id for entrant in tournament.entrants]
    legs = tuple((Leg(seated, (1, 2), (1, -1), (False, True)),) for seated in ((ids[0], ids[1]), (ids[2], ids[3])))
    pairing_round = PairingRound(tuple(Table(leg.entrants) for (leg,) in legs))

    history = read_history(replace(tournament, played=(PlayedRound(pairing_round, legs),)))

    assert set(history.score) == {0}
    assert all(sum(met.values()) == 1 for met in history.met)


def test_a_bye_brings_an_absent_entrant_no_score_until_it_has_played_itself() -> None:
    before = tournament_of(2, 3)
    people = tuple(replace(entrant, absent=entrant.id != "e1") for entrant in before.entrants)
    first = PairingRound((Table(("e0", "e1")),), (Bye("e2", "odd"),))
    substituted = Leg(("e0", "e1"), (1, 2), (0, 0), scored=(False, True))
    second = PairingRound((Table(("e2", "e1")),), (Bye("e0", "odd"),))
    itself = Leg(("e2", "e1"), (2, 1), (0, 0))

    one = replace(before, entrants=people, played=(PlayedRound(first, ((substituted,),)),))
    two = replace(one, played=(*one.played, PlayedRound(second, ((itself,),))))

    def scores(tournament: PairingInput) -> dict[str, int]:
        history = read_history(tournament)
        return dict(zip(history.ids, (score // (2 * history.unit) for score in history.score), strict=True))

    assert scores(one) == {"e0": 0, "e1": 0, "e2": 0}
    assert scores(two) == {"e0": 0, "e1": 1, "e2": 1}  # e2 has played: its bye counts; a substitute played for e0
    assert sum(read_history(two).byes) == 2  # nobody has a second one
