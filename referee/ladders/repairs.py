"""What follows from an audit: ladders in doubt are frozen, and a repair puts derived numbers right.

The truth is the logs, the results they prove, and the acts of the ledger, to which is only ever appended. Changes,
ratings and counts are derived: a repair writes them anew, and an act of its own tells what it found.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from sqlalchemy import delete, insert, or_, select, update
from sqlalchemy.orm import Session

from referee.errors import BadLog
from referee.ladders import ledger, log_claims, ranks
from referee.ladders.audit_findings import Difference
from referee.ladders.ladder_audit import (
    acts_elsewhere,
    acts_of_none,
    acts_without_result,
    expected_ratings,
    missing_acts,
    missing_voids,
    stored_counts,
    stored_ratings,
    voids_without_cause,
    walk_entries,
)
from referee.ladders.ladder_replay import Refold
from referee.ladders.rating_replay import Held
from referee.ladders.tables import Ladder, LedgerEntry, Rating, RatingChange
from referee.matches.tables import Match, MatchLog, Result

NAMED: Final = 20  # repaired values told one by one in the reason of the act
_PER_STATEMENT: Final = 500


@dataclass
class Repaired:
    """What was put right on a ladder, in words; ``seq`` is the act that tells of it."""

    ladder_id: str
    seq: int = 0
    done: list[str] = field(default_factory=list)

    @property
    def reason(self) -> str:
        more = len(self.done) - NAMED
        told = "; ".join(self.done[:NAMED]) or "nothing was wrong"
        return f"{told}; and {more} more" if more > 0 else told


def freeze(session: Session, found: Iterable[Difference]) -> list[str]:
    """Freezes the ladders whose numbers are in doubt by these differences and gives their ids.

    A frozen ladder says so; results enter its ledger, its values stand still until they are repaired.
    """
    ledger.take_turn(session)
    first = {one.ladder_id: str(one) for one in reversed(list(found)) if one.ladder_id is not None}
    for ladder_id, reason in sorted(first.items()):
        values = {"frozen_reason": f"an audit found: {reason}"[:1000]}
        session.execute(update(Ladder).where(Ladder.id == ladder_id).values(values))
    return sorted(first)


def in_doubt(session: Session) -> list[str]:
    """Ladders that are frozen."""
    return list(session.scalars(select(Ladder.id).where(Ladder.frozen_reason.is_not(None)).order_by(Ladder.id)))


def doubtful_matches(found: Iterable[Difference]) -> set[str]:
    """The matches of which these differences say that their result, seats or state are not what the log tells."""
    return {one.id for one in found if one.what in ("match", "seats", "result")}


def repair(
    session: Session, ladder_id: str, *, by: str | None = None, matches: Collection[str] | None = None
) -> Repaired:
    """Puts the numbers of a ladder right and lets it go on, in one transaction.

    1. Results are made what their logs say: those of ``matches``, or all of the ladder, which takes as long as they
    took to play. 2. Acts that are missing are appended, those that can be nobody's are taken out. 3. Changes follow
    from the acts. 4. An act "repair" is appended; ratings that were wrong move by it. 5. Counts follow from the
    ratings. What cannot be repaired, a log that is damaged or gone, an audit finds again; the match may be made void.
    """
    ledger.take_turn(session)
    repaired = Repaired(ladder_id)
    _repair_results(session, repaired, matches)
    _repair_acts(session, repaired)
    _append_acts(session, repaired, by)
    refold = Refold(session, ladder_id)
    _rewrite_changes(session, repaired, refold)
    if stored_counts(session, ladder_id) != ranks.bands(refold.fold.held.values()):
        repaired.done.append("counts of ratings")
    _rewrite_ratings(session, repaired, refold, by)
    ranks.count_anew(session, ladder_id, refold.fold.held.values())
    session.execute(update(Ladder).where(Ladder.id == ladder_id).values(frozen_reason=None))
    session.expire_all()
    return repaired


def _repair_results(session: Session, repaired: Repaired, matches: Collection[str] | None) -> None:
    """Only where the log holds; else the result stands as it is."""
    if matches is None:
        counted = select(LedgerEntry.match_id).where(LedgerEntry.ladder_id == repaired.ladder_id)
        here = or_(Result.ladder_id == repaired.ladder_id, Result.match_id.in_(counted))
        matches = session.scalars(select(Result.match_id).where(here)).all()
    kept = select(Match, MatchLog, Result).join(MatchLog, MatchLog.match_id == Match.id)
    kept = kept.join(Result, Result.match_id == Match.id)
    for match_id in sorted(matches):
        for match, log, result in session.execute(kept.where(Match.id == match_id)).all():
            _repair_result(session, repaired, match, log, result)
        session.flush()
        session.expunge_all()  # logs are large


def _repair_result(session: Session, repaired: Repaired, match: Match, log: MatchLog, result: Result) -> None:
    if match.status not in ("finished", "void"):
        repaired.done.append(f"match {match.id} from {match.status} to finished")
        match.status = "finished"
    seats = log_claims.load_seats(session, [match.id])[match.id]
    try:
        lines, _ = log_claims.replay_stored_log(session, match.id, log)
    except BadLog:
        return
    proven = log_claims.derive_records(session, lines, log.rows, seats)
    for one in list(proven.differing(match, seats, result)):
        repaired.done.append(f"{one.what} of {match.id} from {one.stored} to {one.proven}")
        for column, value in one.proven.items():
            setattr(one.row, column, value)


def _repair_acts(session: Session, repaired: Repaired) -> None:
    """Acts that can be nobody's leave the ledger, those of another ladder go there."""
    for act, of, kind in session.execute(acts_of_none(repaired.ladder_id)).all():
        session.execute(delete(RatingChange).where(RatingChange.seq == act))
        session.execute(delete(LedgerEntry).where(LedgerEntry.seq == act))
        repaired.done.append(f"act {act}, a {kind} of {of}, taken out")
    for act, of, _, home in session.execute(acts_elsewhere(repaired.ladder_id)).all():
        session.execute(update(LedgerEntry).where(LedgerEntry.seq == act).values(ladder_id=home))
        repaired.done.append(f"act {act} of {of} to {home}")


def _append_acts(session: Session, repaired: Repaired, by: str | None) -> None:
    ladder_id = repaired.ladder_id
    for match_id, seq in session.execute(missing_acts(ladder_id)).all():
        ledger.append(session, ladder_id, "result", match_id, f"found missing for result {seq}", by)
        repaired.done.append(f"act for result {seq} of {match_id}")
    for match_id in session.scalars(missing_voids(ladder_id)).all():
        reason = session.scalar(select(Match.reason).where(Match.id == match_id))
        ledger.append(session, ladder_id, "void", match_id, reason or "found missing", by)
        repaired.done.append(f"void of {match_id}")
    for act, of in session.execute(acts_without_result(ladder_id)).all():
        reason = f"act {act} has no result"
        ledger.append(session, ladder_id, "void", of, reason, by)
        session.execute(update(Match).where(Match.id == of).values(status="void", reason=reason))
        repaired.done.append(f"void of act {act} of {of}, which has no result")
    for act, of, status in session.execute(voids_without_cause(ladder_id)).all():
        session.execute(update(Match).where(Match.id == of).values(status="void"))
        repaired.done.append(f"match {of} from {status} to void, by act {act}")


def _rewrite_changes(session: Session, repaired: Repaired, refold: Refold) -> None:
    for act, stored, expected in walk_entries(refold, lambda more: None):
        if stored == expected:
            continue
        session.execute(delete(RatingChange).where(RatingChange.seq == act.seq))
        rows = [
            {"seq": act.seq, "bot_id": bot_id, "ladder_id": repaired.ladder_id}
            | {"before": before, "after": after, "games": games}
            for bot_id, (_, before, after, games) in expected.items()
        ]
        if rows:
            session.execute(insert(RatingChange), rows)
        wrong = [bot for bot in sorted(stored.keys() | expected.keys()) if stored.get(bot) != expected.get(bot)]
        repaired.done += [f"change {act.seq} of {bot}" for bot in wrong]


def _rewrite_ratings(session: Session, repaired: Repaired, refold: Refold, by: str | None) -> None:
    """Ratings that do not follow move by an act of their own: from what stood there to what follows."""
    ladder_id = repaired.ladder_id
    stored, expected = stored_ratings(session, ladder_id), expected_ratings(refold)
    wrong = [bot for bot in sorted(stored.keys() | expected.keys()) if stored.get(bot) != expected.get(bot)]
    held = {bot: refold.fold.held.get(bot, Held()) for bot in wrong}
    for bot in wrong:
        before = stored[bot][0] if bot in stored else None
        repaired.done.append(f"rating of {bot} from {before} to {held[bot].value} after {held[bot].games} games")
    repaired.seq = ledger.append(session, ladder_id, "repair", None, repaired.reason, by)
    changes = [
        {"seq": repaired.seq, "bot_id": bot, "ladder_id": ladder_id, "games": held[bot].games}
        | {"before": stored[bot][0] if bot in stored else Held().value, "after": held[bot].value}
        for bot in wrong
    ]
    ratings = [
        {"ladder_id": ladder_id, "bot_id": bot, "value": held[bot].value, "games": held[bot].games}
        | {"as_of_seq": repaired.seq}
        for bot in wrong
    ]
    for some in _portions(wrong):
        session.execute(delete(Rating).where(Rating.ladder_id == ladder_id, Rating.bot_id.in_(some)))
    if wrong:
        session.execute(insert(RatingChange), changes)
        session.execute(insert(Rating), ratings)


def _portions(bots: Sequence[str]) -> Iterable[list[str]]:
    rest = iter(bots)
    while some := list(islice(rest, _PER_STATEMENT)):
        yield some
