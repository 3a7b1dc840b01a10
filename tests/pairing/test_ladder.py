"""The continuous ladder: next tables, and fair shares of owners."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from referee.errors import BadOption
from referee.pairing import Entrant, PairingInput
from referee.pairing.ladder import LadderFormat, LadderState, max_seats_per_owner, next_tables
from referee.ratings.elo import MICRO

LADDER = LadderFormat()


def bot(name: str, rating: int = 1500, games: int = 30, owner: str = "") -> Entrant:
    return Entrant(name, owner, rating * MICRO, games=games)


def tables(
    entrants: Sequence[Entrant],
    want: int = 1,
    seats: int = 2,
    serial: int = 1,
    busy: Mapping[str, int] | None = None,
    met: Mapping[frozenset[str], int] | None = None,
    seat_counts: Mapping[str, Sequence[int]] | None = None,
    **given: int,
) -> list[tuple[str, ...]]:
    return next_tables(
        entrants,
        LadderState(seats, LADDER.options(given, seats), busy or {}, met or {}, seat_counts or {}),
        want=want,
        draw_key=bytes(32),
        serial=serial,
    )


def test_neighbours_in_rating_meet() -> None:
    bots = [bot(name, rating) for name, rating in zip("ABCDEF", (1000, 1020, 1500, 1520, 2000, 2020), strict=True)]

    met = {frozenset(table) for table in tables(bots, want=3)}

    assert met == {frozenset("AB"), frozenset("CD"), frozenset("EF")}


def test_a_new_bot_plays_at_once() -> None:
    bots = [*(bot(f"old {number}", 1400 + number, games=500) for number in range(50)), bot("new", games=0)]

    for serial in range(20):
        assert "new" in tables(bots, serial=serial)[0]


def test_a_new_bot_of_an_owner_with_others_is_the_one_that_plays() -> None:
    mine = [bot(f"mine {number}", 1500, games=200, owner="me") for number in range(5)]
    bots = [*mine, bot("new", 1400, games=0, owner="me"), bot("other", 1550, games=1000)]

    assert {*tables(bots)[0]} == {"new", "other"}


def test_siblings_never_share_a_table() -> None:
    mine = [bot(f"mine {number}", owner="me") for number in range(9)]

    assert tables(mine, want=4) == []
    assert len(tables([*mine, bot("other", 2500)], want=4)) == 1
    assert tables([*mine, bot("other", 2500)], want=4, seats=3) == []


def test_bots_without_an_owner_are_nobodys_siblings() -> None:
    assert len(tables([bot(name) for name in "ABCD"], want=4, seats=4)) == 1


def test_a_bot_sits_in_no_more_matches_than_it_may() -> None:
    bots = [bot(name) for name in "ABCD"]

    assert len(tables(bots, want=9)) == 2
    assert Counter(entrant for table in tables(bots, want=9, per_bot=3) for entrant in table) == dict.fromkeys(
        "ABCD", 3
    )
    assert {*tables(bots, want=9, busy={"A": 1, "C": 1})[0]} == {"B", "D"}


def test_no_more_matches_are_in_flight_than_wanted() -> None:
    bots = [bot(f"{number}") for number in range(40)]

    assert len(tables(bots, want=3)) == 3
    assert len(tables(bots, want=30, at_once=7)) == 7
    assert len(tables(bots, want=30, at_once=7, busy={"0": 1, "1": 1, "2": 1, "3": 1})) == 5


def test_who_is_not_active_is_not_seated() -> None:
    assert tables([bot("A"), Entrant("B", active=False)]) == []


def test_recent_meetings_cost_a_spread_of_rating_each() -> None:
    bots = [bot("A", 1500, games=0), bot("near", 1510), bot("far", 1690)]
    met = {frozenset(("A", "near")): 1}

    assert {*tables(bots)[0]} == {"A", "near"}
    assert {*tables(bots, met=met, spread=200)[0]} == {"A", "far"}  # 190 points away are cheaper than one meeting
    assert {*tables(bots, met=met, spread=150)[0]} == {"A", "near"}


def test_everybody_sits_where_it_has_sat_least() -> None:
    sat = {"A": [5, 0, 1], "B": [0, 5, 5], "C": [3, 3, 0]}

    assert tables([bot(name) for name in "ABC"], seats=3, seat_counts=sat) == [("B", "A", "C")]


def test_the_same_question_has_one_answer_and_the_next_number_another() -> None:
    bots = [bot(f"{number}", games=0) for number in range(60)]

    assert tables(bots, want=10) == tables(bots, want=10)
    assert tables(bots, want=10) != tables(bots, want=10, serial=2)


@pytest.mark.parametrize(
    ("bots", "at_once", "per_bot", "level"),
    [
        ((1, 1, 1, 1), 1, 1, 1),  # two seats for four owners
        ((5, 5, 5), 6, 1, 4),  # twelve seats, three owners
        ((1, 1, 10), 4, 1, 4),  # eight seats: two owners take one each, and one table has one seat for the third
        ((2, 4, 50), 6, 1, 6),  # twelve seats: 2 and 4 leave 6
        ((2, 6, 50), 6, 1, 5),  # twelve seats: 2 leave five each
        ((1, 3, 25), 6, 2, 5),
        ((), 6, 2, 6),
    ],
)
def test_owners_share_the_seats_as_water_finds_its_level(
    bots: tuple[int, ...], at_once: int, per_bot: int, level: int
) -> None:
    assert max_seats_per_owner(bots, at_once, per_bot, 2) == level


def played(
    owners: Mapping[str, int], count: int, at_once: int, met: Counter[frozenset[str]]
) -> tuple[Counter[str], float]:
    """Play ``count`` matches, some concurrently. Return matches by bot and the mean rating distance; update ``met``."""
    rng = Random(7)
    bots = {f"{owner}.{number}": owner for owner, many in owners.items() for number in range(many)}
    ratings = {entrant: int(rng.gauss(1500, 200)) for entrant in bots}
    games, busy = Counter[str](), Counter[str]()
    flying: list[tuple[str, ...]] = []
    distance = made = 0
    while made < count:
        people = [bot(entrant, ratings[entrant], games[entrant], owner) for entrant, owner in bots.items()]
        for table in tables(people, at_once - len(flying), busy=busy, met=met, serial=made, at_once=at_once):
            made += 1
            distance += abs(ratings[table[0]] - ratings[table[1]])
            flying.append(table)
            busy.update(table)
            met[frozenset(table)] += 1
        done = flying.pop(rng.randrange(len(flying)))
        busy.subtract(done)
        games.update(done)
    return games, distance / made


def test_an_owner_of_many_bots_plays_no_more_than_others() -> None:
    owners = {**{f"one {number}": 1 for number in range(20)}, "many": 20}

    games, _ = played(owners, 600, 6, Counter())

    of_owner = Counter[str]()
    for entrant, many in games.items():
        of_owner[entrant.split(".")[0]] += many
    mean = 2 * 600 / len(owners)  # 57 matches each
    assert all(abs(many - mean) <= 25 for many in of_owner.values()), of_owner
    assert min(games[f"many.{number}"] for number in range(20)) >= 1, "a bot of the great owner never plays"


def test_among_many_the_matches_are_close() -> None:
    games, distance = played({f"owner {number}": 1 + number % 3 for number in range(60)}, 600, 10, Counter())

    assert distance < 80  # two at random: 226
    assert len(games) == 120


def test_few_who_meet_all_the_time_still_meet_neighbours_most() -> None:
    met = Counter[frozenset[str]]()

    _, distance = played({f"owner {number}": 1 for number in range(10)}, 600, 2, met)

    assert distance < 0.9 * 152  # two of these at random
    assert len(met) == 45, "two have never met"
    assert max(met.values()) <= 4 * 600 / 45


def test_thousands_are_sorted_out_near_their_place() -> None:
    rng = Random(1)
    bots = [bot(f"{n}", int(rng.gauss(1500, 300)), rng.randrange(500), f"owner {n % 3000}") for n in range(10_000)]
    rating = {entrant.id: entrant.rating for entrant in bots}

    made = tables(bots, want=50, seats=4, at_once=100)

    assert len({entrant for table in made for entrant in table}) == 200
    spans = sorted(max(map(rating.__getitem__, table)) - min(map(rating.__getitem__, table)) for table in made)
    assert spans[len(spans) // 2] < 20 * MICRO


# -- the format --


def test_it_has_no_rounds_and_is_never_done() -> None:
    tournament = PairingInput(2, LADDER.options({}, 2), 1, (bot("A"), bot("B")), (), bytes(32))

    assert LADDER.next_round(tournament) is None
    assert LADDER.expected_matches(tournament) == 0
    assert LADDER.takes_late_entries


@pytest.mark.parametrize("given", [{"at_once": 0}, {"per_bot": 101}, {"spread": "wide"}, {"cap": 3}])
def test_options_out_of_bounds_are_named(given: dict[str, object]) -> None:
    with pytest.raises(BadOption) as refused:
        LADDER.options(given, 2)

    assert refused.value.field == f"format_options.{next(iter(given))}"


def test_cycles_are_refused() -> None:
    with pytest.raises(BadOption, match="cycles"):
        LADDER.check(5, 2, LADDER.options({}, 2), 2)
