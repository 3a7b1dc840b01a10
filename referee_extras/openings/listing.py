"""List the openings of deals that ended without a deal, and the bots that ended them."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.db.paging import Cursor, Page, load_page
from referee.match.canonical import Json
from referee.matches.deals import deal_groups
from referee.matches.deals.ended_openings import CURRENT, CURRENT_IS_REVEALED, OpeningFilter, conditions
from referee.matches.tables import DealGroup, FailedNonce, StoredMatch


def list_ended_openings(
    session: Session, wanted: OpeningFilter, master_key: bytes, *, limit: int, cursor: Cursor | None
) -> Page[Json]:
    """Return a page of ended openings in the format of the API, newest first, with the bots that ended them.

    Their ids are None while they are hidden. Raise ``BadOption`` for an invalid limit or cursor.
    """
    query = select(DealGroup).where(*conditions(wanted))
    page = load_page(session, query, DealGroup.created_at.desc(), DealGroup.id.desc(), limit=limit, cursor=cursor)
    current_ids = {group.superseded_by for group in page.items}
    revealed = set(session.scalars(select(CURRENT.id).where(CURRENT.id.in_(current_ids), CURRENT_IS_REVEALED)))
    matches: dict[str, list[str]] = {str(current_id): [] for current_id in current_ids}
    found = select(StoredMatch.group_id, StoredMatch.id).where(StoredMatch.group_id.in_(matches))
    for group_id, match_id in session.execute(found.order_by(StoredMatch.id)):
        matches[group_id].append(match_id)
    failures: dict[str, list[Json]] = {group.id: [] for group in page.items}
    failed = select(FailedNonce.group_id, FailedNonce.bot_id, FailedNonce.code)
    names = {group.id: group.superseded_by in revealed for group in page.items}
    for group_id, bot_id, code in session.execute(
        failed.where(FailedNonce.group_id.in_(failures)).order_by(FailedNonce.id)
    ):
        failures[group_id].append({"bot": bot_id if names[group_id] else None, "code": code})
    items = [
        {
            "id": group.id,
            "commitment": group.commitment,
            "seed": deal_groups.unseal_seed_of_group(group, master_key).hex(),
            "failures": failures[group.id],
            "matches": matches[str(group.superseded_by)],
            "tournament": group.tournament_id,
            "created_at": group.created_at,
        }
        for group in page.items
    ]
    return Page(items, page.next)


def list_failed_nonces(session: Session, bot_id: str, *, limit: int, cursor: Cursor | None) -> Page[FailedNonce]:
    """Return a page of the failures by which a bot ended openings, newest first, with the evidence for its owner.

    Raise ``BadOption`` for an invalid limit or cursor.
    """
    query = select(FailedNonce).where(FailedNonce.bot_id == bot_id)
    return load_page(session, query, FailedNonce.id.desc(), limit=limit, cursor=cursor)
