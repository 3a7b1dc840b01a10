"""Find the best recent rating of an owner's bots on a ladder, for tournaments of weak bots.

Somebody may lose on purpose to get a low rating, or enter another bot that has not shown yet what it can do. The best
rating of all bots of the owner hides neither.
"""

from datetime import timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.ladders.kinds import EntryKind
from referee.ladders.tables import LedgerEntry, RatingChange
from referee.ratings.elo import PROVISIONAL_GAMES

BEST_DAYS: Final = 90


def find_best_rating(session: Session, ladder_id: str, owner_id: str) -> int | None:
    """Return the best rating that any bot of the owner, even a retired one, had on the ladder in ``BEST_DAYS`` days.

    It is in micro-points. Provisional ratings are left out; None if there is no other.
    """
    since = current_time(session) - timedelta(days=BEST_DAYS)
    change = RatingChange
    query = select(func.max(change.after)).join(LedgerEntry, LedgerEntry.seq == change.seq)
    query = query.where(change.ladder_id == ladder_id, change.games >= PROVISIONAL_GAMES)
    query = query.where(change.bot_id.in_(select(Bot.id).where(Bot.owner_id == owner_id)))
    return session.scalar(query.where(LedgerEntry.created_at >= since, LedgerEntry.kind == EntryKind.RESULT))
