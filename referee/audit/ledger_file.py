"""Read a ladder from its public ledger file for an audit, without a database.

Memory grows with the voids of the ladder, not with its results.
"""

import csv
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Final

from referee.audit.ladder_walk import AuditedEntry, LadderWalk, ShownValues
from referee.errors import RefereeError
from referee.ladders.kinds import EntryKind
from referee.ladders.rating_replay import RATING_RULES, RatedSeats, RatingState
from referee.match.canonical import Json

REQUIRED: Final = {
    *("entry", "kind", "rating_rules", "entered_at", "match", "seat", "bot", "version", "owner", "rated"),
    *("anchor_micro", "placement", "returns", "before_micro", "after_micro", "games", "balance_micro"),
    "information_micro",
}
NUMBERS: Final = {
    "before": "before_micro",
    "value": "after_micro",
    "games": "games",
    "balance": "balance_micro",
    "information": "information_micro",
}

Row = Mapping[str, str]


class BadLedgerFile(RefereeError):
    """Signal that a file is not the complete ledger of a ladder."""


@dataclass
class LedgerFile:
    """Read a ledger file up to entry ``as_of``. ``shown`` has the rows that the ladder shows as of it.

    ``results`` counts results. Raise ``BadLedgerFile`` if the file is no ledger, or ends before that entry.
    """

    path: Path
    ladder_id: str
    as_of: int
    shown: Mapping[str, Json]  # rank, rating_micro and games, keyed by bot id
    results: int = 0
    count: int = 0
    _voids: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        last = 0
        for seq, rows in self._read():
            kind, rules = rows[0]["kind"], rows[0]["rating_rules"]
            if seq <= last or kind not in set(EntryKind):
                raise BadLedgerFile(f"the ledger file has entry {seq} ({kind}) after {last}")
            if rules != str(RATING_RULES):
                raise BadLedgerFile(
                    f"entry {seq} of the ledger file follows rating rules {rules}; this version of Referee knows rules "
                    f"{RATING_RULES}"
                )
            self.count, last = self.count + 1, seq
            self.results += kind == EntryKind.RESULT
            if kind == EntryKind.VOID:
                self._voids.add(rows[0]["match"])
        if last < self.as_of:
            raise BadLedgerFile(f"the ledger file of {self.ladder_id} ends at entry {last}, not {self.as_of}")

    def entries(self) -> Iterator[AuditedEntry]:
        """Yield all entries in order."""
        for seq, rows in self._read():
            kind, match_id = EntryKind(rows[0]["kind"]), rows[0]["match"]
            day = date.fromisoformat(rows[0]["entered_at"][:10]).toordinal()
            moved = [row for row in rows if row["after_micro"]]
            changes = {row["bot"]: {name: int(row[column]) for name, column in NUMBERS.items()} for row in moved}
            seats = _read_seats(_by_seat(rows)) if kind == EntryKind.RESULT else None
            yield AuditedEntry(seq, kind, match_id, day, match_id in self._voids, seats, changes)

    def values(self, walk: LadderWalk) -> Iterator[ShownValues]:
        """Yield the rows that the ladder shows: of bots with matches that count."""
        rated = {bot: state for bot, state in walk.replay.ratings.items() if state.games}
        ascending = sorted(state.value for state in rated.values())
        expected = {bot: _row_of(state, ascending) for bot, state in rated.items()}
        yield ShownValues("rating", self.shown, expected)

    def facts(self) -> Iterator[tuple[str, Json]]:
        """Yield the match id of each result, and what its log must say, keyed by bots, versions and the like."""
        for _, rows in self._read():
            if rows[0]["kind"] == EntryKind.RESULT:
                rows = _by_seat(rows)
                versions = [row["version"].removeprefix("'") or None for row in rows]  # it escapes a formula
                facts: Json = {"bots": [row["bot"] for row in rows], "versions": versions}
                facts["placements"] = [int(row["placement"]) for row in rows]
                yield rows[0]["match"], facts | {"returns": [int(row["returns"]) for row in rows]}

    def _read(self) -> Iterator[tuple[int, list[Row]]]:
        """Yield the number and the rows of each entry up to ``as_of``: of a result, one for each seat."""
        seq = 0
        with self.path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file, strict=True)
            missing = REQUIRED - set(rows.fieldnames or ())
            if missing:
                raise BadLedgerFile(f"the ledger file lacks the columns {', '.join(sorted(missing))}")
            try:
                for number, grouped in groupby(rows, key=lambda row: row["entry"]):
                    seq = int(number)
                    entry: list[Row] = list(grouped)
                    if any(None in row.values() for row in entry):
                        raise BadLedgerFile(f"the ledger file ends within entry {seq}")
                    if seq > self.as_of:
                        return
                    yield seq, entry
            except (ValueError, TypeError, csv.Error) as error:
                raise BadLedgerFile(f"the ledger file is damaged after entry {seq}: {error}") from error


def _by_seat(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: int(row["seat"]))


def _read_seats(rows: list[Row]) -> RatedSeats:
    return RatedSeats(
        bots=[row["bot"] for row in rows],
        placements=[int(row["placement"]) for row in rows],
        rated=[row["rated"] == "true" for row in rows],
        owners=[row["owner"] or None for row in rows],
        versions=[row["version"] or None for row in rows],
        anchors=[int(row["anchor_micro"]) if row["anchor_micro"] else None for row in rows],
    )


def _row_of(state: RatingState, ascending: list[int]) -> Json:
    rank = len(ascending) - bisect_right(ascending, state.value) + 1
    return {"rank": rank, "rating_micro": state.value, "games": state.games}
