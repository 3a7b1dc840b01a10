"""Replace the names of deleted accounts and bots where they were copied for others: in messages, and in acts."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import orjson
from sqlalchemy import Text, cast, select, update
from sqlalchemy.orm import Session

from referee.accounts.act_kinds import ActKind
from referee.accounts.oversight_tables import Act
from referee.match.canonical import Json, dumps
from referee.webhooks.states import NotificationType
from referee.webhooks.tables import Delivery, InboxEntry

NAMES: Final = ("name", "name_before", "name_after")  # in the details of acts


def replace_bot_name(session: Session, bot_id: str, name: str, *, kept: Sequence[str]) -> None:
    """Replace the names of a bot, apart from those in ``kept``, by ``name``."""

    def replace(data: Json) -> Json:
        pairs = zip(data["bots"], data["names"], strict=True)
        names = [name if bot == bot_id and old not in kept else old for bot, old in pairs]
        return {**data, "names": names}

    _replace_in_messages(session, bot_id, replace)
    for act in session.scalars(select(Act).where(Act.object_id == bot_id, Act.kind == ActKind.BOT_RENAMED)).all():
        details = {key: name if key in NAMES and old not in kept else old for key, old in act.details.items()}
        _set_act(session, act, details=details, reason=act.reason)


def replace_account_name(session: Session, account_id: str, name: str) -> None:
    """Replace the name of an account by ``name``, and remove the reasons of what operators did to the account."""
    _replace_in_messages(session, account_id, lambda data: {**data, "from_name": name})
    session.execute(update(Act).where(Act.account_id == account_id).values(account_name=name))
    for act in session.scalars(select(Act).where(Act.object_id == account_id)).all():
        details = {key: value for key, value in act.details.items() if key not in NAMES}
        _set_act(session, act, details=details, reason=None)


def _set_act(session: Session, act: Act, **values: Any) -> None:
    session.execute(update(Act).where(Act.id == act.id).values(**values))


def _replace_in_messages(session: Session, object_id: str, replace: Callable[[Json], Json]) -> None:
    """Replace the data of all requests for friendlies that name this account or bot."""
    event = NotificationType.FRIENDLY_REQUESTED
    named = cast(InboxEntry.payload, Text).contains(object_id)
    for entry in session.scalars(select(InboxEntry).where(InboxEntry.event == event, named)).all():
        entry.payload = replace(entry.payload)
    for delivery in session.scalars(select(Delivery).where(Delivery.event == event)).all():
        if object_id.encode() in delivery.body:
            message = orjson.loads(delivery.body)
            delivery.body = dumps({**message, "data": replace(message["data"])})
    session.flush()
