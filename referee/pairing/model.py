"""Define the input of tournament formats (entrants, played rounds) and their output (tables, byes, further legs)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from referee.pairing.kinds import TournamentFormat
from referee.pairing.table_sizes import MIN_SEATS
from referee.ratings.elo import START

Json = dict[str, Any]
MatchesPerLeg = Callable[[int], int]  # the number of matches of one leg, by the size of the table


@dataclass(frozen=True, slots=True)
class Entrant:
    """Represent a participant to be paired.

    ``rating`` is in micro-points, ``seed`` was set manually (1 is the strongest), and ``first_round`` is the first
    round in which the entrant may play. An entrant that is not ``active`` is not paired. The bot of an ``absent`` one
    could not be reached; a substitute may play for it. Entrants of the same ``owner`` are siblings; "" means no owner.
    """

    id: str
    owner: str = ""
    rating: int = START
    seed: int | None = None
    first_round: int = 1
    active: bool = True
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Represent a table with its entrants in seat order.

    ``legs`` matches are scheduled first, then more if the format needs them.
    """

    entrants: tuple[str, ...]
    label: str = ""
    legs: int = 1


@dataclass(frozen=True, slots=True)
class Bye:
    """Represent an entrant without a table in a round.

    The reason is "odd" (all tables were full) or "walkover" (no opponent).
    """

    entrant: str
    reason: str


@dataclass(frozen=True, slots=True)
class PairingRound:
    """Represent a round: tables that are played concurrently. No entrant sits at two of them."""

    tables: tuple[Table, ...]
    byes: tuple[Bye, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Leg:
    """Represent a finished match that counts. Every field has one entry per seat.

    ``scored`` is false for seats in which a substitute played; () means that no substitute played. A substitute's
    result decides a knockout table, but brings no points in formats that count points.
    """

    entrants: tuple[str, ...]
    placements: tuple[int, ...]
    returns: tuple[int, ...]
    scored: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """Represent a finished round.

    ``legs`` has, for each table, the legs that count, without cancelled and voided ones.
    """

    round: PairingRound
    legs: tuple[tuple[Leg, ...], ...]


@dataclass(frozen=True, slots=True)
class PairingInput:
    """Hold all data on which a pairing may depend.

    ``entrants`` are in order of entry, ``played`` are the rounds so far, all finished. ``draw_key`` determines all
    random choices. Tables have ``seats`` seats; where these do not hold everyone, smaller ones have at least
    ``min_seats`` (0: there are no smaller ones).
    """

    seats: int
    options: Mapping[str, Any]
    cycles: int
    entrants: tuple[Entrant, ...]
    played: tuple[PlayedRound, ...]
    draw_key: bytes
    min_seats: int = 0

    @property
    def least_seats(self) -> int:
        """Return the smallest number of seats that a table may have."""
        return max(MIN_SEATS, self.min_seats) if self.min_seats else self.seats


def count_decided(tournament: PairingInput, matches_per_leg: MatchesPerLeg) -> int:
    """Return the number of matches of one leg at each table of the rounds so far."""
    tables = (table for played in tournament.played for table in played.round.tables)
    return sum(matches_per_leg(len(table.entrants)) for table in tables)


class Format(ABC):
    """Define the interface of tournament formats. All return values depend only on the arguments."""

    name: TournamentFormat
    takes_late_entries = False
    static = False  # its rounds do not depend on results

    @abstractmethod
    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        """Return the format's options, validated and with defaults filled in. Raise ``BadOption`` for invalid ones."""

    @abstractmethod
    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int, min_seats: int = 0) -> None:
        """Raise ``BadOption`` if this number of entrants cannot play such a tournament."""

    @abstractmethod
    def expected_matches(self, tournament: PairingInput, matches_per_leg: MatchesPerLeg) -> int:
        """Return the number of matches of the whole tournament, as far as it can be predicted; 0 if it cannot."""

    @abstractmethod
    def next_round(self, tournament: PairingInput) -> PairingRound | None:
        """Return the round that follows the played rounds, or None if the tournament is over."""

    def more_legs(self, tournament: PairingInput, table: Table, legs: Sequence[Leg]) -> int:
        """Return how many more matches a table needs after ``legs``, or 0 if it is decided."""
        return 0
