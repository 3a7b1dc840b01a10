"""Load the results of a ladder for the batch fit in ``referee.ratings.strengths``."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from referee.ladders import ratings
from referee.ladders.kinds import EntryKind
from referee.ladders.tables import LedgerEntry
from referee.matches.tables import Result
from referee.ratings.strengths import Result as Said


@dataclass(frozen=True, slots=True)
class LadderResults:
    """Hold the newest results that count after entry ``as_of_seq``. ``left_out`` is the number of older results."""

    as_of_seq: int
    results: Sequence[Said]
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
    query = select(Result.bots, Result.placements, Result.rated).join(entry, entry.match_id == Result.match_id)
    query = query.where(entry.ladder_id == ladder_id, entry.kind == EntryKind.RESULT, ~voided)
    rows = session.execute(query.order_by(entry.seq.desc()).limit(limit)).all()
    counting = session.scalars(select(func.count()).select_from(query.order_by(None).subquery())).one()
    return LadderResults(seq, [(bots, placements, rated) for bots, placements, rated in rows], counting - len(rows))
