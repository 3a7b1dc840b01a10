"""Find owners: the accounts that have registered a bot. Their names are public."""

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.errors import NotFound


@dataclass(frozen=True, slots=True)
class BotOwner:
    """Hold the public name of an owner and the number of their bots, without and with retired ones."""

    id: str
    name: str
    bots: int
    registered_bots: int


def get_owner(session: Session, account_id: str) -> BotOwner:
    """Return the owner. Raise ``NotFound`` for an account that has never registered a bot, since it is not public."""
    query = select(Account.name, Bot.status, func.count()).join(Bot, Bot.owner_id == Account.id)
    counted = session.execute(query.where(Account.id == account_id).group_by(Account.name, Bot.status)).all()
    if not counted:
        raise NotFound("owner", account_id)
    present = sum(number for _, status, number in counted if status != BotState.RETIRED)
    return BotOwner(account_id, counted[0][0], present, sum(number for _, _, number in counted))
