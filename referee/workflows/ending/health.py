"""Pause bots that were unreachable at the end of three consecutive matches, and notify their owners."""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import bindparam, or_, select, update
from sqlalchemy.orm import Session

from referee.bots.bots import MAX_UNREACHABLE_STREAK
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db.prepared import Prepared
from referee.db.reporting import notify
from referee.events import BotUnhealthy
from referee.matches.tables import StoredMatch

PAUSE_REASON: Final = (
    f"the bot was unreachable at the end of {MAX_UNREACHABLE_STREAK} matches in a row: check its faults, then resume"
    " it; it plays again once it has passed a handshake"
)

_BOTS = Bot.__table__
_COLUMNS = _BOTS.c
_RESET: Final = Prepared(
    update(_BOTS).where(_COLUMNS.id == bindparam("of"), _COLUMNS.unreachable_streak > 0).values(unreachable_streak=0)
)


def reset_unreachable_streaks(session: Session, reached: Iterable[str]) -> None:
    """Set the unreachable streaks of these bots to 0."""
    # Sort by id to prevent deadlocks: the same bots may play in several matches that end at the same moment.
    _RESET.execute_each(session, [{"of": bot_id} for bot_id in sorted(set(reached))])


def update_unreachable_streaks(
    session: Session, match_id: str, *, unreachable: Iterable[str], seated: Iterable[str]
) -> list[str]:
    """Update the unreachable streaks of bots ``seated`` in a match, except house bots.

    Return the ids of paused bots.
    """
    missed = set(unreachable)
    touched = or_(_COLUMNS.id.in_(sorted(missed)), _COLUMNS.unreachable_streak > 0)
    locked = select(_COLUMNS.id).where(_COLUMNS.id.in_(sorted(missed.union(seated))), touched)
    # Lock in id order to prevent deadlocks: the same bots may play in several matches that end at the same moment.
    bots = session.scalars(locked.order_by(_COLUMNS.id).with_for_update(key_share=True)).all()
    if reached := set(bots) - missed:
        session.connection().execute(update(_BOTS).where(_COLUMNS.id.in_(sorted(reached))).values(unreachable_streak=0))
    if not missed:
        return []
    counted = update(_BOTS).where(_COLUMNS.id.in_(sorted(missed)), _COLUMNS.status != BotState.HOUSE)
    session.connection().execute(counted.values(unreachable_streak=_COLUMNS.unreachable_streak + 1))
    many = _COLUMNS.unreachable_streak >= MAX_UNREACHABLE_STREAK, _COLUMNS.status == BotState.VERIFIED
    too_long = update(_BOTS).where(_COLUMNS.id.in_(sorted(missed)), *many)
    too_long = too_long.values(status=BotState.PAUSED, status_reason=PAUSE_REASON, revision=_COLUMNS.revision + 1)
    named = too_long.returning(_COLUMNS.id, _COLUMNS.name, _COLUMNS.owner_id)
    paused = session.connection().execute(named).all()
    of_match = select(StoredMatch.tournament_id).where(StoredMatch.id == match_id)
    tournament_id = session.scalar(of_match) if paused else None
    for bot in paused:
        about = {"bot": bot.id, "name": bot.name, "tournament": tournament_id, "reason": PAUSE_REASON}
        notify(session, BotUnhealthy(accounts=[bot.owner_id], **about))
    return [bot.id for bot in paused]
