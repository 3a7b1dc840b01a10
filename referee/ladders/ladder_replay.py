"""A ladder folded anew from its acts and results alone, act by act: what its stored changes should be.

Nothing derived is read, so that what is found can be held against it. Memory: the ratings of the ladder's bots, a
page of acts, and the ratings again at up to ``KEPT`` places to which a void may lead back.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from referee.ladders.ledger import Act, acts
from referee.ladders.rating_replay import Fold, Held, RatingMove

KEPT = 8


@dataclass
class Refold:
    """``fold`` holds the ratings as of the last act that was walked over, ``as_of`` the last act that each moved by."""

    session: Session
    ladder_id: str
    fold: Fold = field(default_factory=Fold)
    as_of: dict[str, int] = field(default_factory=dict)
    _before: dict[int, dict[str, Held]] = field(default_factory=dict)  # results made void later: how things stood

    def pages(self) -> Iterator[list[Act]]:
        """All acts of the ladder; each is to be given to ``take``, in this order."""
        return acts(self.session, self.ladder_id)

    def take(self, act: Act) -> list[RatingMove]:
        """Goes over an act and gives the moves that follow from it. Of a repair none do; tell ``apply_repair``."""
        moves: list[RatingMove] = []
        if act.kind == "void" and act.result_seq is not None and act.result_seq < act.seq:
            moves = self._undo_result(act)
        elif act.counts_at(act.seq):
            self._remember(act)
            moves = self.fold.count(act.bots, act.placements, act.rated)
        self.as_of |= dict.fromkeys((move.bot_id for move in moves), act.seq)
        return moves

    def apply_repair(self, seq: int, bots: list[str]) -> None:
        """A repair wrote changes for these bots, of whom some may never have played."""
        self._keep(bots)
        self.as_of |= {bot_id: max(seq, self.as_of.get(bot_id, 0)) for bot_id in bots}

    def _remember(self, act: Act) -> None:
        if act.void_seq is not None and act.void_seq > act.seq and len(self._before) < KEPT:
            self._before[act.seq] = dict(self.fold.held)

    def _undo_result(self, void: Act) -> list[RatingMove]:
        """The moves of a void: from the fold with the result to the fold without it."""
        entered = void.result_seq or 0
        old = self.fold
        self._before = {seq: held for seq, held in self._before.items() if seq <= entered}
        start = max(self._before, default=0)
        self.fold = Fold(dict(self._before.get(start, {})))
        for page in acts(self.session, self.ladder_id, after=max(start - 1, 0), until=void.seq):
            for act in page:
                if act.counts_at(void.seq):
                    self._remember(act)
                    self.fold.count(act.bots, act.placements, act.rated)
        moves = old.moves_to(self.fold)
        self._keep(old.held)
        return moves

    def _keep(self, bots: Iterable[str]) -> None:
        """Who was ever rated stays known, if only as a beginner."""
        for bot_id in bots:
            self.fold.held.setdefault(bot_id, Held())
