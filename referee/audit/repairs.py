"""Freeze ladders that failed an audit, and recompute the numbers that are derived from their ledger.

The append-only ledger and the results are the truth. A repair rewrites what is derived from them (changes, ratings,
counts and sums of exchanges), and records in a new ledger entry what was wrong. It changes no other entry and no
result: if these are damaged, only a backup helps.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from referee.audit.findings import Difference, Findings
from referee.audit.ladder_walk import LadderWalk
from referee.audit.stored_ladders import StoredLadder, check_entries
from referee.errors import RefereeError
from referee.ladders import daily_exchanges, ledger, owner_exchanges, ranks
from referee.ladders.kinds import EntryKind
from referee.ladders.owner_exchanges import Sums
from referee.ladders.tables import Ladder, Rating, RatingChange

MAX_NAMED: Final = 20  # repaired values listed in the reason of the entry


class DamagedLedger(RefereeError):
    """Signal that the ledger of a ladder is damaged, so that its ratings cannot be recomputed."""


@dataclass
class RepairReport:
    """Describe what was wrong on a ladder. ``seq`` is the number of the ledger entry of the repair."""

    ladder_id: str
    seq: int = 0
    repairs: list[str] = field(default_factory=list)

    @property
    def reason(self) -> str:
        more = len(self.repairs) - MAX_NAMED
        listed = "; ".join(self.repairs[:MAX_NAMED]) or "nothing was wrong"
        return f"{listed}; and {more} more" if more > 0 else listed


def freeze_ladders(session: Session, found: Iterable[Difference]) -> list[str]:
    """Freeze the ladders whose numbers these differences make unreliable; return their ids.

    Results still enter the ledger of a frozen ladder, but its ratings do not change until it is repaired.
    """
    ledger.lock_ledger(session)
    findings = Findings()
    findings.add(found)
    for ladder_id, finding in sorted(findings.worst.items()):
        values = {"frozen_reason": f"an audit found: {finding}"[:1000]}
        session.execute(update(Ladder).where(Ladder.id == ladder_id).values(values))
    return sorted(findings.worst)


def list_frozen(session: Session) -> list[str]:
    """Return the ids of frozen ladders."""
    return list(session.scalars(select(Ladder.id).where(Ladder.frozen_reason.is_not(None)).order_by(Ladder.id)))


def repair_ladder(session: Session, ladder_id: str) -> RepairReport:
    """Recompute the changes, ratings, counts and sums of a ladder from its ledger, and unfreeze it, in one transaction.

    An audit must have found no differences between its results and their logs. Raise ``DamagedLedger`` if an entry is
    missing or contradicts its match.
    """
    ledger.lock_ledger(session)
    damage = next(check_entries(session, ladder_id), None)
    if damage is not None:
        raise DamagedLedger(
            f"The ledger of ladder {ladder_id} is damaged, which no repair corrects; restore a backup. Found: {damage}"
        )
    walk, report = LadderWalk(StoredLadder(session, ladder_id)), RepairReport(ladder_id)
    _rewrite_changes(session, walk, report)
    report.repairs += map(str, walk.values())
    _rewrite_values(session, walk)
    report.seq = ledger.append_entry(session, ladder_id, EntryKind.REPAIR, None, report.reason)
    session.execute(update(Ladder).where(Ladder.id == ladder_id).values(frozen_reason=None))
    session.expire_all()
    return report


def _rewrite_changes(session: Session, walk: LadderWalk, report: RepairReport) -> None:
    """Walk through the ladder; rewrite the changes that differ, and what owners exchanged in each month."""
    exchanged: dict[date, Sums] = {}
    for entry, moves, differences in walk.entries():
        report.repairs += map(str, differences)
        if differences:
            session.execute(delete(RatingChange).where(RatingChange.seq == entry.seq))
        if differences and moves:
            rows = [ledger.change_row(report.ladder_id, entry.seq, move) for move in moves]
            session.execute(insert(RatingChange), rows)
        if entry.kind == EntryKind.RESULT and entry.seats is not None and not entry.is_voided:
            month = exchanged.setdefault(date.fromordinal(entry.day).replace(day=1), {})
            owner_exchanges.merge(month, owner_exchanges.sums_of(entry.seats, owner_exchanges.before_of(moves)))
    owner_exchanges.replace(session, report.ladder_id, exchanged)


def _rewrite_values(session: Session, walk: LadderWalk) -> None:
    """Rewrite the ratings, the counts of ratings and the sums of the day."""
    ladder_id, replay = walk.source.ladder_id, walk.replay
    rows = [ledger.rating_row(ladder_id, bot, seq, replay.ratings[bot]) for bot, seq in walk.as_of.items()]
    session.execute(delete(Rating).where(Rating.ladder_id == ladder_id))
    if rows:
        session.execute(insert(Rating), rows)
    ranks.replace_counts(session, ladder_id, replay.ratings.values())
    daily_exchanges.replace_sums(session, ladder_id, replay.day, replay.exchanged)
