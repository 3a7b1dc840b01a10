"""How much one account has going on; what it may have is decided where it asks for more."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.store.schema import OPEN, Account, Match


def open_matches(session: Session, account_id: str) -> int:
    """Matches it arranged by itself that are not over; until the transaction ends nobody else counts them."""
    session.execute(select(Account.id).where(Account.id == account_id).with_for_update())
    arranged = select(func.count()).where(
        Match.created_by == account_id,
        Match.tournament_id.is_(None),
        Match.status.in_(OPEN),
    )
    return session.scalars(arranged).one()
