"""Round robins: everybody meets everybody, on a schedule that is worked out from the entries alone."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any, ClassVar, TypeVar

from referee.errors import BadOption
from referee.pairing.model import Json, Leg, PairingRound, Table, TournamentState
from referee.pairing.options import check_fills_a_table, refuse_unknown
from referee.pairing.seeded_random import shuffle

Entrant = TypeVar("Entrant", bound=Hashable)
MAX_TABLES = 20_000


class RoundRobin:
    """Every set of as many entrants as a table seats meets ``cycles`` times; seats balanced, turned each cycle.

    The schedule follows from the entrants at the start, their places in it drawn by lot. A table with somebody who
    is not active when its stage comes is left out: its other entrants rest, and it is not made up for later.
    """

    name = "round_robin"
    takes_late_entries = False
    static = True
    turns: ClassVar = 1  # how often a cycle of the event goes through the schedule

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        refuse_unknown(given)
        return {}

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int) -> None:
        _check(entrants, seats, cycles * self.turns)

    def expected_matches(self, event: TournamentState) -> int:
        """Tables decided so far and those to come, as far as their entrants are active."""
        decided = sum(len(played.stage.tables) for played in event.played)
        return decided + sum(len(stage) for stage in self._to_come(event))

    def next_stage(self, event: TournamentState) -> PairingRound | None:
        """The next stage of the schedule in which anybody plays."""
        for stage in self._to_come(event):
            if stage:
                return PairingRound(tuple(Table(table) for table in stage))
        return None

    def more_legs(self, event: TournamentState, table: Table, legs: Sequence[Leg]) -> int:
        return 0

    def _to_come(self, event: TournamentState) -> list[list[tuple[str, ...]]]:
        """What is left of the schedule, without the tables of those who are not active."""
        starters = [entrant.id for entrant in event.entrants if entrant.since == 1]
        if len(starters) < event.seats:
            return []
        places = tuple(shuffle(starters, event.draw, "places"))
        schedule = _schedule(places, event.seats, event.cycles * self.turns)
        away = {entrant.id for entrant in event.entrants if not entrant.active}
        return [
            [table for table in stage if away.isdisjoint(table)]
            for stage in schedule[_next_round_index(schedule, event) :]
        ]


class DoubleRoundRobin(RoundRobin):
    """A round robin in which a cycle goes twice through the schedule, the second time with all seats turned."""

    name = "double_round_robin"
    turns: ClassVar = 2


def round_robin(entrants: Sequence[Entrant], seats: int, cycles: int = 1) -> list[list[tuple[Entrant, ...]]]:
    """Stages of tables in which every group of ``seats`` entrants meets once a cycle.

    Nobody sits at two tables of a stage, so the tables of a stage can play the same deals. Seats are balanced
    over a cycle, and each cycle turns every table by one seat. Raises ``BadOption`` when
    there are too few entrants, or more than ``MAX_TABLES`` tables would be needed.
    """
    _check(len(entrants), seats, cycles)
    stages = _circle(entrants) if seats == 2 else _pack_rounds(list(combinations(entrants, seats)))
    taken: Counter[tuple[Entrant, int]] = Counter()
    place = {entrant: at for at, entrant in enumerate(entrants)}
    once = [
        [_order_pair(table, place) if seats == 2 else _assign_seats(table, taken) for table in stage]
        for stage in stages
    ]
    return [[_rotate(table, cycle) for table in stage] for cycle in range(cycles) for stage in once]


def _check(entrants: int, seats: int, cycles: int) -> None:
    check_fills_a_table(entrants, seats)
    tables = comb(entrants, seats) * cycles
    if tables <= MAX_TABLES:
        return
    most = entrants
    while comb(most, seats) * cycles > MAX_TABLES:
        most -= 1
    possible = f"up to {most} bots can" if most >= seats else "no number of bots can in so many cycles"
    raise BadOption(
        "entries",
        f"a round-robin of {entrants} bots would need {tables} tables; at most {MAX_TABLES} are played: {possible}",
    )


@lru_cache(maxsize=4)  # a stage is asked for at a time, and the schedule of a great event takes a while
def _schedule(places: tuple[str, ...], seats: int, cycles: int) -> list[list[tuple[str, ...]]]:
    return round_robin(places, seats, cycles)


def _next_round_index(schedule: Sequence[Sequence[tuple[str, ...]]], event: TournamentState) -> int:
    """The index after the last stage that was played; stages in which nobody could play were passed over."""
    where: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, stage in enumerate(schedule):
        for table in stage:
            where[table].append(index)
    at = -1
    for played in event.played:
        at = next(index for index in where[played.stage.tables[0].entrants] if index > at)
    return at + 1


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


def _pack_rounds(tables: Sequence[tuple[Entrant, ...]]) -> list[list[tuple[Entrant, ...]]]:
    """Puts each table into the first stage where none of its entrants sits yet."""
    bits = {entrant: 1 << at for at, entrant in enumerate(dict.fromkeys(one for table in tables for one in table))}
    stages: list[list[tuple[Entrant, ...]]] = []
    open_stages: list[int] = []
    sitting: list[int] = []  # in each of the open stages, by bits
    for table in tables:
        sits = sum(bits[one] for one in table)
        place = next((at for at, others in enumerate(sitting) if not others & sits), len(sitting))
        if place == len(sitting):
            open_stages.append(len(stages))
            stages.append([])
            sitting.append(0)
        stages[open_stages[place]].append(table)
        sitting[place] |= sits
        if len(bits) - sitting[place].bit_count() < len(table):  # nobody else finds a table there
            del open_stages[place], sitting[place]
    return stages


def _order_pair(pair: tuple[Entrant, ...], place: Mapping[Entrant, int]) -> tuple[Entrant, ...]:
    """The earlier place first if the two are an odd number of places apart, else the later: over all pairs everybody
    has each seat equally often, or once more than the other where the number of its pairs is odd."""
    early, late = sorted(pair, key=place.__getitem__)
    return (early, late) if (place[late] - place[early]) % 2 else (late, early)


def _assign_seats(table: tuple[Entrant, ...], taken: Counter[tuple[Entrant, int]]) -> tuple[Entrant, ...]:
    """The table turned so that its entrants sit where they have sat least; ``taken`` counts on."""
    turns = [_rotate(table, turn) for turn in range(len(table))]
    best = min(turns, key=lambda turned: sum(taken[entrant, seat] ** 2 for seat, entrant in enumerate(turned)))
    taken.update((entrant, seat) for seat, entrant in enumerate(best))
    return best


def _rotate(table: tuple[Entrant, ...], by: int) -> tuple[Entrant, ...]:
    by %= len(table)
    return table[by:] + table[:by]
