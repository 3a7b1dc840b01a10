"""What a format is told of an event, and what it decides: stages of tables, byes, further matches at a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from referee.ratings.elo import START

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entrant:
    """Somebody to be paired. ``rating`` is in micro-points, ``seed`` set by hand (1 is the strongest), ``since`` the
    first stage it may play in, ``games`` its matches so far. Two of one ``owner`` are siblings; "" has none."""

    id: str
    owner: str = ""
    rating: int = START
    seed: int | None = None
    since: int = 1
    active: bool = True
    games: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Entrants by seat; ``legs`` matches are arranged at first, more when the format asks for them."""

    entrants: tuple[str, ...]
    label: str = ""
    legs: int = 1


@dataclass(frozen=True, slots=True)
class Bye:
    """An entrant that does not play in a stage: "odd" (no table was left), "walkover" (no opponent was left)."""

    entrant: str
    reason: str


@dataclass(frozen=True, slots=True)
class PairingRound:
    """Tables that are played at the same time; nobody sits at two of them."""

    tables: tuple[Table, ...]
    byes: tuple[Bye, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Leg:
    """A finished match that counts, everything by seat. ``scored`` tells who played itself (() : all did); what a
    stand-in plays decides a knockout's table, but brings no points where points are kept."""

    entrants: tuple[str, ...]
    placements: tuple[int, ...]
    returns: tuple[int, ...]
    scored: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """A stage as it went: the legs of each table, () where none counts (cancelled, or void and not played again)."""

    stage: PairingRound
    legs: tuple[tuple[Leg, ...], ...]


@dataclass(frozen=True, slots=True)
class TournamentState:
    """All that a pairing may depend on. ``entrants`` in the order of entry, ``played`` the stages so far, all over;
    ``draw`` decides by lot."""

    seats: int
    options: Mapping[str, Any]
    cycles: int
    entrants: tuple[Entrant, ...]
    played: tuple[PlayedRound, ...]
    draw: bytes


class Format(Protocol):
    """How an event goes. Decides from the event alone, so that whoever asks again gets the same answer."""

    name: str
    takes_late_entries: bool
    static: bool  # its stages do not depend on results

    def options(self, given: Mapping[str, Any], seats: int) -> Json:
        """The format's own options, checked and complete; raises ``BadOption``."""
        ...

    def check(self, entrants: int, seats: int, options: Mapping[str, Any], cycles: int) -> None:
        """Raises ``BadOption`` when so many entrants cannot play this event."""
        ...

    def expected_matches(self, event: TournamentState) -> int:
        """The matches of the whole event, as far as can be foreseen."""
        ...

    def next_stage(self, event: TournamentState) -> PairingRound | None:
        """The stage after those played; None when the event is over."""
        ...

    def more_legs(self, event: TournamentState, table: Table, legs: Sequence[Leg]) -> int:
        """How many more matches a table needs once those arranged are over; 0 when it is decided."""
        ...
