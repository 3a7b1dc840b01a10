"""Export, prune and erase what webhooks and inboxes store about accounts, and erase names in their messages."""

from collections.abc import Callable
from typing import Any, Final

import orjson
from sqlalchemy import ColumnElement, Select, Text, cast, delete, select, update
from sqlalchemy.orm import Session

from referee import plugs
from referee.accounts.reserved_names import neutral_name
from referee.events import AccountErased, BotDeleted, TournamentErased
from referee.match.canonical import Json, dumps
from referee.tournaments.tables import Tournament
from referee.workflows.erasing.account_export import of_account
from referee_extras.notifications import webhooks
from referee_extras.notifications.masked_urls import mask_url
from referee_extras.notifications.tables import Delivery, InboxEntry, Webhook

_ABOUT_TOURNAMENTS: Final = ("tournament.", "invitation.")  # types whose ``name`` is that of a tournament
_READ_AT_ONCE: Final = 100  # deliveries, so that their number does not decide how much memory is used


def _of_webhooks(account_id: str, _: Select[Any]) -> ColumnElement[bool]:
    return Delivery.webhook_id.in_(select(Webhook.id).where(Webhook.account_id == account_id))


def _mask(row: Json) -> Json:
    return {**row, "url": mask_url(row["kind"], row["url"])}


EXPORTED: Final = {
    "inbox_entries": (InboxEntry, of_account(InboxEntry.account_id)),
    "webhooks": (Webhook, of_account(Webhook.account_id), _mask),
    "deliveries": (Delivery, _of_webhooks),
}
DISK_USE: Final = {"deliveries": (Delivery.id, (Delivery.body,))}


def forget_account(session: Session, erased: AccountErased) -> None:
    """Delete the webhooks and the inbox of an account, and replace its name in the messages that it caused.

    Also replace the names of what it invited others to, if that is deleted.
    """

    def replace(_: str, data: Json) -> Json:
        if data.get("from") != erased.account:
            return data
        return {**data, "from_name": erased.name, **_name_if_deleted(session, data)}

    for webhook_id in session.scalars(select(Webhook.id).where(Webhook.account_id == erased.account)).all():
        webhooks.remove(session, webhook_id)
    session.execute(delete(InboxEntry).where(InboxEntry.account_id == erased.account))
    _replace_in_messages(session, erased.account, replace)


def replace_bot_name(session: Session, deleted: BotDeleted) -> None:
    """Replace the erased names of a bot in the messages about its matches and its requests for friendlies."""

    def replace(_: str, data: Json) -> Json:
        if "seats" in data:
            return {**data, "seats": [replace_in_seat(seat) for seat in data["seats"]]}
        if "names" not in data:
            return data
        pairs = zip(data["bots"], data["names"], strict=True)
        return {**data, "names": [name_of(bot, name) for bot, name in pairs]}

    def replace_in_seat(seat: Json) -> Json:
        return {**seat, "name": name_of(seat["bot"], seat["name"])}

    def name_of(bot: str, name: str) -> str:
        return deleted.name if bot == deleted.bot and name not in deleted.kept else name

    _replace_in_messages(session, deleted.bot, replace)


def replace_tournament_name(session: Session, erased: TournamentErased) -> None:
    """Replace the name of a tournament in messages about it."""

    def replace(type: str, data: Json) -> Json:
        is_named = data.get("tournament") == erased.tournament and type.startswith(_ABOUT_TOURNAMENTS)
        return {**data, "name": erased.name} if is_named else data

    _replace_in_messages(session, erased.tournament, replace)


def _name_if_deleted(session: Session, data: Json) -> Json:
    """Return the neutral name of what accounts run together in a message as ``name``, or {} if it still exists."""
    tables = {"tournament": Tournament} | {each.kind: plugs.load(each.table) for each in plugs.list_organised()}
    for place, table in tables.items():
        if (object_id := data.get(place)) is not None and session.get(table, object_id) is None:
            return {"name": neutral_name(f"deleted {place}", object_id)}
    return {}


def _replace_in_messages(session: Session, object_id: str, replace: Callable[[str, Json], Json]) -> None:
    """Replace the data of all messages that have this id by what ``replace`` returns for their type and data."""
    named = cast(InboxEntry.payload, Text).contains(object_id)
    for entry in session.scalars(select(InboxEntry).where(named)).all():
        entry.payload = replace(entry.event, entry.payload)
    bodies = select(Delivery.id, Delivery.event, Delivery.body)
    for delivery_id, type, body in session.execute(bodies, execution_options={"yield_per": _READ_AT_ONCE}):
        if object_id.encode() in body:
            message = orjson.loads(body)
            replaced = dumps({**message, "data": replace(type, message["data"])})
            session.execute(update(Delivery).where(Delivery.id == delivery_id).values(body=replaced))
    session.flush()
