"""Count the openings of deals that ended without a deal.

Who ended an opening is public when the matches concerned are over, because it tells who plays in them.
"""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from referee.matches.tables import DealGroup, FailedNonce, Result, StoredMatch
from referee.matches.usual_states import is_revealed

_CURRENT: Final = aliased(DealGroup)  # the group that has the matches now
_IS_REVEALED: Final = exists().where(_CURRENT.id == DealGroup.superseded_by, is_revealed(_CURRENT))


@dataclass(frozen=True, slots=True)
class OpeningFilter:
    """Select the ended openings that pass all filters that are given. Those of a bot are public when they are over."""

    bot_id: str | None = None
    tournament_id: str | None = None
    ladder_id: str | None = None


def count_ended_openings(session: Session, wanted: OpeningFilter) -> int:
    """Return the number of ended openings that pass the filter."""
    found: list[ColumnElement[bool]] = [DealGroup.superseded_by.is_not(None)]  # the condition of the partial index
    if wanted.bot_id is not None:
        failed = exists().where(FailedNonce.group_id == DealGroup.id, FailedNonce.bot_id == wanted.bot_id)
        found += [failed, _IS_REVEALED]
    if wanted.tournament_id is not None:
        found.append(DealGroup.tournament_id == wanted.tournament_id)
    elif wanted.ladder_id is None:
        found.append(~exists().where(StoredMatch.group_id == DealGroup.superseded_by, ~StoredMatch.listed))
    if wanted.ladder_id is not None:
        rated = exists().where(Result.match_id == StoredMatch.id, Result.ladder_id == wanted.ladder_id)
        on_ladder = or_(StoredMatch.ladder_id == wanted.ladder_id, rated)
        found.append(exists().where(StoredMatch.group_id == DealGroup.superseded_by, on_ladder))
    return session.scalars(select(func.count()).select_from(DealGroup).where(*found)).one()
