"""Find friendlies that have lasted too long, and whether matches wait for slots; end a friendly for them."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.bots import bots
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.reporting import notify
from referee.events import FriendlyCancelled
from referee.matches.queue import friendly_time
from referee.matches.queue.queue_progress import load_progress
from referee.matches.queue.shares import Pool, slot_shares
from referee.matches.states import MatchState
from referee.matches.tables import MatchSeat, StoredMatch, friendly
from referee.workflows.voids import voiding


class LongFriendly(NamedTuple):
    """Hold for how long a friendly was played, as far as it was watched, and how long it may last while others wait."""

    match_id: str
    played_s: float
    longest_s: float


def list_long_friendlies(session: Session, watched_since: datetime) -> list[LongFriendly]:
    """Return the friendlies in progress that began more than 15 minutes ago, oldest first.

    Time before ``watched_since`` does not count: perhaps nobody played then.
    """
    moment = current_time(session)
    old = StoredMatch.started_at < moment - timedelta(seconds=friendly_time.LEAST_S)
    query = select(StoredMatch).where(StoredMatch.status == MatchState.RUNNING, friendly(), old)
    return [
        LongFriendly(
            match.id,
            _seconds(match.started_at, watched_since, moment),
            friendly_time.longest_s(match.game, match.seats, match.budget_ms),
        )
        for match in session.scalars(query.order_by(StoredMatch.started_at, StoredMatch.id))
    ]


def is_slot_wanted(session: Session, *, workers: int, slots: int) -> bool:
    """Return whether a match may wait for a slot: its bots are free, but no worker surely has a slot for it.

    ``slots`` is the number of slots of each worker. A friendly that waits because its own account plays as many as it
    may does not count.
    """
    progress = load_progress(session, Pool(slots, slot_shares))
    return progress.claimable is not None and not progress.has_slot(runners=workers, size=slots)


def end_friendly(session: Session, match_id: str, *, master_key: bytes) -> bool:
    """Cancel a friendly that has lasted too long, and notify the owners of its bots and the account that arranged it.

    Nobody is charged, and the log is kept as far as it got. Return False if it is over already.
    """
    if not voiding.cancel_matches(session, [match_id], friendly_time.TOO_LONG, master_key=master_key).cancelled:
        return False
    match = session.get_one(StoredMatch, match_id)
    seated = select(MatchSeat.bot_id).where(MatchSeat.match_id == match_id).order_by(MatchSeat.seat)
    bot_ids = list(session.scalars(seated))
    recipients = set(session.scalars(select(Bot.owner_id).where(Bot.id.in_(bot_ids))))
    if match.created_by is not None:
        recipients.add(match.created_by)
    names = bots.names_of(session, bot_ids)
    about: dict[str, Any] = {"match": match_id, "game": match.game, "bots": bot_ids, "reason": match.reason}
    called = [names[bot_id] for bot_id in bot_ids]
    notify(session, FriendlyCancelled(accounts=recipients, **about, names=called))
    return True


def _seconds(started_at: datetime | None, watched_since: datetime, moment: datetime) -> float:
    assert started_at is not None
    return (moment - max(started_at, watched_since)).total_seconds()
