"""Load the results of a ladder for the batch fit in ``referee.ratings.strengths``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from referee.ladders import ratings
from referee.ladders.kinds import EntryKind
from referee.ladders.tables import LedgerEntry
from referee.matches.tables import Result
from referee.ratings.elo import MICRO
from referee.ratings.strengths import RankedResult, anchor_level


@dataclass(frozen=True, slots=True)
class LadderResults:
    """Hold the newest results that count after entry ``as_of_seq``. ``left_out`` is the number of older results.

    Results are ordered newest first. ``versions`` has the versions of the bots in each result, by seat.
    """

    as_of_seq: int
    results: Sequence[RankedResult]
    left_out: int
    versions: Sequence[Sequence[str | None]]


class ResultColumns(NamedTuple):
    """Hold the columns of a stored result that a fit uses."""

    bots: Sequence[str]
    placements: Sequence[int]
    rated: Sequence[bool]
    anchors: Sequence[int | None]
    versions: Sequence[str | None]

    def for_fit(self) -> RankedResult:
        """Return the result with the levels of its anchors."""
        levels = [None if anchor is None else anchor_level(anchor / MICRO) for anchor in self.anchors]
        return RankedResult(self.bots, self.placements, self.rated, levels)


FIT_COLUMNS = tuple(getattr(Result, name) for name in ResultColumns._fields)


def load_results(
    session: Session, ladder_id: str, limit: int, before: LadderResults | None = None, *, patient: bool = False
) -> LadderResults:
    """Return the newest ``limit`` results.

    If ``before`` is given, return it instead while it is current, or always with ``patient``. Raise ``NotFound`` if
    there is no such ladder.
    """
    ratings.get_ladder(session, ladder_id)
    seq = ratings.last_seq(session, ladder_id)
    if before is not None and (patient or before.as_of_seq == seq):
        return before
    entry, void = LedgerEntry, aliased(LedgerEntry)
    voided = select(void.seq).where(void.match_id == entry.match_id, void.kind == EntryKind.VOID).exists()
    query = select(*FIT_COLUMNS).join(entry, entry.match_id == Result.match_id)
    query = query.where(entry.ladder_id == ladder_id, entry.kind == EntryKind.RESULT, ~voided)
    rows = [ResultColumns(*row) for row in session.execute(query.order_by(entry.seq.desc()).limit(limit))]
    counting = session.scalars(select(func.count()).select_from(query.order_by(None).subquery())).one()
    return LadderResults(seq, [row.for_fit() for row in rows], counting - len(rows), [row.versions for row in rows])
