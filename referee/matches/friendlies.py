"""Find the owners of the bots in a friendly. They may cancel it even if they did not arrange it."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.matches.tables import MatchSeat, StoredMatch


def owners_of_friendly(session: Session, match: StoredMatch) -> set[str]:
    """Return the ids of the accounts whose bots play in this friendly, or an empty set if it is not a friendly."""
    if not match.is_friendly:
        return set()
    owners = select(Bot.owner_id).join(MatchSeat, MatchSeat.bot_id == Bot.id)
    return set(session.scalars(owners.where(MatchSeat.match_id == match.id)))
