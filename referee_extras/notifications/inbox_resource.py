"""List the inbox of the caller's account, and mark entries as read."""

from typing import Any

from api.auth import account, current_account
from api.extended import Extended
from api.views import Resource, current_session
from referee.accounts.scopes import Scope
from referee.db.paging import Page
from referee_extras.notifications import inbox
from referee_extras.notifications.notification_types import describe_notification
from referee_extras.notifications.schemas import InboxEntryView, InboxQuery, ReadEntries, UnreadView
from referee_extras.notifications.tables import InboxEntry

resource = Resource("inbox", "/api/v1/accounts/me/inbox", "The inbox of your account.")


@resource.get("", account, items=InboxEntryView, query=InboxQuery)
def list_entries(query: dict[str, Any]) -> Any:
    """List the notifications of your account, newest first

    Entries are kept for 90 days, and at most 500 for an account.
    """
    found = inbox.list_entries(current_session(), current_account().id, **query)
    return Page([present_entry(entry) for entry in found.items], found.next)


@resource.get("/unread", account, UnreadView)
def count_unread() -> Any:
    """Count the unread entries of your inbox

    Entries count until you mark them as read, or until they are deleted.
    """
    return {"unread": inbox.count_unread(current_session(), current_account().id)}


@resource.post("/read", account, UnreadView, scope=Scope.READ, body=ReadEntries)
def mark_read(wish: dict[str, Any]) -> Any:
    """Mark entries of your inbox as read, or all of them

    Without `ids`, all entries are marked. Ids that your inbox does not have are ignored. The response is the number of
    entries that are still unread.
    """
    inbox.mark_read(current_session(), current_account().id, wish["ids"])
    return {"unread": inbox.count_unread(current_session(), current_account().id)}


def present_entry(entry: InboxEntry) -> Extended:
    described = describe_notification(entry.event, entry.payload)
    return Extended(entry, text=described.text, path=described.path)
