"""Load the results of a ladder for the batch fit in ``referee.ratings.strengths``."""

from collections.abc import Sequence
from dataclasses import dataclass

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
    """Hold the newest results that count after entry ``as_of_seq``. ``left_out`` is the number of older results."""

    as_of_seq: int
    results: Sequence[RankedResult]
    left_out: int


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
    query = select(Result.bots, Result.placements, Result.rated, Result.anchors)
    query = query.join(entry, entry.match_id == Result.match_id)
    query = query.where(entry.ladder_id == ladder_id, entry.kind == EntryKind.RESULT, ~voided)
    rows = session.execute(query.order_by(entry.seq.desc()).limit(limit)).all()
    counting = session.scalars(select(func.count()).select_from(query.order_by(None).subquery())).one()
    results = [RankedResult(bots, placements, rated, _levels(anchors)) for bots, placements, rated, anchors in rows]
    return LadderResults(seq, results, counting - len(rows))


def _levels(anchors: Sequence[int | None] | None) -> list[float | None] | None:
    """Return the levels of a result's anchors, None for bots; None for a result without anchors."""
    if anchors is None or not any(anchor is not None for anchor in anchors):
        return None
    return [None if anchor is None else anchor_level(anchor / MICRO) for anchor in anchors]
