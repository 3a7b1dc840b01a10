"""Find bots whose rating changed since an entry of the ledger, with their current ranks."""

from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.bots.tables import Bot
from referee.db.lookup import load_by_id
from referee.ladders import ranks
from referee.ladders.ratings import RankedBot
from referee.ladders.tables import LedgerEntry, RatingChange

MAX_ENTRIES_READ: Final = 200


def list_moved_rows(session: Session, ladder_id: str, *, after: int, limit: int) -> list[RankedBot]:
    """Return up to ``limit`` rows of bots whose rating changed by entries above ``after``, latest change first.

    Consider only the last ``MAX_ENTRIES_READ`` entries.
    """
    recent_entries = select(LedgerEntry.seq).where(LedgerEntry.ladder_id == ladder_id, LedgerEntry.seq > after)
    recent_entries = recent_entries.order_by(LedgerEntry.seq.desc()).limit(MAX_ENTRIES_READ)
    latest = func.max(RatingChange.seq)
    query = select(RatingChange.bot_id).where(RatingChange.seq.in_(list(session.scalars(recent_entries))))
    query = query.group_by(RatingChange.bot_id).order_by(latest.desc(), RatingChange.bot_id).limit(limit)
    bot_ids = list(session.scalars(query))
    bots = {bot.id: bot for bot in session.scalars(select(Bot).where(Bot.id.in_(bot_ids)))}
    found = [(bots[bot_id], ranks.find_rank(session, ladder_id, bot_id)) for bot_id in bot_ids]
    owners = load_by_id(session, Account.id, Account.name, (bot.owner_id for bot in bots.values()))
    return [
        RankedBot(
            *(place.rank, bot.id, bot.name, bot.owner_id, owners[bot.owner_id], bot.status, place.value, place.games)
        )
        for bot, place in found
        if place is not None
    ]
