"""Replace names of what is deleted where they were copied for others: in messages, and in acts."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import orjson
from sqlalchemy import Text, and_, cast, or_, select, update
from sqlalchemy.orm import Session

from referee import plugs
from referee.accounts.act_kinds import ActKind
from referee.accounts.oversight_tables import Act
from referee.accounts.reserved_names import neutral_name
from referee.match.canonical import Json, dumps
from referee.tournaments.tables import Tournament
from referee.webhooks.states import NotificationType
from referee.webhooks.tables import Delivery, InboxEntry

WITH_SENDER: Final = (  # messages that name the account that caused them
    NotificationType.FRIENDLY_REQUESTED,
    NotificationType.INVITATION_RECEIVED,
    NotificationType.TOURNAMENT_ENTERED,
)
ABOUT_TOURNAMENTS: Final = tuple(
    event for event in NotificationType if event.startswith(("tournament.", "invitation."))
)
NAMING: Final = (ActKind.TOURNAMENT_DRAFTED, ActKind.TOURNAMENT_DELETED)  # their details have a name that was given
NAMES: Final = ("name", "name_before", "name_after")  # in the details of acts

_READ_AT_ONCE: Final = 100  # deliveries, so that their number does not decide how much memory is used


def replace_bot_name(session: Session, bot_id: str, name: str, *, kept: Sequence[str]) -> None:
    """Replace the names of a bot, apart from those in ``kept``, by ``name``."""

    def replace(data: Json) -> Json:
        pairs = zip(data["bots"], data["names"], strict=True)
        names = [name if bot == bot_id and old not in kept else old for bot, old in pairs]
        return {**data, "names": names}

    def replace_in_seats(data: Json) -> Json:
        return {**data, "seats": [replace_in_seat(seat) for seat in data["seats"]]}

    def replace_in_seat(seat: Json) -> Json:
        is_named = seat["bot"] == bot_id and "name" in seat  # earlier messages have no names
        return {**seat, "name": name} if is_named and seat["name"] not in kept else seat

    _replace_in_messages(session, [NotificationType.FRIENDLY_REQUESTED], bot_id, replace)
    _replace_in_messages(session, [NotificationType.MATCH_FINISHED], bot_id, replace_in_seats)
    for act in session.scalars(select(Act).where(Act.object_id == bot_id, Act.kind == ActKind.BOT_RENAMED)).all():
        details = {key: name if key in NAMES and old not in kept else old for key, old in act.details.items()}
        _set_act(session, act, details=details, reason=act.reason)


def replace_account_name(session: Session, account_id: str, name: str) -> None:
    """Replace the name of an account by ``name``, and remove the reasons of what operators did to the account.

    Also replace the names of what the account invited others to if it is deleted, and remove those in its acts.
    """

    def replace(data: Json) -> Json:
        if data.get("from") != account_id:
            return data
        return {**data, "from_name": name, **_name_if_deleted(session, data)}

    _replace_in_messages(session, WITH_SENDER, account_id, replace)
    session.execute(update(Act).where(Act.account_id == account_id).values(account_name=name))
    naming = [*NAMING, *(kind for extra in plugs.extras() for kind in extra.naming_act_kinds)]
    named = or_(Act.object_id == account_id, and_(Act.account_id == account_id, Act.kind.in_(naming)))
    for act in session.scalars(select(Act).where(named)).all():
        details = {key: value for key, value in act.details.items() if key not in NAMES}
        _set_act(session, act, details=details, reason=None)


def replace_tournament_name(session: Session, tournament_id: str, name: str) -> None:
    """Replace the name of a tournament in messages by ``name``."""

    def replace(data: Json) -> Json:
        return {**data, "name": name} if data.get("tournament") == tournament_id else data

    _replace_in_messages(session, ABOUT_TOURNAMENTS, tournament_id, replace)


def _name_if_deleted(session: Session, data: Json) -> Json:
    """Return the neutral name of what accounts run together in a message as ``name``, or {} if it still exists."""
    tables = {"tournament": Tournament} | {each.kind: plugs.load(each.table) for each in plugs.list_organised()}
    for place, table in tables.items():
        if (object_id := data.get(place)) is not None and session.get(table, object_id) is None:
            return {"name": neutral_name(f"deleted {place}", object_id)}
    return {}


def _set_act(session: Session, act: Act, **values: Any) -> None:
    session.execute(update(Act).where(Act.id == act.id).values(**values))


def _replace_in_messages(
    session: Session, events: Sequence[NotificationType], object_id: str, replace: Callable[[Json], Json]
) -> None:
    """Replace the data of all messages of these types that name this account or bot."""
    named = cast(InboxEntry.payload, Text).contains(object_id)
    for entry in session.scalars(select(InboxEntry).where(InboxEntry.event.in_(events), named)).all():
        entry.payload = replace(entry.payload)
    bodies = select(Delivery.id, Delivery.body).where(Delivery.event.in_(events))
    for delivery_id, body in session.execute(bodies, execution_options={"yield_per": _READ_AT_ONCE}):
        if object_id.encode() in body:
            message = orjson.loads(body)
            replaced = dumps({**message, "data": replace(message["data"])})
            session.execute(update(Delivery).where(Delivery.id == delivery_id).values(body=replaced))
    session.flush()
