"""Freeze ladders that failed an audit, and repair their derived numbers.

The sources of truth are the logs, the results that follow from them, and the append-only ledger. Changes, ratings and
counts are derived: a repair rewrites them and records its findings in a new ledger entry.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from typing import Final

from sqlalchemy import delete, insert, or_, select, update
from sqlalchemy.orm import Session

from referee.errors import BadLog
from referee.ladders import daily_exchanges, ledger, log_claims, owner_exchanges, ranks
from referee.ladders.audit_findings import Difference
from referee.ladders.kinds import EntryKind
from referee.ladders.ladder_audit import (
    entries_without_result,
    expected_exchanges,
    expected_ratings,
    invalid_entries,
    misplaced_entries,
    missing_entries,
    missing_voids,
    stored_counts,
    stored_exchanges,
    stored_ratings,
    voids_without_cause,
    walk_entries,
)
from referee.ladders.ladder_replay import LadderReplay
from referee.ladders.rating_replay import RatingMove, RatingState
from referee.ladders.tables import Ladder, LedgerEntry, LedgerPart, Rating, RatingChange
from referee.matches.states import PLAYED, MatchState
from referee.matches.tables import MatchLog, Result, StoredMatch

MAX_NAMED: Final = 20  # repaired values listed in the reason of the entry
_PER_STATEMENT: Final = 500


@dataclass
class RepairReport:
    """Describe the repairs of a ladder. ``seq`` is the number of the ledger entry of the repair."""

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
    differences = list(found)
    first = {finding.ladder_id: str(finding) for finding in reversed(differences) if finding.ladder_id is not None}
    for ladder_id, reason in sorted(first.items()):
        values = {"frozen_reason": f"an audit found: {reason}"[:1000]}
        session.execute(update(Ladder).where(Ladder.id == ladder_id).values(values))
    return sorted(first)


def list_frozen(session: Session) -> list[str]:
    """Return the ids of frozen ladders."""
    return list(session.scalars(select(Ladder.id).where(Ladder.frozen_reason.is_not(None)).order_by(Ladder.id)))


def doubtful_matches(found: Iterable[Difference]) -> set[str]:
    """Return the ids of matches whose stored state, seats or result differ from their log."""
    return {finding.id for finding in found if finding.kind in ("match", "seats", "result")}


def repair_ladder(
    session: Session, ladder_id: str, *, created_by: str | None = None, matches: Collection[str] | None = None
) -> RepairReport:
    """Repair the numbers of a ladder and unfreeze it, in one transaction.

    1. Correct the results of ``matches`` from their logs; without ``matches``, replay the logs of the whole ladder.
    2. Append missing ledger entries; delete or move entries that cannot be right.
    3. Rewrite changes from the entries.
    4. Append an entry of kind "repair" that corrects wrong ratings and balances.
    5. Recount the bands of ratings, the sums of the day, and what owners exchanged in each month.

    Damaged or missing logs cannot be repaired. The next audit reports them again; void their matches to resolve this.
    """
    ledger.lock_ledger(session)
    repaired = RepairReport(ladder_id)
    _repair_results(session, repaired, matches)
    _repair_entries(session, repaired)
    _append_entries(session, repaired, created_by)
    replay = LadderReplay(session, ladder_id)
    _rewrite_changes(session, repaired, replay)
    if stored_counts(session, ladder_id) != ranks.count_bands(replay.rating_replay.ratings.values()):
        repaired.repairs.append("counts of ratings recomputed")
    if stored_exchanges(session, ladder_id) != expected_exchanges(replay):
        repaired.repairs.append("sums of the day recomputed")
    _rewrite_ratings(session, repaired, replay, created_by)
    ranks.replace_counts(session, ladder_id, replay.rating_replay.ratings.values())
    daily_exchanges.replace_sums(session, ladder_id, replay.rating_replay.day, replay.rating_replay.exchanged)
    _recount_exchanges(session, repaired)
    session.execute(update(Ladder).where(Ladder.id == ladder_id).values(frozen_reason=None))
    session.execute(delete(LedgerPart))  # of all ladders: the corrected results may be on others
    session.execute(update(Ladder).values(rows_changed=Ladder.rows_changed + 1))
    session.expire_all()
    return repaired


def _repair_results(session: Session, repaired: RepairReport, matches: Collection[str] | None) -> None:
    """Repair results whose logs can be verified; leave the others as they are."""
    if matches is None:
        counted = select(LedgerEntry.match_id).where(LedgerEntry.ladder_id == repaired.ladder_id)
        on_this_ladder = or_(Result.ladder_id == repaired.ladder_id, Result.match_id.in_(counted))
        matches = session.scalars(select(Result.match_id).where(on_this_ladder)).all()
    kept = select(StoredMatch, MatchLog, Result).join(MatchLog, MatchLog.match_id == StoredMatch.id)
    kept = kept.join(Result, Result.match_id == StoredMatch.id)
    for match_id in sorted(matches):
        for match, log, result in session.execute(kept.where(StoredMatch.id == match_id)).all():
            _repair_result(session, repaired, match, log, result)
        session.flush()
        session.expunge_all()  # free memory, because logs are large


def _repair_result(session: Session, repaired: RepairReport, match: StoredMatch, log: MatchLog, result: Result) -> None:
    if match.status not in PLAYED:
        repaired.repairs.append(f"match {match.id} from {match.status} to finished")
        match.status = MatchState.FINISHED
    seats = log_claims.load_seats(session, [match.id])[match.id]
    try:
        lines, _ = log_claims.replay_stored_log(session, match.id, log)
    except BadLog:
        return
    proven = log_claims.derive_records(session, lines, log.rows, seats, result)
    for deviation in list(proven.differing(match, seats, result)):
        repaired.repairs.append(f"{deviation.kind} of {match.id} from {deviation.stored} to {deviation.derived}")
        for column, value in deviation.derived.items():
            setattr(deviation.row, column, value)


def _repair_entries(session: Session, repaired: RepairReport) -> None:
    """Delete entries that cannot be right, and move entries of another ladder to that ladder."""
    for entry_seq, match_id, kind in session.execute(invalid_entries(repaired.ladder_id)).all():
        session.execute(delete(RatingChange).where(RatingChange.seq == entry_seq))
        session.execute(delete(LedgerEntry).where(LedgerEntry.seq == entry_seq))
        repaired.repairs.append(f"ledger entry {entry_seq}, a {kind} of {match_id}, deleted")
    for entry_seq, match_id, _, home in session.execute(misplaced_entries(repaired.ladder_id)).all():
        session.execute(update(LedgerEntry).where(LedgerEntry.seq == entry_seq).values(ladder_id=home))
        repaired.repairs.append(f"ledger entry {entry_seq} of {match_id} moved to {home}")


def _append_entries(session: Session, repaired: RepairReport, created_by: str | None) -> None:
    ladder_id = repaired.ladder_id
    for match_id, seq in session.execute(missing_entries(ladder_id)).all():
        reason = f"found missing for result {seq}"
        ledger.append_entry(session, ladder_id, EntryKind.RESULT, match_id, reason, created_by)
        repaired.repairs.append(f"ledger entry for result {seq} of {match_id} added")
    for match_id in session.scalars(missing_voids(ladder_id)).all():
        reason = session.scalar(select(StoredMatch.reason).where(StoredMatch.id == match_id))
        ledger.append_entry(session, ladder_id, EntryKind.VOID, match_id, reason or "found missing", created_by)
        repaired.repairs.append(f"void of {match_id} added")
    for entry_seq, of in session.execute(entries_without_result(ladder_id)).all():
        reason = f"ledger entry {entry_seq} has no result"
        ledger.append_entry(session, ladder_id, EntryKind.VOID, of, reason, created_by)
        session.execute(update(StoredMatch).where(StoredMatch.id == of).values(status=MatchState.VOID, reason=reason))
        repaired.repairs.append(f"void of ledger entry {entry_seq} of {of}, which has no result, added")
    for entry_seq, of, status in session.execute(voids_without_cause(ladder_id)).all():
        session.execute(update(StoredMatch).where(StoredMatch.id == of).values(status=MatchState.VOID))
        repaired.repairs.append(f"match {of} from {status} to void, by ledger entry {entry_seq}")


def _rewrite_changes(session: Session, repaired: RepairReport, replay: LadderReplay) -> None:
    for entry, stored, expected in walk_entries(replay, lambda more: None):
        if stored == expected:
            continue
        session.execute(delete(RatingChange).where(RatingChange.seq == entry.seq))
        rows = [
            ledger.change_row(repaired.ladder_id, entry.seq, RatingMove(bot_id, RatingState(before), after))
            for bot_id, (_, before, after) in expected.items()
        ]
        if rows:
            session.execute(insert(RatingChange), rows)
        wrong = [bot for bot in sorted(stored.keys() | expected.keys()) if stored.get(bot) != expected.get(bot)]
        repaired.repairs += [f"change {entry.seq} of {bot} rewritten" for bot in wrong]


def _rewrite_ratings(session: Session, repaired: RepairReport, replay: LadderReplay, created_by: str | None) -> None:
    """Append the entry of the repair and record in it the change of each wrong rating to the derived value."""
    ladder_id = repaired.ladder_id
    stored, expected = stored_ratings(session, ladder_id), expected_ratings(replay)
    wrong = [bot for bot in sorted(stored.keys() | expected.keys()) if stored.get(bot) != expected.get(bot)]
    replayed = {bot: replay.rating_replay.ratings.get(bot, RatingState()) for bot in wrong}
    for bot in wrong:
        before = stored[bot][0].value if bot in stored else None
        repaired.repairs.append(
            f"rating of {bot} from {before} to {replayed[bot].value} after {replayed[bot].games} games"
        )
    repaired.seq = ledger.append_entry(session, ladder_id, EntryKind.REPAIR, None, repaired.reason, created_by)
    changes = [
        ledger.change_row(
            *(ladder_id, repaired.seq),
            RatingMove(bot, stored[bot][0] if bot in stored else RatingState(), replayed[bot]),
        )
        for bot in wrong
    ]
    ratings = [ledger.rating_row(ladder_id, bot, repaired.seq, replayed[bot]) for bot in wrong]
    for portion in _portions(wrong):
        session.execute(delete(Rating).where(Rating.ladder_id == ladder_id, Rating.bot_id.in_(portion)))
    if wrong:
        session.execute(insert(RatingChange), changes)
        session.execute(insert(Rating), ratings)


def _recount_exchanges(session: Session, repaired: RepairReport) -> None:
    after = session.scalars(select(Ladder.exchanges_after).where(Ladder.id == repaired.ladder_id)).one()
    pages = ledger.read_entries(session, repaired.ladder_id, after=after)
    counted = (
        [
            (entry.seq, date.fromordinal(entry.day), entry.seats)
            for entry in page
            if entry.seats and entry.counts_at(repaired.seq)
        ]
        for page in pages
    )
    owner_exchanges.recount(session, repaired.ladder_id, counted)


def _portions(bots: Sequence[str]) -> Iterable[list[str]]:
    remaining = iter(bots)
    while portion := list(islice(remaining, _PER_STATEMENT)):
        yield portion
