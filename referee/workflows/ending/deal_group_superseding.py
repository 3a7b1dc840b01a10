"""Replace a deal group whose opening ended by a new one, with a new id, seed and commitment."""

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import and_, or_, select, update
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.matches.deals.deal_groups import LEASES, new_group_row
from referee.matches.deals.openings import FailedStep
from referee.matches.states import DealGroupState
from referee.matches.tables import DealGroup, FailedNonce, GroupToClose, StoredMatch
from referee.tournaments.tables import Tournament

SUPERSEDED: Final = DealGroup.superseded_by.is_not(None)  # condition of the partial index


def supersede_group(
    session: Session,
    group_id: str,
    epoch: int,
    nonces: Sequence[str],
    failures: Mapping[str, FailedStep],
    *,
    master_key: bytes,
) -> str:
    """Close a group whose opening ended, and give its matches a new one. Return the id of the new group.

    ``nonces`` are those received, in entry order; ``failures`` has the bots that ended the opening, by id. Raise
    ``StaleEpoch`` if the claim is no longer valid.
    """
    session.flush()
    # Cancelling and voiding also lock the tournament and then the matches before they use their group.
    of_group = select(DealGroup.tournament_id).where(DealGroup.id == group_id).scalar_subquery()
    session.execute(select(Tournament.id).where(Tournament.id == of_group).with_for_update())
    in_group = select(StoredMatch.id).where(StoredMatch.group_id == group_id).order_by(StoredMatch.id)
    matches = session.scalars(in_group.with_for_update()).all()
    group, moment = LEASES.lock(session, group_id, epoch), current_time(session)
    new = DealGroup(**new_group_row(group.entries, moment, master_key, group.tournament_id), kind=group.kind)
    new.opening_number, new.left_out = group.opening_number + 1, [*group.left_out, *failures]
    session.add(new)
    session.flush()
    group.state, group.nonces = DealGroupState.REVEALED, list(nonces)
    group.end_lease()
    for bot_id, failed in failures.items():
        evidence = {"detail": failed.detail, "request": failed.request, "reply": failed.reply}
        session.add(FailedNonce(group_id=group_id, bot_id=bot_id, code=failed.code, created_at=moment, **evidence))
    session.flush()
    # A bot that was deleted meanwhile has more to erase. The rows refer to it, so no deletion is under way now.
    erased = Bot.id.in_(list(failures)), Bot.erased_at.is_not(None)
    session.execute(update(Bot).where(*erased).values(erased_at=None))
    earlier = or_(DealGroup.id == group_id, and_(SUPERSEDED, DealGroup.superseded_by == group_id))
    session.execute(update(DealGroup).where(earlier).values(superseded_by=new.id))
    session.execute(update(StoredMatch).where(StoredMatch.id.in_(matches)).values(group_id=new.id))
    session.execute(update(GroupToClose).where(GroupToClose.group_id == group_id).values(group_id=new.id))
    return new.id
