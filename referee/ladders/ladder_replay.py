"""Replay a ladder from its ledger entries and results alone, to derive what its stored changes should be.

No derived values are read, so that they can be compared with the outcome. Memory: the ratings of the ladder's bots, a
page of entries, and copies of the ratings at up to ``KEPT`` entries from which a void may have to restart.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from referee.ladders.kinds import EntryKind
from referee.ladders.ledger import ReplayEntry, acts
from referee.ladders.rating_replay import RatingMove, RatingReplay, RatingState

KEPT = 8


@dataclass
class LadderReplay:
    """A replay in progress: ``fold`` has the ratings after the last entry, ``as_of`` the entry each last changed by."""

    session: Session
    ladder_id: str
    fold: RatingReplay = field(default_factory=RatingReplay)
    as_of: dict[str, int] = field(default_factory=dict)
    _before: dict[int, dict[str, RatingState]] = field(
        default_factory=dict
    )  # ratings before results that are voided later

    def pages(self) -> Iterator[list[ReplayEntry]]:
        """Yield all entries of the ladder, in pages. Pass each to ``take``, in this order."""
        return acts(self.session, self.ladder_id)

    def take(self, act: ReplayEntry) -> list[RatingMove]:
        """Apply an entry; return the rating changes it causes. A repair causes none: call ``apply_repair``."""
        moves: list[RatingMove] = []
        if act.kind == EntryKind.VOID and act.result_seq is not None and act.result_seq < act.seq:
            moves = self._undo_result(act)
        elif act.counts_at(act.seq):
            self._remember(act)
            moves = self.fold.count(act.bots, act.placements, act.rated)
        self.as_of |= dict.fromkeys((move.bot_id for move in moves), act.seq)
        return moves

    def apply_repair(self, seq: int, bots: list[str]) -> None:
        """Apply a repair, which wrote changes for these bots; some may never have played."""
        self._keep(bots)
        self.as_of |= {bot_id: max(seq, self.as_of.get(bot_id, 0)) for bot_id in bots}

    def _remember(self, act: ReplayEntry) -> None:
        if act.void_seq is not None and act.void_seq > act.seq and len(self._before) < KEPT:
            self._before[act.seq] = dict(self.fold.held)

    def _undo_result(self, void: ReplayEntry) -> list[RatingMove]:
        """Replay without the voided result; return the differences between both replays."""
        entered = void.result_seq or 0
        old = self.fold
        self._before = {seq: held for seq, held in self._before.items() if seq <= entered}
        start = max(self._before, default=0)
        self.fold = RatingReplay(dict(self._before.get(start, {})))
        for page in acts(self.session, self.ladder_id, after=max(start - 1, 0), until=void.seq):
            for act in page:
                if act.counts_at(void.seq):
                    self._remember(act)
                    self.fold.count(act.bots, act.placements, act.rated)
        moves = old.moves_to(self.fold)
        self._keep(old.held)
        return moves

    def _keep(self, bots: Iterable[str]) -> None:
        """Keep bots that were ever rated, with a starting rating if they have no result left."""
        for bot_id in bots:
            self.fold.held.setdefault(bot_id, RatingState())
