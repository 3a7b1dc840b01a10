"""Audit the database: replay all logs and ladders, check signatures, and compare stored values with derived ones.

The audit reads one snapshot and writes nothing. ``ladder_audit`` compares ladders; ``repairs`` recomputes them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from referee.errors import BadLog
from referee.ladders import chain_audit, log_claims
from referee.ladders.audit_findings import Difference
from referee.ladders.ladder_audit import check_ladders
from referee.ladders.log_claims import SeatWithOwner
from referee.ladders.tables import LedgerEntry
from referee.match.canonical import Json
from referee.match.log import LINK_MEMBERS, parse_row
from referee.match.signing_keys import PublicKey
from referee.matches import chain, deal_groups
from referee.matches.states import PLAYED, DealGroupState, MatchState
from referee.matches.tables import DealGroup, MatchLog, Result, StoredMatch

PAGE_SIZE: Final = 100  # logs per query
_WAS_PLAYED: Final = or_(StoredMatch.status.in_(PLAYED), Result.seq.is_not(None))

Step = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class AuditedMatch:
    """Hold everything stored about a match that was played or has a result."""

    match: StoredMatch
    group: DealGroup
    log: MatchLog | None
    result: Result | None
    seats: list[SeatWithOwner]


class AuditedPage(NamedTuple):
    """Hold the differences of some logs, the ids of their matches, and the last of them if further ones follow."""

    differences: list[Difference]
    matches: list[str]
    last: str | None


def audit(session: Session, step: Step = lambda more: None, *, key: PublicKey | None = None) -> Iterator[Difference]:
    """Yield all differences: first those of logs and results, then those of signatures, then those of ladders.

    ``key`` is the current key of the service (``chain_audit``). After each page, call ``step`` with the number of items
    compared. These numbers add up to ``count_items``.
    """
    yield from check_logs(session, step)
    for entries, differences in chain_audit.check_chain(session, key):
        yield from differences
        step(entries)
    yield from check_ladders(session, step)


def count_items(session: Session) -> int:
    """Return the number of items to compare: matches, entries of the chain of signatures, and ledger entries."""
    matches = (
        select(func.count())
        .select_from(StoredMatch)
        .outerjoin(Result, Result.match_id == StoredMatch.id)
        .where(_WAS_PLAYED)
    )
    ledger_entries = session.scalars(select(func.count()).select_from(LedgerEntry)).one()
    return session.scalars(matches).one() + chain_audit.count_entries(session) + ledger_entries


def check_logs(session: Session, step: Step = lambda more: None) -> Iterator[Difference]:
    """Replay the log of every match that was played.

    Yield each difference from the stored digest, result, seats and deal group. Call ``step`` with the number of matches
    after each page.
    """
    after: str | None = ""
    while after is not None:
        page = check_page(session, after, PAGE_SIZE)
        yield from page.differences
        step(len(page.matches))
        after = page.last
        session.expunge_all()  # free memory, because logs are large


def check_page(session: Session, after: str, limit: int) -> AuditedPage:
    """Replay the logs of at most ``limit`` matches with ids above ``after``, in order of ids."""
    page = _load_page(session, after, limit)
    differences = [difference for played in page for difference in _check(session, played)]
    match_ids = [played.match.id for played in page]
    return AuditedPage(differences, match_ids, match_ids[-1] if len(page) == limit else None)


def _load_page(session: Session, after: str, limit: int) -> list[AuditedMatch]:
    query = select(StoredMatch, DealGroup, MatchLog, Result).join(DealGroup, DealGroup.id == StoredMatch.group_id)
    query = query.outerjoin(MatchLog, MatchLog.match_id == StoredMatch.id).outerjoin(
        Result, Result.match_id == StoredMatch.id
    )
    rows = session.execute(query.where(_WAS_PLAYED, StoredMatch.id > after).order_by(StoredMatch.id).limit(limit)).all()
    seats = log_claims.load_seats(session, [match.id for match, *_ in rows])
    return [AuditedMatch(match, group, log, result, seats[match.id]) for match, group, log, result in rows]


def _check(session: Session, played: AuditedMatch) -> Iterator[Difference]:
    log, result, match = played.log, played.result, played.match
    if match.status == MatchState.VOID and result is None and all(seat.row.placement is None for seat in played.seats):
        return  # the match was stuck when it was voided, so it has no result
    if log is None or result is None:
        yield Difference("match", match.id, match.status, "a log and a result")
        return
    if match.status not in PLAYED:
        yield Difference("match", match.id, match.status, "finished, as it has a result", result.ladder_id)
    if match.log_deleted_at is not None and not log.gzip_log:
        yield from _check_deleted(session, match, log, result)
        return
    try:
        lines, report = log_claims.replay_stored_log(session, match.id, log)
    except BadLog as error:
        yield Difference("log", match.id, f"row {error.row}: {error.reason}", "a valid log")
        return
    yield from _compare(session, played, log, result, lines, revealed=report.revealed)


def _compare(
    session: Session, played: AuditedMatch, log: MatchLog, result: Result, lines: Sequence[bytes], *, revealed: bool
) -> Iterator[Difference]:
    """Yield each difference between a replayed log and what is stored of its match."""
    match = played.match
    proven = log_claims.derive_records(session, lines, log.rows, played.seats, result)
    for deviation in proven.differing(match, played.seats, result):
        for ladder_id in sorted({result.ladder_id, proven.result["ladder_id"]} - {None}, key=str) or [None]:
            yield Difference(deviation.kind, match.id, str(deviation.stored), str(deviation.derived), ladder_id)
    yield from _check_reveal(session, played, lines, revealed=revealed)


def _check_deleted(session: Session, match: StoredMatch, log: MatchLog, result: Result) -> Iterator[Difference]:
    """Yield differences of a log that was deleted: it is signed, but not replayable.

    What the log proved was compared as long as the service kept it. Logs of official ladders may be from before logs
    were signed; others are deleted only if they are signed.
    """
    if log.digest != result.digest:
        yield Difference("log", match.id, f"deleted, with the digest {log.digest}", result.digest, result.ladder_id)
    if match.ladder_id is None and chain.find_entry(session, match.id) is None:
        yield Difference("log", match.id, "deleted, and not signed", "a signed log", result.ladder_id)


def count_deleted(session: Session, match_ids: Sequence[str] | None = None) -> int:
    """Return how many logs, of these matches or of all, were deleted: they are signed, but not replayable."""
    query = select(func.count()).select_from(StoredMatch).where(StoredMatch.log_deleted_at.is_not(None))
    return session.scalars(query if match_ids is None else query.where(StoredMatch.id.in_(match_ids))).one()


def _check_reveal(
    session: Session, played: AuditedMatch, lines: Sequence[bytes], *, revealed: bool
) -> Iterator[Difference]:
    """Yield differences between the reveal row and the deal group. The row must exist only if the group is revealed."""
    group, match_id = played.group, played.match.id
    if revealed != (group.state == DealGroupState.REVEALED):
        yield Difference("reveal", match_id, "open" if revealed else "closed", f"group {group.id} is {group.state}")
    elif revealed:
        stored = [_revealed_members(parse_row(lines[-1])), parse_row(lines[0])["group"]["commitment"]]
        expected = [_known_members(session, group), group.commitment]
        if stored != expected:
            yield Difference("reveal", match_id, str(stored), str(expected))


def _known_members(session: Session, group: DealGroup) -> Json:
    """Return the members of the reveal row that follow from the database without the master key."""
    count = len(group.entries)
    return {
        "nonces": group.nonces or [""] * count,
        "nonce_hashes": group.nonce_hashes or [""] * count,
        "accepted": group.accepted or [None] * count,
        "openings": [
            {"id": ended.id, "commitment": ended.commitment, "failures": failures}
            | {"nonces": ended.nonces, "nonce_hashes": ended.nonce_hashes}
            for ended, failures in deal_groups.list_superseded(session, group.id)
        ],
    }


def _revealed_members(row: Json) -> Json:
    """Return these members of a reveal row. Its seeds fit their commitments, as the log is valid."""
    members = {name: value for name, value in row.items() if name not in (*LINK_MEMBERS, "seed")}
    members["openings"] = [
        {name: value for name, value in opening.items() if name != "seed"} for opening in members["openings"]
    ]
    return members
