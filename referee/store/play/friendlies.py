"""Let owners of bots cancel friendlies that they did not arrange."""

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.store import bots
from referee.store.ladders import voiding
from referee.store.schema import OPEN, Bot, Match, MatchSeat, friendly

PAUSED: Final = "bot_paused"  # the public reason


def owners_in(session: Session, match: Match) -> set[str]:
    """Return the accounts whose bots play in this friendly; none if the match is not a friendly."""
    if not match.is_friendly:
        return set()
    owners = select(Bot.owner_id).join(MatchSeat, MatchSeat.bot_id == Bot.id)
    return set(session.scalars(owners.where(MatchSeat.match_id == match.id)))


def pause_bot(session: Session, bot_id: str, reason: str, *, master_key: bytes) -> Bot:
    """Pause a bot and cancel its open friendlies. Its rated matches and tournament matches are still played.

    Raise the same errors as ``bots.pause``.
    """
    # Lock matches before the bot, in the same order as when a match ends.
    _cancel_open(session, bot_id, master_key)
    bot = bots.pause(session, bot_id, reason)
    _cancel_open(session, bot_id, master_key)  # those arranged before the bot was locked
    return bot


def _cancel_open(session: Session, bot_id: str, master_key: bytes) -> None:
    seated = select(MatchSeat.match_id).where(MatchSeat.bot_id == bot_id)
    ids = session.scalars(select(Match.id).where(Match.id.in_(seated), friendly(), Match.status.in_(OPEN))).all()
    if ids:
        voiding.cancel_matches(session, ids, PAUSED, master_key=master_key)
