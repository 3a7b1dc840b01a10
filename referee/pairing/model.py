"""Input and output of tournament formats: entrants and played rounds in; tables, byes and further legs out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from referee.pairing.kinds import TournamentFormat
from referee.ratings.elo import START

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entrant:
    """A participant to be paired.

    ``rating`` is in micro-points, ``seed`` was set by hand (1 is the strongest), ``first_round`` is the first round
    the entrant may play in, ``games`` its number of matches so far. Entrants of the same ``owner`` are siblings; ""
    means no owner.
    """

    id: str
    owner: str = ""
    rating: int = START
    seed: int | None = None
    first_round: int = 1
    active: bool = True
    games: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Entrants by seat. ``legs`` matches are scheduled at first, more when the format asks for them."""

    entrants: tuple[str, ...]
    label: str = ""
    legs: int = 1


@dataclass(frozen=True, slots=True)
class Bye:
    """An entrant without a table in a round: "odd" (the tables were full) or "walkover" (no opponent was left)."""

    entrant: str
    reason: str


@dataclass(frozen=True, slots=True)
class PairingRound:
    """Tables that are played concurrently. No entrant sits at two of them."""

    tables: tuple[Table, ...]
    byes: tuple[Bye, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Leg:
    """A finished match that counts; every field is by seat.

    ``scored`` is false for seats that a substitute played; () means that no substitute played. A substitute's result
    decides a knockout table, but brings no points in formats that count points.
    """

    entrants: tuple[str, ...]
    placements: tuple[int, ...]
    returns: tuple[int, ...]
    scored: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """A finished round with the legs of each table; () if none counts (cancelled, or void without a rematch)."""

    round: PairingRound
    legs: tuple[tuple[Leg, ...], ...]


@dataclass(frozen=True, slots=True)
class PairingInput:
    """Everything that a pairing may depend on.

    ``entrants`` are in order of entry, ``played`` are the rounds so far, all finished. ``draw_key`` determines all
    random choices.
    """

    seats: int
    options: Mapping[str, Any]
    cycles: int
    entrants: tuple[Entrant, ...]
    played: tuple[PlayedRound, ...]
    draw_key: bytes


class Format(Protocol):
    """A tournament format. Its answers depend only on the state passed in, so asking twice gives the same answer."""

    name: TournamentFormat
    takes_late_entries: bool
    static: bool  # its rounds do not depend on results

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        """Return the format's options, validated and with defaults filled in. Raise ``BadOption`` for invalid ones."""
        ...

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int) -> None:
        """Raise ``BadOption`` when this number of entrants cannot play such a tournament."""
        ...

    def expected_matches(self, tournament: PairingInput) -> int:
        """Return the number of matches of the whole tournament, as far as it can be predicted."""
        ...

    def next_round(self, tournament: PairingInput) -> PairingRound | None:
        """Return the round after the played ones, or None when the tournament is over."""
        ...

    def more_legs(self, tournament: PairingInput, table: Table, legs: Sequence[Leg]) -> int:
        """Return how many more matches a table needs after ``legs``; 0 when it is decided."""
        ...
