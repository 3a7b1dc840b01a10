"""How far the matches of deal groups are, so that nothing is told of cards that somebody is still to play.

It is read from the rows of chance in what is recorded, and of few matches: of that which is last, until it is not. What
is told by it is the business of ``release``.
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
from referee.matches import deal_groups
from referee.matches.tables import LogRow, Match

PAGE: Final = 2_000  # rows read at once
MOST_READ: Final = 20_000  # rows of a group in one look; the next goes on
KEPT: Final = 256  # groups
CHANCE: Final = b'"type":"chance"'  # in a row that may be one of chance


@dataclass(slots=True)
class Drawn:
    """What chance was asked for, from the beginning of a match: decks, and draws of anything else. The n-th deck of a
    group is the same for all its matches, and so is the n-th draw."""

    decks: int = 0
    draws: int = 0

    def add(self, row: Json) -> None:
        """Takes on a row of a log."""
        if row["type"] == "chance":
            if row["chance"]["kind"] == "deck":
                self.decks += 1
            else:
                self.draws += 1

    def is_behind(self, last: "Drawn") -> bool:
        """Whether what is known here helps nobody who is as far as ``last``: another deck was dealt there since, and
        everything was drawn that was drawn here."""
        return self.decks < last.decks and self.draws <= last.draws


class DealGroupProgress:
    """How far groups are, kept for those that are asked for again. Safe to share between threads."""

    def __init__(self, most: int = KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[str, _Tables] = OrderedDict()
        self._lock = threading.Lock()

    def last(self, session: Session, group_id: str) -> Drawn | None:
        """What every match of the group has drawn that is not over; None when all are. Never more than they have,
        and less where there is much to read."""
        with self._lock:
            tables = self._kept.setdefault(group_id, _Tables(group_id))
            self._kept.move_to_end(group_id)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        with tables.lock:
            return tables.look(session)


class _Tables:
    """A group, as far as its matches were read."""

    def __init__(self, group_id: str) -> None:
        self.lock = threading.Lock()
        self._group_id = group_id
        self._read: dict[str, tuple[int, Drawn]] = {}  # rows, and what was drawn in them
        self._last: set[str] = set()  # who they are, where that is known
        self._least: Drawn | None = None

    def look(self, session: Session) -> Drawn | None:
        if not self._stands(session):
            self._search(session)
        return self._least

    def _stands(self, session: Session) -> bool:
        """Whether those that were last are where they were: then nothing else is asked for."""
        if not self._last:
            return False
        rows = self._going_on(session, Match.id.in_(self._last))
        if len(rows) < len(self._last):
            return False
        for match_id in rows:
            self._read_on(session, match_id)
        return self._least == self._least_of(self._last)

    def _search(self, session: Session) -> None:
        rows = self._going_on(session, Match.group_id == self._group_id)
        self._read = {match_id: self._read.get(match_id, (0, Drawn())) for match_id in rows}
        self._last, self._least = set(), self._least_of(rows) if rows else None
        by_decks = self._last_by("decks", session, rows)
        by_draws = by_decks and self._last_by("draws", session, rows)
        if by_decks and by_draws:
            self._last = {by_decks, by_draws}
        if rows:
            self._least = self._least_of(rows)

    def _last_by(self, what: str, session: Session, rows: Mapping[str, int]) -> str | None:
        """Who has drawn the least; None when that would take too much reading. What was read of a match is the least
        it can have, so those ahead of somebody who is known wholly need not be read."""
        left = MOST_READ
        heap = [
            (getattr(drawn, what), rows[match_id] > read, match_id) for match_id, (read, drawn) in self._read.items()
        ]
        heapify(heap)
        while heap and left > 0:
            _, unread, match_id = heappop(heap)
            if not unread:
                return match_id
            left -= self._read_on(session, match_id)
            heappush(heap, (getattr(self._read[match_id][1], what), False, match_id))
        return None

    def _read_on(self, session: Session, match_id: str) -> int:
        """How many rows were new."""
        start, drawn = self._read[match_id]
        row = start
        while True:
            query = select(LogRow.line).where(LogRow.match_id == match_id, LogRow.row >= row).order_by(LogRow.row)
            page = list(session.scalars(query.limit(PAGE)))
            for line in page:
                if CHANCE in line:
                    drawn.add(parse_row(line))
            row += len(page)
            self._read[match_id] = row, drawn
            if len(page) < PAGE:
                return row - start

    def _least_of(self, match_ids: Mapping[str, int] | set[str]) -> Drawn:
        drawn = [self._read[match_id][1] for match_id in match_ids]
        return Drawn(min(one.decks for one in drawn), min(one.draws for one in drawn))

    def _going_on(self, session: Session, *which: ColumnElement[bool]) -> dict[str, int]:
        """The recorded rows of those matches that are not over."""
        query = select(Match.id, Match.rows).where(*which, Match.status.not_in(deal_groups.ENDED))
        return {row.id: row.rows for row in session.execute(query)}
