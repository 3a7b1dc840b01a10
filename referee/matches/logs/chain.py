"""Keep the chain of signatures: sign the logs of a closed deal group, list and check entries, and find keys.

``match.signature`` defines an entry. Entries are only ever added, by transactions that hold the lock for results, so
that the chain never forks.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, insert, literal, select, update
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.db.prepared import Prepared, insert_columns
from referee.errors import DamagedChain, DamagedLog, RefereeError
from referee.master_keys import key_ring
from referee.match.log import digest
from referee.match.signature import BadSignature, ChainHead, LogSignature, check_belongs, head_after
from referee.match.signing_keys import BadKey, KeyRing, PublicKey, SigningKey, find_problem, parse_key
from referee.matches.tables import MatchLog, PublishedKey, SignedLog


class ChainWriter:
    """Append to the chain in one transaction, whose session holds the lock for results (``lock_ledger``)."""

    def __init__(self, session: Session, master_key: bytes) -> None:
        self._session, self._keys = session, [SigningKey.derive(key) for key in key_ring(master_key)]
        self._key = self._keys[0]
        self._head: ChainHead | None = None
        self._is_loaded = False

    def sign(self, logs: Sequence[tuple[str, str]]) -> ChainHead | None:
        """Sign logs, given by match id and digest of the last row, in this order. Return the head after them.

        Publish the key if the entry before has another one, and end that one. Return None without logs. Raise
        ``EndedKey`` if this process has only a key that another has followed.
        """
        if not logs:
            return None
        if not self._is_loaded:
            self._load_head()
        rows = []
        for match_id, log_digest in logs:
            number, previous = (1, None) if self._head is None else (self._head.number + 1, self._head.digest)
            entry = self._key.sign(number, match_id, log_digest, previous)
            rows.append(dict(zip(_COLUMN_NAMES, astuple(entry), strict=True)))
            self._head = head_after(entry)
        _ADD.execute_all(self._session, rows)
        return self._head

    def _load_head(self) -> None:
        last = find_head(self._session)
        if last is None or last.key != self._key.public.id:
            self._change_key(last)
        self._head = None if last is None else head_after(last)
        self._is_loaded = True

    def _change_key(self, last: LogSignature | None) -> None:
        """Choose the key that follows the one of the last entry, so that keys are never used in turn.

        A key that was used before has ended. Then another process, whose settings were changed already, uses its
        successor, and this one must use it, too.
        """
        if last is not None and _HAS_KEY.rows(self._session, {"of": self._key.public.id}):
            following = [key for key in self._keys if key.public.id == last.key]
            if not following:
                raise EndedKey(
                    f"Key {self._key.public.id} signed earlier logs and was followed by key {last.key}, which this "
                    "process does not have. Add its master key to REFEREE_ACCEPTED_MASTER_KEYS and restart."
                )
            self._key = following[0]
            return
        publish_key(self._session, self._key.public)
        if last is not None:
            end = {"ended_at": current_time(self._session), "last_number": last.number}
            self._session.execute(update(PublishedKey).where(PublishedKey.id == last.key).values(end))


class EndedKey(RefereeError):
    """Report that a log cannot be signed, because another key has followed the one of this process."""


@dataclass(frozen=True, slots=True)
class StoredSignature:
    """Hold the signature of a stored log. ``problem`` says why it does not belong to the log, or is empty."""

    signature: LogSignature
    problem: str


@dataclass(frozen=True, slots=True)
class UsedKey:
    """Hold a public key and since when it was used. ``until`` and ``last_number`` are None unless another followed."""

    key: PublicKey
    since: datetime
    until: datetime | None
    last_number: int | None


def publish_key(session: Session, key: PublicKey) -> None:
    """Store a public key unless it is stored already."""
    if not _HAS_KEY.rows(session, {"of": key.id}):
        row = {"id": key.id, "public_key": key.raw.hex(), "created_at": current_time(session)}
        session.execute(insert(PublishedKey).values(row))


def find_head(session: Session) -> LogSignature | None:
    """Return the last entry of the chain, or None if it is empty."""
    found = _HEAD.rows(session)
    return LogSignature(*found[0]) if found else None


def find_entry(session: Session, match_id: str) -> LogSignature | None:
    """Return the entry that signs the log of a match, or None if there is none."""
    found = _OF_MATCH.rows(session, {"of": match_id})
    return LogSignature(*found[0]) if found else None


def find_checked_head(session: Session) -> LogSignature | None:
    """Return the head as ``find_head`` does. Raise ``DamagedChain`` unless it follows from the entry before it."""
    return _check_link(session, find_head(session))


def find_checked_entry(session: Session, match_id: str) -> LogSignature | None:
    """Return an entry as ``find_entry`` does. Raise ``DamagedChain`` unless it follows from the entry before it."""
    return _check_link(session, find_entry(session, match_id))


def list_entries(session: Session, after: int, limit: int) -> list[LogSignature]:
    """Return at most ``limit`` entries with numbers above ``after``, in order."""
    return [LogSignature(*row) for row in _AFTER.rows(session, {"after": after, "most": limit})]


def list_checked_entries(session: Session, after: int, limit: int) -> list[LogSignature]:
    """Return entries as ``list_entries`` does. Raise ``DamagedChain`` unless each follows from the one before."""
    found = list_entries(session, max(after - 1, 0), limit + (after > 0))
    before = found.pop(0) if after > 0 and found else None
    if before is not None and before.number != after:
        raise DamagedChain(before.number, f"entry {after} is missing")
    keys = load_keys(session)
    for entry in found:
        problem = find_problem(entry, before, keys)
        if problem:
            raise DamagedChain(entry.number, problem)
        before = entry
    return found


def _check_link(session: Session, entry: LogSignature | None) -> LogSignature | None:
    if entry is not None:
        list_checked_entries(session, entry.number - 1, 1)
    return entry


def load_keys(session: Session) -> KeyRing:
    """Return all public keys of the service. Leave out rows whose id is not that of their key."""
    used = list_keys(session)
    ends = {each.key.id: each.last_number for each in used if each.last_number is not None}
    return KeyRing((each.key for each in used), ends)


def list_keys(session: Session) -> list[UsedKey]:
    """Return the stored public keys with the times of their use, newest first."""
    stored = session.scalars(select(PublishedKey).order_by(PublishedKey.created_at.desc(), PublishedKey.id))
    used = []
    for row in stored:
        with suppress(BadKey):
            key = parse_key(row.public_key)
            if key.id == row.id:
                used.append(UsedKey(key, row.created_at, row.ended_at, row.last_number))
    return used


def find_signature(session: Session, match_id: str) -> StoredSignature | None:
    """Return the signature of a stored log, compared with the last row of the log, or None if it is not signed.

    The rows before are not compared; ``read_signature`` does this. A log that was deleted cannot be compared.
    """
    entry = find_entry(session, match_id)
    if entry is None:
        return None
    line = session.scalar(select(MatchLog.reveal_line).where(MatchLog.match_id == match_id))
    if line is not None and digest(line) != entry.log:
        return StoredSignature(entry, "the digest that was signed is not that of the last row")
    try:
        load_keys(session).check(entry)
    except BadSignature as error:
        return StoredSignature(entry, str(error))
    return StoredSignature(entry, "")


def read_signature(session: Session, match_id: str, rows: Sequence[bytes]) -> LogSignature | None:
    """Return the signature of a public log with these rows, or None if it is not signed.

    Raise ``DamagedLog`` if a key of the service did not sign exactly these rows.
    """
    entry = find_entry(session, match_id)
    if entry is None:
        return None
    try:
        check_belongs(entry, rows)
        load_keys(session).check(entry)
    except BadSignature as error:
        raise DamagedLog(len(rows), f"its signature does not fit: {error}") from error
    return entry


_SIGNED, _SIGNING_KEYS = SignedLog.__table__, PublishedKey.__table__
_COLUMN_NAMES: Final = ("number", "match_id", "log_digest", "previous", "key_id", "signature")
_COLUMNS: Final = [_SIGNED.c[name] for name in _COLUMN_NAMES]
_HEAD: Final = Prepared(select(*_COLUMNS).order_by(_SIGNED.c.number.desc()).limit(literal(1)))
_OF_MATCH: Final = Prepared(select(*_COLUMNS).where(_SIGNED.c.match_id == bindparam("of")))
_AFTER: Final = Prepared(
    select(*_COLUMNS).where(_SIGNED.c.number > bindparam("after")).order_by(_SIGNED.c.number).limit(bindparam("most"))
)
_ADD: Final = Prepared(insert_columns(_SIGNED))
_HAS_KEY: Final = Prepared(select(_SIGNING_KEYS.c.id).where(_SIGNING_KEYS.c.id == bindparam("of")))
