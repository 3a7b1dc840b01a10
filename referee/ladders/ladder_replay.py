"""Replay a ladder from its ledger entries and results alone, to derive its rating changes.

The replay reads no derived values, so that its outcome can be compared with them. It keeps in memory the ratings of the
ladder's bots, a page of entries, and what the results gave that are voided later.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from referee.ladders.kinds import EntryKind
from referee.ladders.ledger import ReplayEntry, read_entries
from referee.ladders.rating_replay import RatingMove, RatingReplay


@dataclass
class LadderReplay:
    """Represent a replay in progress.

    ``rating_replay`` has the ratings after the last entry. ``as_of``, keyed by bot id, has the number of the last entry
    that changed the bot's rating.
    """

    session: Session
    ladder_id: str
    rating_replay: RatingReplay = field(default_factory=RatingReplay)
    as_of: dict[str, int] = field(default_factory=dict)
    _given: dict[str | None, list[RatingMove]] = field(default_factory=dict)  # by match that is voided later

    def pages(self) -> Iterator[list[ReplayEntry]]:
        """Yield all entries of the ladder, in pages. Pass each to ``apply_entry``, in this order."""
        return read_entries(self.session, self.ladder_id)

    def apply_entry(self, entry: ReplayEntry) -> list[RatingMove]:
        """Apply an entry and return the rating changes it causes."""
        moves: list[RatingMove] = []
        if entry.kind == EntryKind.VOID:
            moves = self.rating_replay.take_back(self._given.pop(entry.match_id, []))
        elif entry.kind == EntryKind.RESULT:
            self.rating_replay.begin_day(entry.day)
            if entry.seats is not None:
                moves = self.rating_replay.apply_result(entry.seats)
            if entry.is_voided:
                self._given[entry.match_id] = moves
        self.as_of |= dict.fromkeys((move.bot_id for move in moves), entry.seq)
        return moves
