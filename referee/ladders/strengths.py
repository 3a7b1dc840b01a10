"""Load the results of a ladder for the batch fit in ``referee.ratings.strengths``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from referee.ladders import ratings
from referee.ladders.kinds import EntryKind
from referee.ladders.tables import LedgerEntry
from referee.matches.tables import Result
from referee.ratings.elo import MICRO
from referee.ratings.strengths import Result as Said


@dataclass(frozen=True, slots=True)
class LadderResults:
    """Hold the newest results that count after entry ``as_of_seq``. ``left_out`` is the number of older results.

    Results are ordered newest first. ``anchors`` has the points of the anchors that occur in them, keyed by the id that
    the results use. ``versions`` has the versions of the bots in each result, by seat; None if they are not known.
    """

    as_of_seq: int
    results: Sequence[Said]
    left_out: int
    anchors: Mapping[str, float]
    versions: Sequence[Sequence[str | None] | None]


class SeatedResult(NamedTuple):
    """Hold the columns of a stored result that a fit uses."""

    bots: Sequence[str]
    placements: Sequence[int]
    rated: Sequence[bool]
    anchors: Sequence[int | None] | None
    versions: Sequence[str | None] | None

    def for_fit(self, anchors: dict[str, float]) -> Said:
        """Return the result with its anchors as rated seats, and add their points to ``anchors``.

        An anchor that was calibrated again is another player since, because its strength is constant in a fit.
        """
        bots, rated = list(self.bots), list(self.rated)
        for seat, micro in enumerate(self.anchors or ()):
            if micro is not None:
                player = f"{bots[seat]}@{micro}"
                while player in bots[:seat]:
                    player += "+"  # one house player may fill several seats
                bots[seat], rated[seat] = player, True
                anchors[player] = micro / MICRO
        return bots, self.placements, rated


FIT_COLUMNS = tuple(getattr(Result, name) for name in SeatedResult._fields)


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
    rows = [SeatedResult(*row) for row in session.execute(query.order_by(entry.seq.desc()).limit(limit))]
    counting = session.scalars(select(func.count()).select_from(query.order_by(None).subquery())).one()
    anchors: dict[str, float] = {}
    results = [row.for_fit(anchors) for row in rows]
    return LadderResults(seq, results, counting - len(rows), anchors, [row.versions for row in rows])
