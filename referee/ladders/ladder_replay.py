"""Replay a ladder from its ledger entries and results alone, to derive its rating changes.

The replay reads no derived values, so that its outcome can be compared with them. It keeps in memory the ratings of the
ladder's bots, a page of entries, and copies of the ratings at up to ``MAX_COPIES`` entries from which a void restarts.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from referee.ladders.kinds import EntryKind
from referee.ladders.ledger import ReplayEntry, read_entries
from referee.ladders.rating_replay import RatingMove, RatingReplay, RatingState

MAX_COPIES = 8


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
    _before: dict[int, RatingReplay] = field(default_factory=dict)  # copies before results that are voided later

    def pages(self) -> Iterator[list[ReplayEntry]]:
        """Yield all entries of the ladder, in pages. Pass each to ``apply_entry``, in this order."""
        return read_entries(self.session, self.ladder_id)

    def apply_entry(self, entry: ReplayEntry) -> list[RatingMove]:
        """Apply an entry and return the rating changes it causes. For a repair, also call ``apply_repair``."""
        moves: list[RatingMove] = []
        if entry.kind == EntryKind.VOID and entry.result_seq is not None and entry.result_seq < entry.seq:
            moves = self._undo_result(entry)
        elif entry.kind == EntryKind.RESULT:
            moves = self._apply_result(entry, entry.seq)
        self.as_of |= dict.fromkeys((move.bot_id for move in moves), entry.seq)
        return moves

    def apply_repair(self, seq: int, bots: list[str]) -> None:
        """Apply a repair, which changed the ratings of these bots. Some of them may never have played."""
        self._add_missing(bots)
        self.as_of |= {bot_id: max(seq, self.as_of.get(bot_id, 0)) for bot_id in bots}

    def _apply_result(self, entry: ReplayEntry, seq: int) -> list[RatingMove]:
        """Apply a result that counts after entry ``seq``; first copy the ratings if it is voided later."""
        counts = entry.counts_at(seq)
        if counts and entry.void_seq is not None and entry.void_seq > entry.seq and len(self._before) < MAX_COPIES:
            self._before[entry.seq] = self.rating_replay.copy()
        return entry.apply_to(self.rating_replay, seq)

    def _undo_result(self, void: ReplayEntry) -> list[RatingMove]:
        """Replay the ladder without the voided result; return the rating changes from the previous replay."""
        entered = void.result_seq or 0
        old = self.rating_replay
        self._before = {seq: held for seq, held in self._before.items() if seq <= entered}
        start = max(self._before, default=0)
        self.rating_replay = self._before[start].copy() if start else RatingReplay()
        for page in read_entries(self.session, self.ladder_id, after=max(start - 1, 0), until=void.seq):
            for entry in page:
                self._apply_result(entry, void.seq)
        moves = old.moves_towards(self.rating_replay)
        self._add_missing(old.ratings)
        return moves

    def _add_missing(self, bots: Iterable[str]) -> None:
        """Add the starting rating for each of these bots that has no rating."""
        for bot_id in bots:
            self.rating_replay.ratings.setdefault(bot_id, RatingState())
