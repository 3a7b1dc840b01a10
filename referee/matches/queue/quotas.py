"""Limit how many open friendlies one account has, and how much time they grant.

``shares`` limits how many are in progress.
"""

from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.errors import QuotaExceeded
from referee.match.time_limits import Limits
from referee.matches.states import OPEN
from referee.matches.tables import StoredMatch, friendly

MAX_OPEN_FRIENDLIES: Final = 10
MAX_TIME: Final = Limits(budget_ms=5_000, bank_ms=60_000)


def check_friendlies(session: Session, account_id: str) -> None:
    """Raise ``QuotaExceeded`` if the account has reached its limit of open friendlies.

    Lock the account until the transaction ends, so that concurrent requests are counted one by one.
    """
    accounts.lock_present(session, account_id)
    is_counted = StoredMatch.created_by == account_id, friendly(), StoredMatch.status.in_(OPEN)
    arranged = select(func.count()).where(*is_counted)
    count = session.scalars(arranged).one()
    if count >= MAX_OPEN_FRIENDLIES:
        raise QuotaExceeded(
            f"You have {count} open friendlies; the limit is {MAX_OPEN_FRIENDLIES}. Wait until one is over, or "
            "cancel one with POST /api/v1/matches/ID/cancel."
        )
