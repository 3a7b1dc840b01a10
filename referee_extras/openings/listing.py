"""List the openings of deals that ended without a deal, and the bots that ended them."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.db.paging import Cursor, Page, load_page
from referee.matches.deals.ended_openings import CURRENT, CURRENT_IS_REVEALED, OpeningFilter, conditions
from referee.matches.tables import DealGroup, FailedNonce, StoredMatch


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
    query = select(DealGroup).where(*conditions(wanted))
    page = load_page(session, query, DealGroup.created_at.desc(), DealGroup.id.desc(), limit=limit, cursor=cursor)
    current_ids = {group.superseded_by for group in page.items}
    revealed = set(session.scalars(select(CURRENT.id).where(CURRENT.id.in_(current_ids), CURRENT_IS_REVEALED)))
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
