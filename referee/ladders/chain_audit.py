"""Audit the chain of signatures: each log is signed by a key of the service, and no entry is missing or was changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from referee.ladders.audit_findings import Difference
from referee.match.log import digest
from referee.match.signature import LogSignature
from referee.match.signing_keys import KeyRing, PublicKey, find_problem
from referee.matches import chain
from referee.matches.states import DealGroupState
from referee.matches.tables import DealGroup, MatchLog, SignedLog, StoredMatch

PAGE_SIZE: Final = 500  # entries per query


@dataclass(frozen=True, slots=True)
class _LastRow:
    """Hold the stored end of a log: its reveal row, and whether the log was deleted."""

    line: bytes | None
    is_deleted: bool


def count_entries(session: Session) -> int:
    """Return the number of entries of the chain."""
    return session.scalars(select(func.count()).select_from(SignedLog)).one()


def check_chain(session: Session, current: PublicKey | None = None) -> Iterator[tuple[int, list[Difference]]]:
    """Yield, for each page of the chain, the number of its entries and its differences; last, the unsigned logs.

    ``current`` is the key of the service: once it was used, no other key may have signed. Otherwise somebody
    who can write to the database, but does not know the master key, could add a key of their own.
    """
    keys, before, used = chain.load_keys(session), None, _KeysInOrder(current)
    while entries := chain.list_entries(session, 0 if before is None else before.number, PAGE_SIZE):
        rows = _load_last_rows(session, [entry.match for entry in entries])
        found: list[Difference] = []
        for entry in entries:
            found += _check_entry(entry, before, keys, rows.get(entry.match))
            found += used.add(entry)
            before = entry
        yield len(entries), found
    yield 0, list(_find_unsigned(session))


def check_logs(session: Session, match_ids: Sequence[str]) -> list[Difference]:
    """Return the differences of the signatures of the logs of these matches, each with the entry before it."""
    found: list[Difference] = []
    keys, rows = chain.load_keys(session), _load_last_rows(session, match_ids)
    for match_id in match_ids:
        entry = chain.find_entry(session, match_id)
        if entry is not None:
            before = next(iter(chain.list_entries(session, entry.number - 2, 1)), None) if entry.number > 1 else None
            found += _check_entry(entry, before, keys, rows.get(match_id))
    return found + list(_find_unsigned(session, match_ids))


def check_gaps(session: Session) -> list[Difference]:
    """Return a difference if the numbers of the entries are not 1 and those that follow, without reading them all."""
    numbers = SignedLog.number
    count, first, last = session.execute(select(func.count(), func.min(numbers), func.max(numbers))).one()
    if count in (0, last) and first in (1, None):
        return []
    return [Difference("chain", f"entries 1 to {last}", f"{count} entries from {first} to {last}", f"{last} entries")]


class _KeysInOrder:
    """Check that keys follow each other: none is used again after another, and none after the current one."""

    def __init__(self, current: PublicKey | None) -> None:
        self._current = current and current.id
        self._used: list[str] = []

    def add(self, entry: LogSignature) -> Iterator[Difference]:
        if entry.key in self._used[-1:]:
            return
        before = self._used[-1] if self._used else None
        if before is not None and (before == self._current or entry.key in self._used):
            yield Difference("chain", f"entry {entry.number}", f"key {entry.key} after key {before}", f"key {before}")
        self._used.append(entry.key)


def _check_entry(
    entry: LogSignature, before: LogSignature | None, keys: KeyRing, row: _LastRow | None
) -> Iterator[Difference]:
    problem = find_problem(entry, before, keys)
    if problem:
        yield Difference("chain", f"entry {entry.number}", problem, "an entry signed after the one before it")
    if row is not None and row.is_deleted:
        return
    stored = None if row is None or row.line is None else digest(row.line)
    if stored != entry.log:
        yield Difference("signature", entry.match, f"a log that ends with {stored}", f"the signed one, {entry.log}")


def _load_last_rows(session: Session, match_ids: Sequence[str]) -> dict[str, _LastRow]:
    """Return the ends of the logs of these matches that have a log."""
    query = select(MatchLog.match_id, MatchLog.reveal_line, func.length(MatchLog.gzip_log), StoredMatch.log_deleted_at)
    query = query.join(StoredMatch, StoredMatch.id == MatchLog.match_id).where(MatchLog.match_id.in_(match_ids))
    return {
        match_id: _LastRow(line, is_deleted=not size and deleted_at is not None)
        for match_id, line, size, deleted_at in session.execute(query)
    }


def _find_unsigned(session: Session, match_ids: Sequence[str] | None = None) -> Iterator[Difference]:
    """Yield public logs that are not signed, of these matches or of all. Deleted logs are left out."""
    query = select(MatchLog.match_id).join(StoredMatch, StoredMatch.id == MatchLog.match_id)
    query = query.join(DealGroup, DealGroup.id == StoredMatch.group_id)
    query = query.outerjoin(SignedLog, SignedLog.match_id == MatchLog.match_id)
    is_unsigned = and_(DealGroup.state == DealGroupState.REVEALED, SignedLog.number.is_(None))
    query = query.where(is_unsigned, StoredMatch.log_deleted_at.is_(None))
    if match_ids is not None:
        query = query.where(MatchLog.match_id.in_(match_ids))
    for match_id in session.scalars(query.order_by(MatchLog.match_id)):
        yield Difference("signature", match_id, "no signature", "an entry of the chain")
