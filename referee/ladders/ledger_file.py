"""Recompute a ladder from its public ledger file, without a database.

Memory grows with the bots of the ladder and with its voids, not with its results. ``ladder_replay`` does the same from
the database.
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from referee.errors import RefereeError
from referee.ladders.audit_findings import Difference
from referee.ladders.kinds import EntryKind
from referee.ladders.rating_replay import RATING_RULES, RatedSeats, RatingMove, RatingReplay, RatingState

REQUIRED: Final = {
    *("entry", "kind", "rating_rules", "entered_at", "match", "seat", "bot", "version", "owner", "rated"),
    *("anchor_micro", "placement", "returns", "before_micro", "after_micro", "games", "balance_micro"),
}
NUMBERS: Final = ("before_micro", "after_micro", "games", "balance_micro")

Row = Mapping[str, str]


class BadLedgerFile(RefereeError):
    """Signal that a file is not the complete ledger of a ladder."""


class FileEntry(NamedTuple):
    """Hold a ledger entry with its rows: of a result, one for each seat."""

    seq: int
    kind: str
    match_id: str
    rows: list[Row]

    @property
    def seats(self) -> RatedSeats:
        """Return the facts of a result."""
        rows = sorted(self.rows, key=lambda row: int(row["seat"]))
        bots, placements = [row["bot"] for row in rows], [int(row["placement"]) for row in rows]
        rated = [row["rated"] == "true" for row in rows]
        anchors = [int(row["anchor_micro"]) if row["anchor_micro"] else None for row in rows]
        owners, versions = [row["owner"] or None for row in rows], [row["version"] or None for row in rows]
        return RatedSeats(bots, placements, rated, owners, versions, anchors)

    @property
    def day(self) -> int:
        """Return the UTC day of the entry, a ``date.toordinal``."""
        return date.fromisoformat(self.rows[0]["entered_at"][:10]).toordinal()

    @property
    def rules(self) -> int:
        """Return the number of the rating rules."""
        return int(self.rows[0]["rating_rules"])


@dataclass
class LedgerFile:
    """Read a ledger file. ``voids`` has the ids of voided matches, ``results`` counts results.

    Raise ``BadLedgerFile`` if the file is no ledger.
    """

    path: Path
    entries: int = 0
    results: int = 0
    last_seq: int = 0
    voids: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        try:
            for entry in self.read():
                if entry.seq <= self.last_seq or entry.kind not in set(EntryKind):
                    raise BadLedgerFile(f"the ledger file has entry {entry.seq} ({entry.kind}) after {self.last_seq}")
                if entry.rules != RATING_RULES:
                    raise BadLedgerFile(
                        f"entry {entry.seq} of the ledger file follows rating rules {entry.rules}; this version of "
                        f"Referee knows rules {RATING_RULES}"
                    )
                self.entries, self.last_seq = self.entries + 1, entry.seq
                self.results += entry.kind == EntryKind.RESULT
                if entry.kind == EntryKind.VOID:
                    self.voids.add(entry.match_id)
        except (ValueError, TypeError, csv.Error) as error:
            raise BadLedgerFile(f"the ledger file is damaged after entry {self.last_seq}: {error}") from error

    def read(self) -> Iterator[FileEntry]:
        """Yield all entries in order."""
        with self.path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file, strict=True)
            missing = REQUIRED - set(rows.fieldnames or ())
            if missing:
                raise BadLedgerFile(f"the ledger file lacks the columns {', '.join(sorted(missing))}")
            for seq, grouped in groupby(rows, key=lambda row: row["entry"]):
                entry: list[Row] = list(grouped)
                if any(None in row.values() for row in entry):
                    raise BadLedgerFile(f"the ledger file ends within entry {seq}")
                yield FileEntry(int(seq), entry[0]["kind"], entry[0]["match"], entry)


@dataclass
class FileReplay:
    """Recompute the ratings of a ledger file, and compare each entry with the numbers in it."""

    file: LedgerFile
    replay: RatingReplay = field(default_factory=RatingReplay)
    _given: dict[str, list[RatingMove]] = field(default_factory=dict)  # by match that is voided later

    def check(
        self, ladder_id: str, as_of: int, look: Callable[[RatingReplay], Iterator[Difference]]
    ) -> Iterator[Difference]:
        """Yield all differences, among them those that ``look`` finds in the ratings after entry ``as_of``."""
        has_looked = False
        try:
            for entry in self.file.read():
                if entry.seq > as_of and not has_looked:
                    has_looked = True
                    yield from look(self.replay)
                yield from self._compare(entry, ladder_id)
        except (ValueError, KeyError, IndexError, AssertionError) as error:
            raise BadLedgerFile(f"entry {entry.seq} of the ledger file cannot be replayed: {error!r}") from error
        if not has_looked:
            yield from look(self.replay)

    def _compare(self, entry: FileEntry, ladder_id: str) -> Iterator[Difference]:
        moved = {row["bot"]: row for row in entry.rows if row["after_micro"]}
        before = {move.bot_id: move.before.value for move in self._apply(entry)}
        for bot in sorted(before.keys() | moved.keys()):
            state = self.replay.ratings.get(bot, RatingState())
            follows = (before.get(bot), state.value, state.games, state.balance)
            stands = tuple(int(moved[bot][name]) for name in NUMBERS) if bot in moved else None
            if follows != stands:
                id = f"entry {entry.seq}, {bot}"
                shown = "nothing" if stands is None else _numbers(stands)
                yield Difference("change", id, shown, _numbers(follows) if bot in before else "nothing", ladder_id)

    def _apply(self, entry: FileEntry) -> list[RatingMove]:
        if entry.kind == EntryKind.VOID:
            return self.replay.take_back(self._given.pop(entry.match_id, []))
        if entry.kind != EntryKind.RESULT:
            return []
        self.replay.begin_day(entry.day)
        moves = self.replay.apply_result(entry.seats)
        if entry.match_id in self.file.voids:
            self._given[entry.match_id] = moves
        return moves


def _numbers(values: tuple[int | None, ...]) -> str:
    return ", ".join(f"{name} {value}" for name, value in zip(NUMBERS, values, strict=True))
