"""Record and list the voids of matches that had ended, and the proposals of such voids.

This module only keeps the public record. ``workflows.voids.voiding`` voids matches, and
``workflows.voids.void_proposals`` decides who may do so alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, exists, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from referee.db.engine import current_time
from referee.db.ids import new_id
from referee.db.paging import Cursor, Page, load_page
from referee.errors import Conflict, NotFound
from referee.matches.states import MatchState, VoidState
from referee.matches.tables import MatchVoid, Result, StoredMatch


@dataclass(frozen=True, slots=True)
class VoidFilter:
    """Select the voids and proposals that pass all filters that are given."""

    match_id: str | None = None  # of this match, or of the whole deal group of this match
    tournament_id: str | None = None
    state: VoidState | None = None


@dataclass(frozen=True, slots=True)
class VoidRequest:
    """Hold what somebody wants to void, and why. ``rematch`` is None if the format is to decide."""

    match_id: str
    reason: str
    whole_group: bool = False
    rematch: bool | None = None


def record_void(session: Session, wanted: VoidRequest, state: VoidState, *, account_id: str | None) -> MatchVoid:
    """Record a proposal, or a void that took effect immediately; the service acts where ``account_id`` is None."""
    moment = current_time(session)
    is_proposal = state == VoidState.PROPOSED
    row = MatchVoid(
        id=new_id("match void"),
        match_id=wanted.match_id,
        tournament_id=session.get_one(StoredMatch, wanted.match_id).tournament_id,
        whole_group=wanted.whole_group,
        rematch=wanted.rematch,
        reason=wanted.reason,
        state=state,
        proposed_by=account_id,
        created_at=moment,
        decided_by=None if is_proposal else account_id,
        decided_at=None if is_proposal else moment,
    )
    session.add(row)
    session.flush()
    return row


def decide(session: Session, void_id: str, state: VoidState, account_id: str) -> MatchVoid:
    """Close a proposal with this state. Raise ``Conflict`` if it is not open any more."""
    decided = (
        update(MatchVoid)
        .where(MatchVoid.id == void_id, MatchVoid.state == VoidState.PROPOSED)
        .values(state=state, decided_by=account_id, decided_at=current_time(session))
    )
    changed = session.execute(decided.returning(MatchVoid.id)).all()
    row = session.get_one(MatchVoid, void_id, populate_existing=True)
    if not changed:
        raise Conflict(f"The proposal is {row.state} already.")
    return row


def supersede(session: Session, match_ids: Sequence[str]) -> None:
    """Close the open proposals to void these matches, which were voided in another way."""
    still_open = MatchVoid.match_id.in_(match_ids), MatchVoid.state == VoidState.PROPOSED
    session.execute(
        update(MatchVoid).where(*still_open).values(state=VoidState.SUPERSEDED, decided_at=current_time(session))
    )


def get_void(session: Session, void_id: str) -> MatchVoid:
    """Return a void or a proposal. Raise ``NotFound`` if there is none."""
    row = session.get(MatchVoid, void_id)
    if row is None:
        raise NotFound("match void", void_id)
    return row


def find_proposal(session: Session, match_id: str) -> MatchVoid | None:
    """Return the open proposal to void this match, or None."""
    query = select(MatchVoid).where(MatchVoid.match_id == match_id, MatchVoid.state == VoidState.PROPOSED)
    return session.scalar(query)


def list_voids(session: Session, wanted: VoidFilter, *, limit: int, cursor: Cursor | None) -> Page[MatchVoid]:
    """Return a page of voids and proposals, newest first. Raise ``BadOption`` for an invalid limit or cursor."""
    query = select(MatchVoid).where(*_conditions(wanted))
    return load_page(session, query, MatchVoid.created_at.desc(), MatchVoid.id.desc(), limit=limit, cursor=cursor)


def count_voids(session: Session, wanted: VoidFilter) -> int:
    """Return the number of voids and proposals that pass the filter."""
    return session.scalars(select(func.count()).select_from(MatchVoid).where(*_conditions(wanted))).one()


def count_voided_matches(session: Session, tournament_id: str) -> int:
    """Return the number of matches of a tournament that were played to their end and voided afterwards."""
    query = select(func.count()).select_from(StoredMatch).join(Result, Result.match_id == StoredMatch.id)
    is_void = StoredMatch.tournament_id == tournament_id, StoredMatch.status == MatchState.VOID
    return session.scalars(query.where(*is_void)).one()


def _conditions(wanted: VoidFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.match_id is not None:
        asked, proposed = aliased(StoredMatch), aliased(StoredMatch)
        same_group = (
            exists()
            .where(asked.id == wanted.match_id, proposed.group_id == asked.group_id)
            .where(proposed.id == MatchVoid.match_id)
        )
        found.append(or_(MatchVoid.match_id == wanted.match_id, and_(MatchVoid.whole_group, same_group)))
    if wanted.tournament_id is not None:
        found.append(MatchVoid.tournament_id == wanted.tournament_id)
    elif wanted.match_id is None:
        found.append(~exists().where(StoredMatch.id == MatchVoid.match_id, ~StoredMatch.listed))
    if wanted.state is not None:
        found.append(MatchVoid.state == wanted.state)
    return found
