"""Walk through the ledger of a ladder, recompute its ratings, and compare them with those that a source shows.

The walk uses no derived values, so that its outcome can be compared with them. It keeps in memory the ratings of the
ladder's bots, and what the results gave that are voided later.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from referee.audit.findings import Difference, compare
from referee.ladders.kinds import EntryKind
from referee.ladders.rating_replay import RatedSeats, RatingMove, RatingReplay
from referee.match.canonical import Json


@dataclass(frozen=True, slots=True)
class AuditedEntry:
    """Hold a ledger entry with all data for a replay, and the rating changes that its source shows, keyed by bot id.

    ``day`` is its day in UTC as a ``date.toordinal``. ``is_voided`` says whether an entry voids its match. ``seats`` is
    None if the match has no valid result.
    """

    seq: int
    kind: EntryKind
    match_id: str | None
    day: int
    is_voided: bool
    seats: RatedSeats | None
    changes: Mapping[str, Json]


class ShownValues(NamedTuple):
    """Hold values of one kind that a source shows after the last entry, and those that follow from the walk."""

    kind: str
    stored: Mapping[Any, Any]
    expected: Mapping[Any, Any]


class LadderSource(Protocol):
    """Read a ladder from the database or from public files."""

    @property
    def ladder_id(self) -> str: ...

    def entries(self) -> Iterator[AuditedEntry]:
        """Yield all ledger entries in order."""

    def values(self, walk: "LadderWalk") -> Iterator[ShownValues]:
        """Yield what the source shows after the last entry."""


@dataclass
class LadderWalk:
    """Represent a walk in progress. ``as_of`` has the last entry that changed a bot's rating, keyed by bot id."""

    source: LadderSource
    replay: RatingReplay = field(default_factory=RatingReplay)
    as_of: dict[str, int] = field(default_factory=dict)
    _given: dict[str | None, list[RatingMove]] = field(default_factory=dict)  # by match that is voided later

    def entries(self) -> Iterator[tuple[AuditedEntry, list[RatingMove], list[Difference]]]:
        """Yield each entry with the changes that follow from it, and the differences between them and those shown."""
        ladder_id = self.source.ladder_id
        for entry in self.source.entries():
            moves = self._apply(entry)
            self.as_of |= dict.fromkeys((move.bot_id for move in moves), entry.seq)
            expected = {
                move.bot_id: {"ladder_id": ladder_id, "before": move.before.value, **move.after._asdict()}
                for move in moves
            }
            found = compare("change", entry.changes, expected, ladder_id, prefix=f"entry {entry.seq}, ")
            yield entry, moves, list(found)

    def values(self) -> Iterator[Difference]:
        """Yield the differences between the values after the last entry, to be called after all entries."""
        ladder_id = self.source.ladder_id
        for kind, stored, expected in self.source.values(self):
            yield from compare(kind, stored, expected, ladder_id, prefix=f"{ladder_id}, ")

    def _apply(self, entry: AuditedEntry) -> list[RatingMove]:
        if entry.kind == EntryKind.VOID:
            return self.replay.take_back(self._given.pop(entry.match_id, []))
        if entry.kind != EntryKind.RESULT:
            return []
        self.replay.begin_day(entry.day)
        moves = [] if entry.seats is None else self.replay.apply_result(entry.seats)
        if entry.is_voided:
            self._given[entry.match_id] = moves
        return moves


def check_values(source: LadderSource) -> Iterator[Difference]:
    """Yield each value of a ladder that does not follow from its ledger."""
    walk = LadderWalk(source)
    for _, _, differences in walk.entries():
        yield from differences
    yield from walk.values()
