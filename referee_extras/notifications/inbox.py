"""Keep the inbox of each account: the notifications to be read on the pages and through the API.

An account has at most ``MAX_ENTRIES``; older ones are deleted. ``retention`` deletes those that are too old.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import Integer, Select, bindparam, delete, func, insert, select, update
from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.db.engine import current_time
from referee.db.ids import new_id
from referee.db.paging import Cursor, Page, load_page
from referee.db.prepared import Prepared
from referee.match.canonical import Json
from referee_extras.notifications.tables import ENTRY_PREFIX, InboxEntry

MAX_ENTRIES: Final = 500


def add_entries(session: Session, event: str, reports: Iterable[tuple[Iterable[str], Json]]) -> None:
    """Add an entry for each payload to the inboxes of its accounts, in this order.

    Deleted accounts get none. Delete entries above ``MAX_ENTRIES`` of these accounts, oldest first.
    """
    entries = [
        {"id": new_id(ENTRY_PREFIX), "to": account_id, "event": event, "payload": payload, "created_at": moment}
        for account_ids, payload in reports
        for moment in [current_time(session)]
        for account_id in sorted(set(account_ids))
    ]
    _ADD.execute_each(session, entries)
    readers = sorted({entry["to"] for entry in entries})
    _DELETE_EXCESS.execute_each(session, [{"of": account_id, "kept": MAX_ENTRIES} for account_id in readers])


def list_entries(
    session: Session, account_id: str, *, unread: bool | None = None, limit: int = 50, cursor: Cursor | None = None
) -> Page[InboxEntry]:
    """Return a page of the inbox, newest first: all entries, or only those that are unread, or read."""
    query = select(InboxEntry).where(InboxEntry.account_id == account_id)
    if unread is not None:
        query = query.where(InboxEntry.read_at.is_(None) if unread else InboxEntry.read_at.is_not(None))
    return load_page(session, query, InboxEntry.created_at.desc(), InboxEntry.id.desc(), limit=limit, cursor=cursor)


def list_recent(session: Session, event: str, account_ids: Iterable[str], age: timedelta) -> Sequence[tuple[str, Json]]:
    """Return account and payload of the entries of this type that these accounts got in the last ``age``."""
    since = current_time(session) - age
    query = select(InboxEntry.account_id, InboxEntry.payload)
    query = query.where(InboxEntry.account_id.in_(set(account_ids)), InboxEntry.created_at > since)
    return [(account_id, payload) for account_id, payload in session.execute(query.where(InboxEntry.event == event))]


def count_unread(session: Session, account_id: str) -> int:
    unread = select(func.count()).where(InboxEntry.account_id == account_id, InboxEntry.read_at.is_(None))
    return session.scalars(unread).one()


def mark_read(session: Session, account_id: str, entry_ids: Collection[str] | None) -> None:
    """Mark these entries of the account as read, or all of them without ``entry_ids``.

    Ignore ids of entries that do not exist any more, or belong to other accounts.
    """
    unread = update(InboxEntry).where(InboxEntry.account_id == account_id, InboxEntry.read_at.is_(None))
    if entry_ids is not None:
        unread = unread.where(InboxEntry.id.in_(entry_ids))
    session.execute(unread.values(read_at=current_time(session)))


def _excess() -> Select[str]:
    """Return the query for the ids of the entries of an account after its first ``kept``, newest first."""
    own = select(_ENTRIES.c.id).where(_ENTRIES.c.account_id == bindparam("of"))
    return own.order_by(_ENTRIES.c.created_at.desc(), _ENTRIES.c.id.desc()).offset(bindparam("kept", type_=Integer))


_ENTRIES, _ACCOUNTS = InboxEntry.__table__, Account.__table__
_GIVEN: Final = ("id", "event", "payload", "created_at")
_ADD: Final = Prepared(
    insert(_ENTRIES).from_select(
        [*_GIVEN, "account_id"],
        select(*(bindparam(name, type_=_ENTRIES.c[name].type) for name in _GIVEN), _ACCOUNTS.c.id).where(
            _ACCOUNTS.c.id == bindparam("to"), _ACCOUNTS.c.deleted_at.is_(None)
        ),
    )
)
# Entries that another transaction is deleting are skipped, so that no two transactions wait for each other.
_DELETE_EXCESS: Final = Prepared(
    delete(_ENTRIES).where(
        _ENTRIES.c.id.in_(select(_ENTRIES.c.id).where(_ENTRIES.c.id.in_(_excess())).with_for_update(skip_locked=True))
    )
)
