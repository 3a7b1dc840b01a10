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

from referee.errors import RefereeError
from referee.ladders import daily_exchanges, ledger, owner_exchanges, ranks
from referee.ladders.audit_findings import Difference, worst_by_ladder
from referee.ladders.kinds import EntryKind
from referee.ladders.ladder_audit import (
    check_entries,
    differing_keys,
    expected_changes,
    expected_exchanges,
    expected_ratings,
    stored_counts,
    stored_exchanges,
    stored_ratings,
    walk_entries,
)
from referee.ladders.ladder_replay import LadderReplay
from referee.ladders.owner_exchanges import Sums
from referee.ladders.rating_replay import RatingState
from referee.ladders.tables import Ladder, LedgerPart, Rating, RatingChange

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
    worst = worst_by_ladder(found)
    for ladder_id, finding in sorted(worst.items()):
        values = {"frozen_reason": f"an audit found: {finding}"[:1000]}
        session.execute(update(Ladder).where(Ladder.id == ladder_id).values(values))
    return sorted(worst)


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
    report = RepairReport(ladder_id)
    replay = LadderReplay(session, ladder_id)
    _rewrite_changes(session, report, replay)
    _rewrite_ratings(session, report, replay)
    _rewrite_sums(session, report, replay)
    report.seq = ledger.append_entry(session, ladder_id, EntryKind.REPAIR, None, report.reason)
    session.execute(delete(LedgerPart).where(LedgerPart.ladder_id == ladder_id))
    ladder = update(Ladder).where(Ladder.id == ladder_id)
    session.execute(ladder.values(frozen_reason=None, rows_changed=Ladder.rows_changed + 1))
    session.expire_all()
    return report


def _rewrite_changes(session: Session, report: RepairReport, replay: LadderReplay) -> None:
    """Replay the ladder; rewrite the changes that differ, and what owners exchanged in each month."""
    exchanged: dict[date, Sums] = {}
    for entry, stored, moves in walk_entries(replay, lambda _: None):
        wrong = differing_keys(stored, expected_changes(report.ladder_id, moves))
        report.repairs += [f"change {entry.seq} of {bot} rewritten" for bot in wrong]
        if wrong:
            session.execute(delete(RatingChange).where(RatingChange.seq == entry.seq))
        if wrong and moves:
            rows = [ledger.change_row(report.ladder_id, entry.seq, move) for move in moves]
            session.execute(insert(RatingChange), rows)
        if entry.kind == EntryKind.RESULT and entry.seats is not None and not entry.is_voided:
            month = exchanged.setdefault(date.fromordinal(entry.day).replace(day=1), {})
            owner_exchanges.merge(month, owner_exchanges.sums_of(entry.seats, owner_exchanges.before_of(moves)))
    owner_exchanges.replace(session, report.ladder_id, exchanged)


def _rewrite_ratings(session: Session, report: RepairReport, replay: LadderReplay) -> None:
    stored, expected = stored_ratings(session, report.ladder_id), expected_ratings(replay)
    for bot in differing_keys(stored, expected):
        before = stored[bot][0].value if bot in stored else None
        after = expected[bot][0] if bot in expected else RatingState()
        report.repairs.append(f"rating of {bot} from {before} to {after.value} after {after.games} games")
    if stored != expected:
        rows = [ledger.rating_row(report.ladder_id, bot, seq, state) for bot, (state, seq) in expected.items()]
        session.execute(delete(Rating).where(Rating.ladder_id == report.ladder_id))
        if rows:
            session.execute(insert(Rating), rows)


def _rewrite_sums(session: Session, report: RepairReport, replay: LadderReplay) -> None:
    """Rewrite the counts of ratings and the sums of the day."""
    ladder_id, replayed = report.ladder_id, replay.rating_replay
    if stored_counts(session, ladder_id) != ranks.count_bands(replayed.ratings.values()):
        report.repairs.append("counts of ratings recomputed")
        ranks.replace_counts(session, ladder_id, replayed.ratings.values())
    if stored_exchanges(session, ladder_id) != expected_exchanges(replay):
        report.repairs.append("sums of the day recomputed")
        daily_exchanges.replace_sums(session, ladder_id, replayed.day, replayed.exchanged)
