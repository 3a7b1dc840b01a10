"""Keep the inbox of each account: what ``outbox`` reports, to be read on the pages and through the API.

An account has at most ``MAX_ENTRIES``; older ones are deleted. ``retention`` deletes those that are too old.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.db.engine import count_changed_rows, current_time
from referee.db.ids import new_id
from referee.db.paging import Cursor, Page, load_newest_first
from referee.match.canonical import Json
from referee.webhooks.states import NotificationType
from referee.webhooks.tables import InboxEntry

MAX_ENTRIES: Final = 500
KEPT_TYPES: Final = frozenset(  # starts of tournaments and pings are only sent
    set(NotificationType) - {NotificationType.TOURNAMENT_STARTED, NotificationType.PING}
)
_BATCH: Final = 500


def add_entries(session: Session, event: str, account_ids: Iterable[str], payload: Json) -> int:
    """Add an entry to the inbox of each of these accounts, if entries of this type are kept. Return their number.

    Deleted accounts get none. Delete entries above ``MAX_ENTRIES`` of these accounts, oldest first.
    """
    readers = sorted(set(account_ids))
    if event not in KEPT_TYPES or not readers:
        return 0
    moment = current_time(session)
    common = {"event": event, "payload": payload, "created_at": moment, "read_at": None}
    added = 0
    for start in range(0, len(readers), _BATCH):
        batch = _present(session, readers[start : start + _BATCH])
        if not batch:
            continue
        rows = [{**common, "id": new_id("inbox entry"), "account_id": account_id} for account_id in batch]
        session.execute(insert(InboxEntry), rows)
        _delete_excess(session, batch)
        added += len(batch)
    return added


def list_entries(
    session: Session, account_id: str, *, unread: bool | None = None, limit: int = 50, cursor: Cursor | None = None
) -> Page[InboxEntry]:
    """Return a page of the inbox, newest first: all entries, or only those that are unread, or read."""
    query = select(InboxEntry).where(InboxEntry.account_id == account_id)
    if unread is not None:
        query = query.where(InboxEntry.read_at.is_(None) if unread else InboxEntry.read_at.is_not(None))
    return load_newest_first(session, query, InboxEntry.created_at, InboxEntry.id, limit=limit, cursor=cursor)


def list_recent(session: Session, event: str, account_ids: Iterable[str], age: timedelta) -> Sequence[tuple[str, Json]]:
    """Return account and payload of the entries of this type that these accounts got in the last ``age``."""
    since = current_time(session) - age
    query = select(InboxEntry.account_id, InboxEntry.payload)
    query = query.where(InboxEntry.account_id.in_(set(account_ids)), InboxEntry.created_at > since)
    return [(account_id, payload) for account_id, payload in session.execute(query.where(InboxEntry.event == event))]


def count_unread(session: Session, account_id: str) -> int:
    unread = select(func.count()).where(InboxEntry.account_id == account_id, InboxEntry.read_at.is_(None))
    return session.scalars(unread).one()


def mark_read(session: Session, account_id: str, entry_ids: Collection[str] | None = None) -> int:
    """Mark these entries of the account as read, or all of them without ``entry_ids``. Return how many were unread.

    Ignore ids of entries that do not exist any more, or belong to other accounts.
    """
    unread = update(InboxEntry).where(InboxEntry.account_id == account_id, InboxEntry.read_at.is_(None))
    if entry_ids is not None:
        unread = unread.where(InboxEntry.id.in_(entry_ids))
    return count_changed_rows(session, unread.values(read_at=current_time(session)))


def _present(session: Session, account_ids: Sequence[str]) -> Sequence[str]:
    """Return those of these accounts that are not deleted, in the same order."""
    deleted = select(Account.id).where(Account.id.in_(account_ids), Account.deleted_at.is_not(None))
    gone = set(session.scalars(deleted))
    return [account_id for account_id in account_ids if account_id not in gone]


def _delete_excess(session: Session, account_ids: Sequence[str]) -> None:
    newest = (InboxEntry.created_at.desc(), InboxEntry.id.desc())
    number = func.row_number().over(partition_by=InboxEntry.account_id, order_by=newest).label("number")
    numbered = select(InboxEntry.id, number).where(InboxEntry.account_id.in_(account_ids)).subquery()
    superfluous = select(numbered.c.id).where(numbered.c.number > MAX_ENTRIES)
    excess = select(InboxEntry.id).where(InboxEntry.id.in_(superfluous))
    # Entries that another transaction is deleting are skipped, so that no two transactions wait for each other.
    ids = list(session.scalars(excess.with_for_update(skip_locked=True)))
    if ids:
        session.execute(delete(InboxEntry).where(InboxEntry.id.in_(ids)))
