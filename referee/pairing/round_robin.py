"""Who meets whom: the tables of a tournament, decided from the entries alone. Carrying it out is the scheduler's."""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations
from math import comb
from typing import TypeVar

from referee.errors import BadOption

Entrant = TypeVar("Entrant", bound=Hashable)
MAX_TABLES = 20_000


def round_robin(entrants: Sequence[Entrant], seats: int, cycles: int = 1) -> list[list[tuple[Entrant, ...]]]:
    """Stages of tables in which every group of ``seats`` entrants meets once a cycle.

    Nobody sits at two tables of a stage, so the tables of a stage can play the same deals. Seats are balanced
    over a cycle, and each cycle turns every table by one seat. Raises ``BadOption`` when
    there are too few entrants, or more than ``MAX_TABLES`` tables would be needed.
    """
    if len(entrants) < seats:
        raise BadOption("entries", f"a table has {seats} seats, but only {len(entrants)} bots are entered")
    tables = comb(len(entrants), seats) * cycles
    if tables > MAX_TABLES:
        raise BadOption("entries", f"a round-robin would need {tables} tables; at most {MAX_TABLES} are played")
    stages = _circle(entrants) if seats == 2 else _packed(list(combinations(entrants, seats)))
    taken: Counter[tuple[Entrant, int]] = Counter()
    once = [[_seated(table, taken) for table in stage] for stage in stages]
    return [[_turned(table, cycle) for table in stage] for cycle in range(cycles) for stage in once]


def _circle(entrants: Sequence[Entrant]) -> list[list[tuple[Entrant, ...]]]:
    """Pairs by the circle method: the first stays, the others move on; with an odd number one rests."""
    ring: list[Entrant | None] = [*entrants] if len(entrants) % 2 == 0 else [*entrants, None]
    stages: list[list[tuple[Entrant, ...]]] = []
    for _ in range(len(ring) - 1):
        half = len(ring) // 2
        pairs = zip(ring[:half], reversed(ring[half:]), strict=True)
        stages.append([(one, other) for one, other in pairs if one is not None and other is not None])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return stages


def _packed(tables: Sequence[tuple[Entrant, ...]]) -> list[list[tuple[Entrant, ...]]]:
    """Puts each table into the first stage where none of its entrants sits yet."""
    stages: list[list[tuple[Entrant, ...]]] = []
    sitting: list[set[Entrant]] = []
    for table in tables:
        place = next((i for i, seated in enumerate(sitting) if seated.isdisjoint(table)), len(stages))
        if place == len(stages):
            stages.append([])
            sitting.append(set())
        stages[place].append(table)
        sitting[place].update(table)
    return stages


def _seated(table: tuple[Entrant, ...], taken: Counter[tuple[Entrant, int]]) -> tuple[Entrant, ...]:
    """The table turned so that its entrants sit where they have sat least; ``taken`` counts on."""
    turns = [_turned(table, turn) for turn in range(len(table))]
    best = min(turns, key=lambda turned: sum(taken[entrant, seat] ** 2 for seat, entrant in enumerate(turned)))
    taken.update((entrant, seat) for seat, entrant in enumerate(best))
    return best


def _turned(table: tuple[Entrant, ...], by: int) -> tuple[Entrant, ...]:
    by %= len(table)
    return table[by:] + table[:by]
