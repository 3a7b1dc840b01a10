"""Create, list and decide requests for friendlies. A request that all its owners have accepted becomes a match."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, delete, exists, func, or_, select
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.accounts.tables import Account
from referee.bots import bots
from referee.bots.tables import Bot
from referee.db.engine import count_changed_rows, current_time
from referee.db.ids import new_id
from referee.db.paging import Cursor, Page, load_page
from referee.db.reporting import notify
from referee.errors import Conflict, NotFound, QuotaExceeded
from referee.events import FriendlyDecided, FriendlyRequested
from referee.friendlies import rules
from referee.friendlies.states import RequestState
from referee.friendlies.tables import FriendlyRequest, RequestedOwner
from referee.match.time_limits import Limits
from referee.matches import matches
from referee.matches.queue import quotas
from referee.matches.scheduling import MatchPlan

LIFETIME: Final = timedelta(days=7)
RETENTION: Final = timedelta(days=30)  # of requests, counted from their creation
MAX_SENT: Final = 20  # pending requests of one account
MAX_RECEIVED: Final = 100  # pending requests about which one owner has to decide
_BATCH: Final = 500


def create_request(session: Session, plan: MatchPlan, account_id: str) -> FriendlyRequest:
    """Ask the owners of the bots in ``plan`` for a friendly.

    Raise ``Forbidden`` or ``Conflict`` if a bot cannot be requested or nobody has to be asked, and ``QuotaExceeded``
    above the limits of pending requests.
    """
    owners = rules.owners_to_ask(session, account_id, _load_bots(session, plan.bots))
    if not owners:
        raise Conflict("Nobody has to be asked for this friendly. Send it to POST /api/v1/matches.")
    _check_quotas(session, account_id, owners)
    moment = current_time(session)
    request = FriendlyRequest(
        id=new_id("friendly request"),
        created_by=account_id,
        game=plan.game,
        bots=list(plan.bots),
        options=dict(plan.options),
        budget_ms=plan.limits.budget_ms,
        bank_ms=plan.limits.bank_ms,
        state=RequestState.PENDING,
        created_at=moment,
        expires_at=moment + LIFETIME,
    )
    session.add(request)
    session.flush()
    session.add_all(RequestedOwner(request_id=request.id, owner_id=owner_id) for owner_id in sorted(owners))
    session.flush()
    names = bots.names_of(session, plan.bots)
    challenger = session.get_one(Account, account_id)
    by = {"by": challenger.id, "by_name": challenger.name}
    about: dict[str, Any] = {"request": request.id, "game": request.game, "bots": request.bots}
    called = [names[bot_id] for bot_id in request.bots]
    notify(session, FriendlyRequested(accounts=owners, **about, names=called, **by))
    return request


def get_request(session: Session, request_id: str, account_id: str) -> FriendlyRequest:
    """Return a request. Raise ``NotFound`` unless the account created it or decides about it."""
    request = session.get(FriendlyRequest, request_id)
    if request is None or not (request.created_by == account_id or account_id in owners_of(session, request_id)):
        raise NotFound("friendly request", request_id)
    return request


def owners_of(session: Session, request_id: str) -> dict[str, datetime | None]:
    """Return when each owner who decides about the request accepted it, keyed by account id; None before that."""
    query = select(RequestedOwner.owner_id, RequestedOwner.accepted_at)
    rows = session.execute(query.where(RequestedOwner.request_id == request_id).order_by(RequestedOwner.owner_id))
    return {row.owner_id: row.accepted_at for row in rows}


def state_of(request: FriendlyRequest, moment: datetime) -> RequestState:
    """Return the state of a request at this time."""
    is_late = request.state == RequestState.PENDING and request.expires_at <= moment
    return RequestState.EXPIRED if is_late else request.state


def list_requests(
    session: Session, account_id: str, *, pending: bool | None = None, limit: int = 50, cursor: Cursor | None = None
) -> Page[FriendlyRequest]:
    """Return a page of the requests that the account created or decides about, newest first."""
    query = select(FriendlyRequest).where(or_(FriendlyRequest.created_by == account_id, _is_decided_by(account_id)))
    if pending is not None:
        is_pending = _is_pending(current_time(session))
        query = query.where(is_pending if pending else ~is_pending)
    return load_page(
        session, query, FriendlyRequest.created_at.desc(), FriendlyRequest.id.desc(), limit=limit, cursor=cursor
    )


def accept(session: Session, request_id: str, account_id: str, *, master_key: bytes) -> FriendlyRequest:
    """Accept a request for the bots of this account, and create the match if it was the last one to accept.

    Raise ``NotFound`` unless the account decides about it, ``Conflict`` if it is not pending, and the errors of
    creating the friendly; then the request stays pending.
    """
    request = _lock_pending(session, request_id, account_id)
    owner = session.get_one(RequestedOwner, (request_id, account_id))
    owner.accepted_at = owner.accepted_at or current_time(session)
    session.flush()
    if all(owners_of(session, request_id).values()):
        request.match_id = _create_match(session, request, master_key)
        _decide(session, request, RequestState.ACCEPTED)
    return request


def decline(session: Session, request_id: str, account_id: str, reason: str | None = None) -> FriendlyRequest:
    """Decline a request. Raise ``NotFound`` and ``Conflict`` as ``accept`` does."""
    request = _lock_pending(session, request_id, account_id)
    request.reason = reason
    _decide(session, request, RequestState.DECLINED)
    return request


def withdraw(session: Session, request_id: str, account_id: str) -> FriendlyRequest:
    """Withdraw a request. Raise ``NotFound`` unless the account created it, ``Conflict`` if it is not pending."""
    request = _lock_pending(session, request_id, account_id, creator=True)
    _decide(session, request, RequestState.WITHDRAWN)
    return request


def has_expired(session: Session) -> bool:
    """Return whether ``delete_expired`` would delete anything."""
    old = select(FriendlyRequest.id).where(FriendlyRequest.created_at < current_time(session) - RETENTION)
    return session.scalar(old.limit(1)) is not None


def delete_expired(session: Session) -> int:
    """Delete up to ``_BATCH`` requests that are older than ``RETENTION``. Return their number."""
    old = select(FriendlyRequest.id).where(FriendlyRequest.created_at < current_time(session) - RETENTION)
    ids = list(session.scalars(old.order_by(FriendlyRequest.created_at).limit(_BATCH)))
    session.execute(delete(RequestedOwner).where(RequestedOwner.request_id.in_(ids)))
    return count_changed_rows(session, delete(FriendlyRequest).where(FriendlyRequest.id.in_(ids)))


def _create_match(session: Session, request: FriendlyRequest, master_key: bytes) -> str:
    seated = _load_bots(session, request.bots)
    for bot in seated:
        if obstacle := rules.find_obstacle(session, request.created_by, bot, accepted=True):
            raise obstacle
    quotas.check_friendlies(session, request.created_by)
    plan = MatchPlan(
        game=request.game,
        bots=request.bots,
        options=request.options,
        limits=Limits(request.budget_ms, request.bank_ms),
        rated=False,
        created_by=request.created_by,
    )
    return matches.create_match(session, plan, master_key=master_key).id


def _load_bots(session: Session, bot_ids: Sequence[str]) -> list[Bot]:
    return [bots.get_bot(session, bot_id) for bot_id in bot_ids]


def _lock_pending(session: Session, request_id: str, account_id: str, *, creator: bool = False) -> FriendlyRequest:
    locked = select(FriendlyRequest).where(FriendlyRequest.id == request_id).with_for_update()
    request = session.scalar(locked.execution_options(populate_existing=True))
    if request is None:
        raise NotFound("friendly request", request_id)
    is_allowed = request.created_by == account_id if creator else account_id in owners_of(session, request_id)
    if not is_allowed:
        raise NotFound("friendly request", request_id)
    state = state_of(request, current_time(session))
    if state != RequestState.PENDING:
        raise Conflict(f"The request is {state}, so nothing can be decided about it.")
    return request


def _decide(session: Session, request: FriendlyRequest, state: RequestState) -> None:
    """Change the state, and notify the challenger unless they withdrew the request themselves."""
    request.state, request.decided_at = state, current_time(session)
    session.flush()
    if state != RequestState.WITHDRAWN:
        about = {name: getattr(request, name) for name in ("game", "state", "reason")}
        to = [request.created_by]
        notify(session, FriendlyDecided(accounts=to, request=request.id, match=request.match_id, **about))


def _check_quotas(session: Session, account_id: str, owners: set[str]) -> None:
    # Lock the accounts in the order of their ids, so that concurrent requests are counted one by one.
    accounts.lock_present(session, account_id, *owners)
    is_pending = _is_pending(current_time(session))
    sent = select(func.count()).where(FriendlyRequest.created_by == account_id, is_pending)
    if session.scalars(sent).one() >= MAX_SENT:
        raise QuotaExceeded(f"You have {MAX_SENT} pending requests for friendlies, which is the limit. Withdraw one.")
    for owner_id in owners:
        received = select(func.count()).select_from(FriendlyRequest).where(_is_decided_by(owner_id), is_pending)
        if session.scalars(received).one() >= MAX_RECEIVED:
            raise QuotaExceeded("The owner of a bot has too many pending requests. Try again later.")


def _is_decided_by(account_id: str) -> ColumnElement[bool]:
    mine = RequestedOwner.owner_id == account_id, RequestedOwner.request_id == FriendlyRequest.id
    return exists().where(*mine)


def _is_pending(moment: datetime) -> ColumnElement[bool]:
    return and_(FriendlyRequest.state == RequestState.PENDING, FriendlyRequest.expires_at > moment)
