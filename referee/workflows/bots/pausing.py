"""Pause a bot for its owner and cancel its friendlies in the same transaction; resume it."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.bots import bots
from referee.bots.tables import Bot
from referee.ladders import members
from referee.matches.states import OPEN
from referee.matches.tables import MatchSeat, StoredMatch, friendly
from referee.workflows.voids import voiding

CANCEL_REASON: Final = "bot_paused"  # the public reason


def pause_bot(session: Session, bot_id: str, reason: str, *, master_key: bytes) -> Bot:
    """Pause a bot and cancel its open friendlies. Its rated matches and tournament matches are still played.

    Raise the same errors as ``bots.pause``.
    """
    # Lock the matches, then the ledger, then the bot, in the same order as when a match ends. If another friendly was
    # arranged before the bot was locked, release all these locks and start again.
    while True:
        with session.begin_nested() as attempt:
            if ids := _open_friendlies(session, bot_id):
                voiding.cancel_matches(session, ids, CANCEL_REASON, master_key=master_key)
            bot = bots.pause(session, bot_id, reason)
            if not _open_friendlies(session, bot_id):
                return bot
            attempt.rollback()


def resume_bot(session: Session, bot_id: str) -> Bot:
    """End the pause of a bot, which is then due on its official ladders. Raise the same errors as ``bots.resume``."""
    bot = bots.resume(session, bot_id)
    members.refresh_memberships(session, bot)
    return bot


def _open_friendlies(session: Session, bot_id: str) -> Sequence[str]:
    seated = select(MatchSeat.match_id).where(MatchSeat.bot_id == bot_id)
    is_open = StoredMatch.id.in_(seated), friendly(), StoredMatch.status.in_(OPEN)
    return session.scalars(select(StoredMatch.id).where(*is_open)).all()
