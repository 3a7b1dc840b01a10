"""Track the progress of the matches in deal groups, so that no cards are published that others still have to play.

Progress is counted from the chance rows of the logs. Only the matches that are furthest behind are read, until they
advance. ``visibility`` decides which rows are published.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from referee.match.canonical import Json
from referee.match.log import parse_row
from referee.matches.states import ENDED
from referee.matches.tables import LogRow, StoredMatch

PAGE_SIZE: Final = 2_000  # rows per query
MAX_ROWS_READ: Final = 20_000  # rows of a group that one search reads; the next one continues
MAX_GROUPS: Final = 256  # groups in the cache
CHANCE: Final = b'"type":"chance"'  # occurs in every chance row, and possibly in others


@dataclass(slots=True)
class DrawCounts:
    """Count the decks and the other draws since the start of a match.

    The n-th deck is the same in all matches of a group, and so is the n-th draw.
    """

    decks: int = 0
    draws: int = 0

    def add(self, row: Json) -> None:
        """Count a row of a log."""
        if row["type"] == "chance":
            if row["chance"]["kind"] == "deck":
                self.decks += 1
            else:
                self.draws += 1

    def is_behind(self, last: "DrawCounts") -> bool:
        """Return whether these draws are of no use to a match that has already made the draws ``last``.

        This holds if that match has been dealt a later deck, and has made all other draws that are counted here.
        """
        return self.decks < last.decks and self.draws <= last.draws


class DealGroupProgress:
    """Cache the progress of deal groups. Instances can be shared between threads."""

    def __init__(self, most: int = MAX_GROUPS) -> None:
        self._most = most
        self._kept: OrderedDict[str, _GroupProgress] = OrderedDict()
        self._lock = threading.Lock()

    def find_slowest(self, session: Session, group_id: str) -> DrawCounts | None:
        """Return the draws that every open match of the group has made, or None if all matches have ended.

        The counts may be too low when there is much to read, but are never too high.
        """
        with self._lock:
            tables = self._kept.setdefault(group_id, _GroupProgress(group_id))
            self._kept.move_to_end(group_id)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        with tables.lock:
            return tables.update(session)


class _GroupProgress:
    """Hold the progress of a group, as far as the logs of its matches have been read."""

    def __init__(self, group_id: str) -> None:
        self.lock = threading.Lock()
        self._group_id = group_id
        self._read: dict[str, tuple[int, DrawCounts]] = {}  # by match id: number of rows read, and their draws
        self._slowest: set[str] = set()  # the matches furthest behind, if known
        self._least: DrawCounts | None = None

    def update(self, session: Session) -> DrawCounts | None:
        if not self._is_unchanged(session):
            self._search(session)
        return self._least

    def _is_unchanged(self, session: Session) -> bool:
        """Return whether the matches furthest behind have not advanced, in which case no others need to be read."""
        if not self._slowest:
            return False
        rows = self._count_open_rows(session, StoredMatch.id.in_(self._slowest))
        if len(rows) < len(self._slowest):
            return False
        for match_id in rows:
            self._read_new_rows(session, match_id)
        return self._least == self._least_of(self._slowest)

    def _search(self, session: Session) -> None:
        rows = self._count_open_rows(session, StoredMatch.group_id == self._group_id)
        self._read = {match_id: self._read.get(match_id, (0, DrawCounts())) for match_id in rows}
        self._slowest, self._least = set(), self._least_of(rows) if rows else None
        by_decks = self._find_slowest_by("decks", session, rows)
        by_draws = by_decks and self._find_slowest_by("draws", session, rows)
        if by_decks and by_draws:
            self._slowest = {by_decks, by_draws}
        if rows:
            self._least = self._least_of(rows)

    def _find_slowest_by(self, counter: str, session: Session, rows: Mapping[str, int]) -> str | None:
        """Return the id of the match with the least ``counter`` ("decks" or "draws"), or None after too much reading.

        The draws read so far are a lower bound, so matches ahead of one that was read completely need not be read.
        """
        rows_left = MAX_ROWS_READ
        heap = [
            (getattr(drawn, counter), rows[match_id] > read, match_id) for match_id, (read, drawn) in self._read.items()
        ]
        heapify(heap)
        while heap and rows_left > 0:
            _, unread, match_id = heappop(heap)
            if not unread:
                return match_id
            rows_left -= self._read_new_rows(session, match_id)
            heappush(heap, (getattr(self._read[match_id][1], counter), False, match_id))
        return None

    def _read_new_rows(self, session: Session, match_id: str) -> int:
        """Read the new rows of a match. Return their number."""
        start, drawn = self._read[match_id]
        row = start
        while True:
            query = select(LogRow.line).where(LogRow.match_id == match_id, LogRow.row >= row).order_by(LogRow.row)
            page = list(session.scalars(query.limit(PAGE_SIZE)))
            for line in page:
                if CHANCE in line:
                    drawn.add(parse_row(line))
            row += len(page)
            self._read[match_id] = row, drawn
            if len(page) < PAGE_SIZE:
                return row - start

    def _least_of(self, match_ids: Mapping[str, int] | set[str]) -> DrawCounts:
        drawn = [self._read[match_id][1] for match_id in match_ids]
        return DrawCounts(min(counts.decks for counts in drawn), min(counts.draws for counts in drawn))

    def _count_open_rows(self, session: Session, *which: ColumnElement[bool]) -> dict[str, int]:
        """Return the number of recorded rows of each match that has not ended, keyed by match id."""
        query = select(StoredMatch.id, StoredMatch.rows).where(*which, StoredMatch.status.not_in(ENDED))
        return {row.id: row.rows for row in session.execute(query)}
