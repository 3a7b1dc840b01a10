"""Decide who voids matches that have ended: a second account confirms what the first one proposes.

A result that counts on a ladder or in a tournament is voided by the operator alone, or by an organiser's proposal that
an operator confirms. Nobody decides about a match in which they own a bot. ``voiding`` does the voiding itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from referee.accounts.roles import Role
from referee.accounts.tables import Account
from referee.bots.tables import Bot
from referee.errors import Conflict, Forbidden
from referee.matches import voids
from referee.matches.states import VoidState
from referee.matches.tables import MatchSeat, MatchVoid, StoredMatch
from referee.matches.voids import VoidRequest
from referee.workflows.voids import rematches, voiding
from referee.workflows.voids.voiding import VoidReport


@dataclass(frozen=True, slots=True)
class VoidOutcome:
    """Hold what was voided, and the proposal if nothing was voided yet."""

    report: VoidReport
    proposal: MatchVoid | None


def void_or_propose(session: Session, account: Account, wanted: VoidRequest, *, master_key: bytes) -> VoidOutcome:
    """Void a match if the account may do so alone; otherwise propose it. The caller checks that it may ask at all.

    A match that is stuck, or whose result counts nowhere, is voided immediately. Raise ``Conflict`` as ``void_match``
    does, and for a match that somebody has proposed to void already.
    """
    tournament, matches, _ = voiding.lock_matches_to_void(session, wanted)
    counted = any(voiding.counts_somewhere(match) for match in matches)
    if not counted or may_decide(session, account, matches):
        return VoidOutcome(voiding.void_match(session, wanted, created_by=account.id, master_key=master_key), None)
    if proposed := voids.find_proposal(session, wanted.match_id):
        raise Conflict(f"The void of this match is proposed already ({proposed.id}) and waits for its confirmation.")
    obstacle = rematches.find_obstacle(session, tournament, matches)
    if wanted.rematch and obstacle:
        raise Conflict(obstacle)
    return VoidOutcome(VoidReport(), voids.record_void(session, wanted, VoidState.PROPOSED, account_id=account.id))


def confirm(session: Session, account: Account, void_id: str, *, master_key: bytes) -> VoidReport:
    """Void the matches of a proposal.

    Raise ``NotFound``, ``Forbidden`` for an account that may not decide about it, and ``Conflict`` if the proposal is
    not open any more or the match can no longer be voided as proposed.
    """
    row = _lock_to_decide(session, account, void_id)
    if row.proposed_by == account.id:
        raise Forbidden("A void must be confirmed by an account other than the one that proposed it.")
    voids.decide(session, void_id, VoidState.CONFIRMED, account.id)
    wanted = VoidRequest(row.match_id, row.reason, row.whole_group, row.rematch)
    return voiding.void_match(session, wanted, created_by=account.id, master_key=master_key, recorded=True)


def decline(session: Session, account: Account, void_id: str) -> MatchVoid:
    """Decline a proposal. Raise ``NotFound``, ``Forbidden`` and ``Conflict`` as ``confirm`` does."""
    row = _lock_to_decide(session, account, void_id)
    if row.proposed_by == account.id:
        raise Forbidden("You proposed this void yourself. Withdraw it instead.")
    return voids.decide(session, void_id, VoidState.DECLINED, account.id)


def withdraw(session: Session, account: Account, void_id: str) -> MatchVoid:
    """Withdraw one's own proposal.

    Raise ``NotFound``, ``Forbidden`` for an account that did not propose it, ``Conflict`` if it is not open any more.
    """
    row = voids.get_void(session, void_id)
    if row.proposed_by != account.id:
        raise Forbidden("Only the account that proposed a void can withdraw it.")
    _lock_matches(session, row)
    return voids.decide(session, void_id, VoidState.WITHDRAWN, account.id)


def may_decide(session: Session, account: Account, matches: Sequence[StoredMatch]) -> bool:
    """Return whether the account is an operator's and owns no bot that plays, or is replaced, in the matches."""
    return account.role == Role.ADMIN and not _owns_bot(session, account, matches)


def may_void_group(session: Session, account: Account, group_id: str) -> bool:
    """Return whether the account may decide about all matches of a deal group."""
    matches = session.scalars(select(StoredMatch).where(StoredMatch.group_id == group_id)).all()
    return may_decide(session, account, matches)


def _lock_to_decide(session: Session, account: Account, void_id: str) -> MatchVoid:
    row = voids.get_void(session, void_id)
    if account.role != Role.ADMIN:
        raise Forbidden("Only an operator can confirm or decline a void.")
    if _owns_bot(session, account, _lock_matches(session, row)):
        raise Forbidden("You own a bot in this match. An operator without a bot in it has to decide.")
    return row


def _lock_matches(session: Session, row: MatchVoid) -> Sequence[StoredMatch]:
    """Lock what the proposal concerns, whatever its state has become, in the order of ``lock_matches_to_void``."""
    group_id = session.scalars(select(StoredMatch.group_id).where(StoredMatch.id == row.match_id)).one()
    return voiding.lock_group(session, group_id, None if row.whole_group else row.match_id)


def _owns_bot(session: Session, account: Account, matches: Sequence[StoredMatch]) -> bool:
    seated = or_(Bot.id == MatchSeat.bot_id, Bot.id == MatchSeat.entrant_id)
    query = select(func.count()).select_from(MatchSeat).join(Bot, seated)
    ids = [match.id for match in matches]
    return session.scalars(query.where(MatchSeat.match_id.in_(ids), Bot.owner_id == account.id)).one() > 0
