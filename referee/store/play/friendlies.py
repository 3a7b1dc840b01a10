"""Friendlies seen from the bots in them: their owners may end what they did not ask for."""

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.store import bots
from referee.store.ladders import voiding
from referee.store.schema import OPEN, Bot, Match, MatchSeat, friendly

PAUSED: Final = "bot_paused"  # the public reason


def owners_in(session: Session, match: Match) -> set[str]:
    """Return the accounts whose bots sit in this friendly; none where the match is no friendly."""
    if not match.is_friendly:
        return set()
    owners = select(Bot.owner_id).join(MatchSeat, MatchSeat.bot_id == Bot.id)
    return set(session.scalars(owners.where(MatchSeat.match_id == match.id)))


def pause_bot(session: Session, bot_id: str, reason: str, *, master_key: bytes) -> Bot:
    """Pause a bot and cancel its open friendlies. Its rated matches and those of tournaments are played.

    Raise what ``bots.pause`` raises.
    """
    # Matches before the bot: whoever ends a match locks them in this order.
    _cancel_open(session, bot_id, master_key)
    bot = bots.pause(session, bot_id, reason)
    _cancel_open(session, bot_id, master_key)  # what was arranged before the bot was locked
    return bot


def _cancel_open(session: Session, bot_id: str, master_key: bytes) -> None:
    seated = select(MatchSeat.match_id).where(MatchSeat.bot_id == bot_id)
    ids = session.scalars(select(Match.id).where(Match.id.in_(seated), friendly(), Match.status.in_(OPEN))).all()
    if ids:
        voiding.cancel_matches(session, ids, PAUSED, master_key=master_key)
