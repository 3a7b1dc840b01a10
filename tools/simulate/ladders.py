"""A simulated continuous ladder: bots come and go while matches are kept in flight, and fairness is looked at."""

from collections import Counter, deque
from dataclasses import replace
from functools import partial
from random import Random

from referee.pairing import Entrant
from referee.pairing.ladder import LadderFormat, LadderState, max_seats_per_owner, next_tables
from referee.ratings.elo import MICRO

STEPS = 40
WINDOW = 60  # matches that count as recent


def ladder(rng: Random) -> dict[str, int]:
    """Plays one for a while. Raises AssertionError with what it was about."""
    seats = rng.choice((2, 2, 3, 4))
    options = LadderFormat().options({"at_once": rng.randint(1, 12), "per_bot": rng.randint(1, 3)}, seats)
    entrants = [_entrant(number, rng) for number in range(rng.randint(seats, 30))]
    try:
        matches = _kept_going(entrants, seats, options, rng)
    except AssertionError as error:
        raise AssertionError(f"{error} ({len(entrants)} bots at tables of {seats}, {options})") from error
    return {"events": 1, "matches": matches}


def _entrant(number: int, rng: Random) -> Entrant:
    owner = rng.choice(("", f"owner {int(rng.expovariate(0.3))}"))
    return Entrant(f"e{number}", owner, int(rng.gauss(1500, 200)) * MICRO)


def _kept_going(entrants: list[Entrant], seats: int, options: dict[str, int], rng: Random) -> int:
    flying: list[tuple[str, ...]] = []
    recent: deque[tuple[str, ...]] = deque(maxlen=WINDOW)
    games: Counter[str] = Counter()
    sat: dict[str, list[int]] = {}
    draw = rng.randbytes(32)
    for step in range(STEPS):
        if rng.random() < 0.1:
            entrants.append(_entrant(len(entrants), rng))
        entrants[:] = [replace(one, active=rng.random() > (0.02 if one.active else 0.7)) for one in entrants]
        people = [replace(one, games=games[one.id]) for one in entrants]
        busy = Counter(one for table in flying for one in table)
        met = Counter(frozenset((one, two)) for table in recent for one in table for two in table if one < two)
        want = rng.randint(0, options["at_once"])

        asked = partial(next_tables, want=want, draw_key=draw, serial=step)
        tables = asked(people, LadderState(seats, options, busy, met, sat))
        again = asked([*people], LadderState(seats, {**options}, {**busy}, {**met}, {**sat}))
        assert again == tables, "asked again, the ladder decided otherwise"
        _allowed(people, tables, flying, seats, options, want)
        flying += tables
        recent.extend(tables)
        for table in tables:
            for seat, one in enumerate(table):
                sat.setdefault(one, [0] * seats)[seat] += 1
        for _ in range(rng.randint(0, len(flying))):
            games.update(flying.pop(rng.randrange(len(flying))))
    spread = max((max(counts) - min(counts) for counts in sat.values()), default=0)
    assert spread <= 6, f"seats differ by {spread}"
    return games.total() // seats


def _allowed(
    people: list[Entrant],
    tables: list[tuple[str, ...]],
    flying: list[tuple[str, ...]],
    seats: int,
    options: dict[str, int],
    want: int,
) -> None:
    owner = {one.id: one.owner or one.id for one in people}
    bots = Counter(owner[one.id] for one in people if one.active)
    for table in tables:
        assert len({owner[one] for one in table}) == seats == len(table), "siblings at one table"
    active = {one.id for one in people if one.active}
    assert active.issuperset(one for table in tables for one in table), "somebody plays who is not there"
    busy = Counter(one for table in (*flying, *tables) for one in table)
    before = Counter(one for table in flying for one in table)
    assert all(busy[one] <= options["per_bot"] for one in busy if busy[one] > before[one]), "a bot is in too many"
    assert len(tables) <= want
    assert len(tables) + len(flying) <= options["at_once"] or not tables, "too many matches in flight"
    level = max_seats_per_owner([*bots.values()], options["at_once"], options["per_bot"], seats)
    held = Counter(owner[one] for one in busy.elements())
    grown = {owner[one] for table in tables for one in table}
    assert all(held[one] <= level for one in grown), "an owner holds more than its share"
    if len(tables) < min(want, options["at_once"] - len(flying)):
        free = {owner[one] for one in active if busy[one] < options["per_bot"] and held[owner[one]] < level}
        assert len(free) < seats, f"{free} could have played"
