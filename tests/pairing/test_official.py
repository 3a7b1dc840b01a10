"""Tables of official ladders: invariants for any pool, and what is preferred over many matches."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.pairing.official import (
    ANCHOR_GAP,
    HOUSE_DISTANCE,
    HOUSE_GAP,
    PARTNER_WAIT_S,
    Candidate,
    Filler,
    OfficialState,
    OfficialTable,
    choose_fillers,
    choose_tables,
    find_owners_met_enough,
)
from referee.ratings.elo import MICRO, START

KEY = bytes(32)
HOUSE = (Filler("house sound", START), Filler("house random", START - 300 * MICRO))


def bot(number: int, owner: str = "", **changes: object) -> Candidate:
    plain = Candidate(f"bot {number}", owner or f"owner {number}", START, 0, True, 0.0, HOUSE_GAP, [0] * 10)
    return replace(plain, **changes)  # type: ignore[arg-type]


def tables_of(
    pool: list[Candidate], seats: int, *, want: int = 20, serial: str = "", fillers: tuple[Filler, ...] = HOUSE
) -> list[OfficialTable]:
    fitting = [replace(one, seat_counts=one.seat_counts[:seats]) for one in pool]
    state = OfficialState(seats, len({one.owner for one in pool}), fillers)
    return choose_tables(fitting, state, want=want, draw_key=KEY, serial=serial)


@st.composite
def pools(draw: st.DrawFn) -> list[Candidate]:
    count, owners = draw(st.integers(0, 24)), draw(st.integers(1, 12))
    return [
        bot(
            number,
            f"owner {draw(st.integers(1, owners))}",
            rating=START + draw(st.integers(-400, 400)) * MICRO,
            matches=draw(st.integers(0, 60)),
            due=draw(st.booleans()),
            waited_s=draw(st.sampled_from([0.0, 29.0, 30.0, 500.0])),
            matches_since_house=draw(st.integers(0, ANCHOR_GAP)),
            seat_counts=draw(st.lists(st.integers(0, 9), min_size=10, max_size=10)),
            recent_opponents=[f"bot {draw(st.integers(0, 24))}" for _ in range(draw(st.integers(0, 4)))],
        )
        for number in range(count)
    ]


@settings(max_examples=80, deadline=None)
@given(pools(), st.integers(2, 10), st.integers(0, 6))
def test_any_pool_gives_sound_tables(pool: list[Candidate], seats: int, want: int) -> None:
    found = tables_of(pool, seats, want=want)
    known = {one.bot: one for one in pool}
    owners = len({one.owner for one in pool})
    limited = OfficialState(seats, owners, HOUSE).limits_house

    seated = [name for table in found for name in table.candidates]
    assert len(found) <= want
    assert len(seated) == len(set(seated)), "a bot sits at two tables"
    for table in found:
        members = [known[name] for name in table.candidates]
        assert len(table.seats) == seats
        assert sorted(table.candidates) == sorted(name for name in table.seats if name in known)
        assert len({one.owner for one in members}) == len(members), "siblings share a table"
        assert members[0].due
        if table.has_house:
            assert not limited or all(one.matches_since_house >= HOUSE_GAP for one in members)
            alone = len(members) == owners and members[0].matches > 0
            anchored = members[0].matches_since_house >= ANCHOR_GAP and len(members) == seats - 1
            assert alone or anchored or members[0].waited_s >= PARTNER_WAIT_S
    assert found == tables_of(pool, seats, want=want), "the same arguments give other tables"


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(-1_200, 1_200), min_size=1, max_size=4),
    st.lists(st.integers(-1_200, 1_200), min_size=1, max_size=4),
    st.integers(1, 9),
)
def test_house_players_are_within_400_points_of_each_bot_or_the_nearest(
    ratings: list[int], levels: list[int], count: int
) -> None:
    bots = [bot(number, rating=START + points * MICRO) for number, points in enumerate(ratings)]
    house = [Filler(f"level {number}", START + points * MICRO) for number, points in enumerate(levels)]

    def distance(filler: Filler) -> int:
        return max(abs(filler.rating - one.rating) for one in bots)

    found = choose_fillers(bots, house, count)

    assert len(found) == count
    assert all(distance(filler) <= max(HOUSE_DISTANCE, min(map(distance, house))) for filler in found)


def test_the_random_choices_of_two_sweeps_differ() -> None:
    pool = [bot(number) for number in range(40)]

    assert len({str(tables_of(pool, 2, serial=str(serial))) for serial in range(5)}) == 5


def test_the_bot_with_the_fewest_matches_comes_first_and_then_the_one_that_waited_longest() -> None:
    pool = [bot(1, matches=40), bot(2, matches=40, waited_s=9.0), bot(3, matches=3), bot(4, matches=40)]

    first = [tables_of(pool, 2, want=1)[0].candidates[0], tables_of([*pool[:2], pool[3]], 2, want=1)[0].candidates[0]]

    assert first == ["bot 3", "bot 2"]


@pytest.mark.parametrize("seats", [2, 4])
def test_after_some_matches_without_house_players_an_anchor_gets_a_seat(seats: int) -> None:
    pool = [bot(number, matches_since_house=ANCHOR_GAP) for number in range(6)]
    others = [replace(one, matches_since_house=ANCHOR_GAP - 1) for one in pool]
    no_anchors = tuple(replace(filler, is_anchor=False) for filler in HOUSE)

    (anchored,), (full,) = tables_of(pool, seats, want=1), tables_of(others, seats, want=1)
    (unrated,) = tables_of(pool, seats, want=1, fillers=no_anchors)

    assert len(anchored.candidates) == seats - 1
    assert [name for name in anchored.seats if name not in anchored.candidates] == ["house sound"]
    assert len(full.candidates) == len(unrated.candidates) == seats


def test_near_ratings_are_preferred() -> None:
    pool = [bot(number, rating=START + number * 50 * MICRO, matches=50) for number in range(40)]

    distances = [
        abs(int(one.split()[1]) - int(two.split()[1])) * 50
        for serial in range(20)
        for one, two in (table.candidates for table in tables_of(pool, 2, serial=str(serial)))
    ]

    assert mean(distances) < 150  # at random: 683


def test_a_bot_that_is_due_comes_before_one_that_is_not() -> None:
    (table,) = tables_of([bot(1), bot(2, due=False), bot(3)], 2, want=1)

    assert {*table.candidates} == {"bot 1", "bot 3"}


def test_a_bot_that_is_not_due_gets_no_table_of_its_own() -> None:
    assert tables_of([bot(1, due=False, waited_s=99.0)], 2) == []


@pytest.mark.parametrize("seats", [2, 4])
def test_rematches_are_spread_and_seats_are_balanced_over_many_matches(seats: int) -> None:
    pool = [bot(number, seat_counts=[0] * seats, rating=START + number % 5 * MICRO) for number in range(12)]
    meetings: Counter[frozenset[str]] = Counter()
    for sweep in range(90):
        for table in tables_of(pool, seats, serial=str(sweep), fillers=()):
            meetings.update(frozenset(pair) for pair in combinations(table.seats, 2))
            pool = [played(one, table) if one.bot in table.seats else one for one in pool]

    assert len(meetings) == 66
    assert max(meetings.values()) <= 2 * min(meetings.values())
    for one in pool:
        assert max(one.seat_counts) - min(one.seat_counts) <= 2


def played(one: Candidate, table: OfficialTable) -> Candidate:
    counts = [times + (seat == table.seats.index(one.bot)) for seat, times in enumerate(one.seat_counts)]
    met = [*one.recent_opponents, *(other for other in table.seats if other != one.bot)][-30:]
    since = 0 if table.has_house else one.matches_since_house + 1
    return replace(one, matches=one.matches + 1, seat_counts=counts, recent_opponents=met, matches_since_house=since)


def test_a_bot_alone_waits_once_and_then_meets_house_players() -> None:
    assert tables_of([bot(1, waited_s=29.0)], 4) == []

    (first,) = tables_of([bot(1, waited_s=30.0)], 4)
    (next_one,) = tables_of([bot(1, matches=1)], 4)

    assert first.candidates == next_one.candidates == ("bot 1",)
    assert Counter(first.seats) == {"bot 1": 1, "house sound": 2, "house random": 1}


def test_without_house_players_a_bot_alone_waits() -> None:
    assert tables_of([bot(1, waited_s=99.0)], 2, fillers=()) == []


def test_siblings_meet_house_players_rather_than_each_other() -> None:
    found = tables_of([bot(1, "Ada", waited_s=31.0), bot(2, "Ada", waited_s=31.0)], 2)

    assert [table.candidates for table in found] == [("bot 1",), ("bot 2",)] or [
        table.candidates for table in found
    ] == [("bot 2",), ("bot 1",)]


def test_at_most_a_third_of_the_matches_are_with_house_players_once_two_other_owners_are_active() -> None:
    one, met_house = bot(1, seat_counts=[0, 0], waited_s=31.0), []
    state = OfficialState(2, owners=3, fillers=HOUSE)  # the others are busy or free in turns
    for turn in range(60):
        others = [bot(2, due=False, seat_counts=[0, 0])] if turn % 2 else []
        for table in choose_tables([one, *others], state, want=1, draw_key=KEY, serial=str(turn)):
            met_house.append(table.has_house)
            one = played(one, table)

    assert any(met_house)
    assert sum(met_house) * 3 <= len(met_house) + 2


def test_fillers_are_those_near_the_rating_and_little_met() -> None:
    house = [Filler("weak", START - 400 * MICRO), Filler("even", START), Filler("strong", START + 400 * MICRO)]
    often = ["even"] * 10

    near = choose_fillers([bot(1)], house, 1)
    changed = choose_fillers([bot(1, rating=START + 300 * MICRO, recent_opponents=often)], house, 1)

    assert [one.bot for one in (*near, *changed)] == ["even", "strong"]
    assert [one.bot for one in choose_fillers([bot(1)], house[:1], 3)] == ["weak"] * 3
    assert choose_fillers([bot(1)], [], 3) == []


def test_F5_a_bot_meets_the_bots_of_one_owner_at_most_half_as_often_again_as_an_even_share() -> None:
    # 48 matches with 3 others each, among 30 other owners: an even share is 4.8 meetings, and 7 are the most.
    met = {"seven": 7, "six": 6}

    assert find_owners_met_enough(met, daily_matches=48, seats=4, owners=31) == {"seven"}
    assert find_owners_met_enough(met, daily_matches=48, seats=4, owners=4) == set()
    # With very many owners, three meetings are still allowed; a daily maximum makes a share smaller.
    assert find_owners_met_enough({"three": 3, "two": 2}, daily_matches=48, seats=2, owners=200) == {"three"}
    assert find_owners_met_enough(met, daily_matches=12, seats=4, owners=5) == set()
    assert find_owners_met_enough(met, daily_matches=12, seats=4, owners=10) == {"seven", "six"}


@pytest.mark.parametrize("blocked", [1, 2])
def test_F5_bots_that_met_an_owner_often_enough_do_not_meet_another_bot_of_it(blocked: int) -> None:
    # It does not matter which of the two has met the other's owner, nor how near the other is in rating.
    pool = [bot(1, "Ada"), bot(2, "Bob"), bot(3, "Cy", due=False, rating=START + 300 * MICRO)]
    other = "Bob" if blocked == 1 else "Ada"
    pool[blocked - 1] = replace(pool[blocked - 1], owners_met_enough={other})

    (table,) = tables_of(pool, 2, want=1)

    assert "bot 3" in table.candidates
    assert set(table.owners) in ({"Ada", "Cy"}, {"Bob", "Cy"})


def test_F5_a_bot_that_may_meet_nobody_again_today_plays_with_house_players() -> None:
    crowd = [bot(number, "Bob", matches=50) for number in range(2, 9)] + [bot(9, "Cy", matches=50)]
    weary = bot(1, "Ada", matches_since_house=0, owners_met_enough={"Bob", "Cy"}, waited_s=PARTNER_WAIT_S)
    state = OfficialState(2, owners=3, fillers=HOUSE)

    (table,) = choose_tables([weary, *crowd], state, want=1, draw_key=KEY, serial="")
    impatient = replace(weary, waited_s=PARTNER_WAIT_S - 1, owners_met_enough=frozenset())

    assert table.candidates == ("bot 1",)
    assert state.limits_house
    (with_another,) = choose_tables([impatient, *crowd], state, want=1, draw_key=KEY, serial="")
    assert not with_another.has_house
