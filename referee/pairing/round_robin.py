"""Schedule round robins, in which everyone meets everyone. The schedule depends on the entries alone."""

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any, ClassVar, TypeVar

from referee.errors import BadOption
from referee.pairing.kinds import TournamentFormat
from referee.pairing.mixed_robin import mixed_round_robin
from referee.pairing.model import Format, Json, MatchesPerLeg, PairingInput, PairingRound, Table, count_decided
from referee.pairing.options import check_fills_a_table, refuse_unknown
from referee.pairing.seat_balance import balance_seats
from referee.pairing.seeded_random import shuffle
from referee.pairing.table_sizes import split_tables

Entrant = TypeVar("Entrant", bound=Hashable)
MAX_TABLES = 20_000


class RoundRobin(Format):
    """Let every set of ``seats`` entrants meet ``cycles`` times, with seats as even as possible.

    If nobody leaves, the numbers of times that an entrant has each seat differ by at most 1.

    If smaller tables are allowed, a cycle instead has as many rounds as entrants; everyone plays in each of them, and
    any two entrants meet about equally often (``mixed_robin``).

    The entrants at the start, in random positions, determine the schedule. A table with an entrant who is inactive when
    its round begins is dropped: its other entrants have a bye, and the table is not played later.
    """

    name = TournamentFormat.ROUND_ROBIN
    static = True
    turns: ClassVar = 1  # passes through the schedule per cycle

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        refuse_unknown(given)
        return {}

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int, min_seats: int = 0) -> None:
        _check_size(entrants, seats, cycles * self.turns, min_seats)

    def expected_matches(self, tournament: PairingInput, matches_per_leg: MatchesPerLeg) -> int:
        """Count the matches at tables played so far and at scheduled tables whose entrants are all active."""
        scheduled = (table for tables in self._remaining_rounds(tournament) for table in tables)
        return count_decided(tournament, matches_per_leg) + sum(matches_per_leg(len(table)) for table in scheduled)

    def next_round(self, tournament: PairingInput) -> PairingRound | None:
        """Return the next scheduled round with at least one table, or None after the last."""
        for tables in self._remaining_rounds(tournament):
            if tables:
                return PairingRound(tuple(Table(table) for table in tables))
        return None

    def _remaining_rounds(self, tournament: PairingInput) -> list[list[tuple[str, ...]]]:
        """Return the tables of the remaining scheduled rounds, without those of inactive entrants."""
        starters = [entrant.id for entrant in tournament.entrants if entrant.first_round == 1]
        if len(starters) < tournament.seats:
            return []
        order = tuple(shuffle(starters, tournament.draw_key, "places"))
        schedule = _schedule(order, tournament.seats, tournament.cycles * self.turns, tournament.min_seats)
        away = {entrant.id for entrant in tournament.entrants if not entrant.active}
        return [
            [table for table in tables if away.isdisjoint(table)]
            for tables in schedule[_next_round_index(schedule, tournament) :]
        ]


class DoubleRoundRobin(RoundRobin):
    """Play the schedule of a round robin twice per cycle, the second time with rotated seats."""

    name = TournamentFormat.DOUBLE_ROUND_ROBIN
    turns: ClassVar = 2


def round_robin(
    entrants: Sequence[Entrant], seats: int, cycles: int = 1, min_seats: int = 0
) -> list[list[tuple[Entrant, ...]]]:
    """Return rounds of tables in which every group of ``seats`` entrants meets once per cycle.

    If smaller tables, of ``min_seats``, are allowed, return the rounds of ``mixed_round_robin``.

    Nobody sits at two tables of a round, so its tables can play the same deals. Over all cycles, the numbers of times
    that an entrant has each seat differ by at most 1. Each cycle rotates every table by one seat, except where this
    balance needs other seats. Raise ``BadOption`` if there are too few entrants or if more than ``MAX_TABLES`` tables
    would be needed.
    """
    _check_size(len(entrants), seats, cycles, min_seats)
    if _plays_every_round(len(entrants), seats, min_seats):
        return mixed_round_robin(entrants, seats, min_seats, cycles)
    once = balance_seats(_circle(entrants) if seats == 2 else _pack_rounds(list(combinations(entrants, seats))))
    return balance_seats([[_rotate(table, cycle) for table in tables] for cycle in range(cycles) for tables in once])


def _check_size(entrants: int, seats: int, cycles: int, min_seats: int) -> None:
    check_fills_a_table(entrants, seats)
    tables = _count_tables(entrants, seats, min_seats) * cycles
    if tables <= MAX_TABLES:
        return
    most = entrants
    while most >= seats and _count_tables(most, seats, min_seats) * cycles > MAX_TABLES:
        most -= 1
    possible = f"up to {most} bots" if most >= seats else "no number of bots with this number of cycles"
    raise BadOption(
        "entries",
        f"a round-robin of {entrants} bots would need {tables} tables; "
        f"at most {MAX_TABLES} are allowed, enough for {possible}",
    )


def _count_tables(entrants: int, seats: int, min_seats: int) -> int:
    """Return the number of tables of a cycle."""
    if _plays_every_round(entrants, seats, min_seats):
        return entrants * len(split_tables(entrants, seats, min_seats))
    return comb(entrants, seats)


def _plays_every_round(entrants: int, seats: int, min_seats: int) -> bool:
    """Return whether smaller tables are allowed and let everyone play in every round.

    Four entrants at tables of two are left out: with the places of a circle, not all of them would meet.
    """
    sizes = split_tables(entrants, seats, min_seats)
    return 0 < min_seats < seats and sum(sizes) == entrants and sizes != (2, 2)


@lru_cache(maxsize=4)  # callers need it for every round, and that of a large tournament takes long to compute
def _schedule(starters: tuple[str, ...], seats: int, cycles: int, min_seats: int) -> list[list[tuple[str, ...]]]:
    return round_robin(starters, seats, cycles, min_seats)


def _next_round_index(schedule: Sequence[Sequence[tuple[str, ...]]], tournament: PairingInput) -> int:
    """Return the index in the schedule after the last round played. Rounds in which nobody could play were skipped."""
    following = 0
    for played in tournament.played:
        table = played.round.tables[0].entrants
        following = 1 + next(index for index in range(following, len(schedule)) if table in schedule[index])
    return following


def _circle(entrants: Sequence[Entrant]) -> list[list[tuple[Entrant, ...]]]:
    """Return rounds of pairs by the circle method. If the number of entrants is odd, one has a bye in each round."""
    ring: list[Entrant | None] = [*entrants] if len(entrants) % 2 == 0 else [*entrants, None]
    rounds: list[list[tuple[Entrant, ...]]] = []
    for _ in range(len(ring) - 1):
        half = len(ring) // 2
        pairs = zip(ring[:half], reversed(ring[half:]), strict=True)
        rounds.append([(entrant, other) for entrant, other in pairs if entrant is not None and other is not None])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return rounds


def _pack_rounds(tables: Sequence[tuple[Entrant, ...]]) -> list[list[tuple[Entrant, ...]]]:
    """Put each table into the first round in which none of its entrants sits yet."""
    everyone = dict.fromkeys(entrant for table in tables for entrant in table)
    bits = {entrant: 1 << index for index, entrant in enumerate(everyone)}
    rounds: list[list[tuple[Entrant, ...]]] = []
    open_rounds: list[int] = []
    sitting: list[int] = []  # by open round, a bit for each entrant
    for table in tables:
        sits = sum(bits[entrant] for entrant in table)
        chosen = next((index for index, others in enumerate(sitting) if not others & sits), len(sitting))
        if chosen == len(sitting):
            open_rounds.append(len(rounds))
            rounds.append([])
            sitting.append(0)
        rounds[open_rounds[chosen]].append(table)
        sitting[chosen] |= sits
        if len(bits) - sitting[chosen].bit_count() < len(table):  # too few entrants are left for another table
            del open_rounds[chosen], sitting[chosen]
    return rounds


def _rotate(table: tuple[Entrant, ...], by: int) -> tuple[Entrant, ...]:
    by %= len(table)
    return table[by:] + table[:by]
