"""Simulate a continuous ladder whose bots come and go while matches are in progress, and check its fairness."""

from collections import Counter, deque
from dataclasses import replace
from functools import partial
from itertools import combinations
from random import Random

from referee.pairing import Entrant
from referee.pairing.ladder import LadderFormat, LadderState, max_seats_per_owner, next_tables
from referee.ratings.elo import MICRO

STEPS = 40
WINDOW = 60  # matches that count as recent


def simulate_ladder(rng: Random) -> dict[str, int]:
    """Simulate a ladder and return counts. Raise AssertionError that describes the ladder if an invariant is broken."""
    seats = rng.choice((2, 2, 3, 4))
    options = LadderFormat().options({"at_once": rng.randint(1, 12), "per_bot": rng.randint(1, 3)}, seats)
    entrants = [_entrant(number, rng) for number in range(rng.randint(seats, 30))]
    try:
        matches = _simulate(entrants, seats, options, rng)
    except AssertionError as error:
        raise AssertionError(f"{error} ({len(entrants)} bots at tables of {seats}, {options})") from error
    return {"ladders": 1, "matches": matches}


def _entrant(number: int, rng: Random) -> Entrant:
    owner = rng.choice(("", f"owner {int(rng.expovariate(0.3))}"))
    return Entrant(f"e{number}", owner, int(rng.gauss(1500, 200)) * MICRO)


def _simulate(entrants: list[Entrant], seats: int, options: dict[str, int], rng: Random) -> int:
    in_progress: list[tuple[str, ...]] = []
    recent: deque[tuple[str, ...]] = deque(maxlen=WINDOW)
    games: Counter[str] = Counter()
    sat: dict[str, list[int]] = {}
    draw = rng.randbytes(32)
    for step in range(STEPS):
        if rng.random() < 0.1:
            entrants.append(_entrant(len(entrants), rng))
        entrants[:] = [
            replace(entrant, active=rng.random() > (0.02 if entrant.active else 0.7)) for entrant in entrants
        ]
        bots = [replace(entrant, games=games[entrant.id]) for entrant in entrants]
        busy = Counter(bot for table in in_progress for bot in table)
        met = Counter(frozenset(pair) for table in recent for pair in combinations(table, 2))
        want = rng.randint(0, options["at_once"])

        asked = partial(next_tables, want=want, draw_key=draw, serial=step)
        tables = asked(bots, LadderState(seats, options, busy, met, sat))
        again = asked([*bots], LadderState(seats, {**options}, {**busy}, {**met}, {**sat}))
        assert again == tables, "the same request returned other tables"
        _check_tables(bots, tables, in_progress, seats, options, want)
        in_progress += tables
        recent.extend(tables)
        for table in tables:
            for seat, bot in enumerate(table):
                sat.setdefault(bot, [0] * seats)[seat] += 1
        for _ in range(rng.randint(0, len(in_progress))):
            games.update(in_progress.pop(rng.randrange(len(in_progress))))
    spread = max((max(counts) - min(counts) for counts in sat.values()), default=0)
    assert spread <= 6, f"seats differ by {spread}"
    return games.total() // seats


def _check_tables(
    bots: list[Entrant],
    tables: list[tuple[str, ...]],
    in_progress: list[tuple[str, ...]],
    seats: int,
    options: dict[str, int],
    want: int,
) -> None:
    owner = {entrant.id: entrant.owner or entrant.id for entrant in bots}
    bots_per_owner = Counter(owner[entrant.id] for entrant in bots if entrant.active)
    for table in tables:
        assert len({owner[bot] for bot in table}) == seats == len(table), "two bots of one owner share a table"
    active = {entrant.id for entrant in bots if entrant.active}
    assert active.issuperset(bot for table in tables for bot in table), "an inactive bot plays"
    busy = Counter(bot for table in (*in_progress, *tables) for bot in table)
    before = Counter(bot for table in in_progress for bot in table)
    assert all(busy[bot] <= options["per_bot"] for bot in busy if busy[bot] > before[bot]), (
        "a bot is in too many matches"
    )
    assert len(tables) <= want
    assert len(tables) + len(in_progress) <= options["at_once"] or not tables, "too many matches are in progress"
    level = max_seats_per_owner([*bots_per_owner.values()], options["at_once"], options["per_bot"], seats)
    held = Counter(owner[bot] for bot in busy.elements())
    grown = {owner[bot] for table in tables for bot in table}
    assert all(held[name] <= level for name in grown), "the bots of an owner hold too many seats"
    if len(tables) < min(want, options["at_once"] - len(in_progress)):
        free = {owner[bot] for bot in active if busy[bot] < options["per_bot"] and held[owner[bot]] < level}
        assert len(free) < seats, f"the free bots of {free} got no match"
