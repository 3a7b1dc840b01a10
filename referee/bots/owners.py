"""Find owners: the accounts that have registered a bot. Their names are public."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db.former_names import FormerName, list_former_names
from referee.errors import NotFound


@dataclass(frozen=True, slots=True)
class BotOwner:
    """Hold the public name of an owner and the number of their bots, without and with retired ones."""

    id: str
    name: str
    bots: int
    registered_bots: int
    deleted_at: datetime | None
    former_names: Sequence[FormerName]


def get_owner(session: Session, account_id: str) -> BotOwner:
    """Return the owner. Raise ``NotFound`` for an account that has never registered a bot, since it is not public."""
    counted = session.execute(
        select(Bot.status, func.count()).where(Bot.owner_id == account_id).group_by(Bot.status)
    ).all()
    account = session.get(Account, account_id)
    if not counted or account is None:
        raise NotFound("owner", account_id)
    return BotOwner(
        id=account_id,
        name=account.name,
        bots=sum(number for status, number in counted if status != BotState.RETIRED),
        registered_bots=sum(number for _, number in counted),
        deleted_at=account.deleted_at,
        former_names=list_former_names(session, account_id),
    )
