"""List and count the openings of deals that ended without a deal, and the bots that ended them.

Who ended an opening is public when the matches concerned are over, because it tells who plays in them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from referee.db.paging import Cursor, Page, load_page
from referee.matches.tables import DealGroup, FailedNonce, Result, StoredMatch
from referee.matches.usual_states import is_revealed

_Current = aliased(DealGroup)  # the group that has the matches now
_CURRENT_IS_REVEALED: Final = is_revealed(_Current)
_IS_REVEALED: Final = exists().where(_Current.id == DealGroup.superseded_by, _CURRENT_IS_REVEALED)


@dataclass(frozen=True, slots=True)
class OpeningFilter:
    """Select the ended openings that pass all filters that are given. Those of a bot are public when they are over."""

    bot_id: str | None = None
    tournament_id: str | None = None
    ladder_id: str | None = None


@dataclass(frozen=True, slots=True)
class ListedOpening:
    """Hold an ended opening: its closed ``group``, the bots that ended it, and the matches that it was for.

    ``failures`` has an ``OpeningFailure`` for each of these bots, by bot id; the ids are None while they are hidden.
    """

    group: DealGroup
    failures: Sequence[tuple[str | None, str]]
    match_ids: Sequence[str]


def list_ended_openings(
    session: Session, wanted: OpeningFilter, *, limit: int, cursor: Cursor | None
) -> Page[ListedOpening]:
    """Return a page of ended openings, newest first. Raise ``BadOption`` for an invalid limit or cursor."""
    query = select(DealGroup).where(*_conditions(wanted))
    page = load_page(session, query, DealGroup.created_at.desc(), DealGroup.id.desc(), limit=limit, cursor=cursor)
    current_ids = {group.superseded_by for group in page.items}
    revealed = set(session.scalars(select(_Current.id).where(_Current.id.in_(current_ids), _CURRENT_IS_REVEALED)))
    matches: dict[str, list[str]] = {str(current_id): [] for current_id in current_ids}
    found = select(StoredMatch.group_id, StoredMatch.id).where(StoredMatch.group_id.in_(matches))
    for group_id, match_id in session.execute(found.order_by(StoredMatch.id)):
        matches[group_id].append(match_id)
    failures: dict[str, list[tuple[str | None, str]]] = {group.id: [] for group in page.items}
    failed = select(FailedNonce.group_id, FailedNonce.bot_id, FailedNonce.code)
    names = {group.id: group.superseded_by in revealed for group in page.items}
    for group_id, bot_id, code in session.execute(
        failed.where(FailedNonce.group_id.in_(failures)).order_by(FailedNonce.id)
    ):
        failures[group_id].append((bot_id if names[group_id] else None, code))
    items = [ListedOpening(group, failures[group.id], matches[str(group.superseded_by)]) for group in page.items]
    return Page(items, page.next)


def list_failed_nonces(session: Session, bot_id: str, *, limit: int, cursor: Cursor | None) -> Page[FailedNonce]:
    """Return a page of the failures by which a bot ended openings, newest first, with the evidence for its owner.

    Raise ``BadOption`` for an invalid limit or cursor.
    """
    query = select(FailedNonce).where(FailedNonce.bot_id == bot_id)
    return load_page(session, query, FailedNonce.id.desc(), limit=limit, cursor=cursor)


def count_ended_openings(session: Session, wanted: OpeningFilter) -> int:
    """Return the number of ended openings that pass the filter."""
    return session.scalars(select(func.count()).select_from(DealGroup).where(*_conditions(wanted))).one()


def _conditions(wanted: OpeningFilter) -> list[ColumnElement[bool]]:
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
    return found
