"""Ask accounts to run a tournament or the like together with others, or to let a bot play in a tournament.

``plugs.Organised`` describes what accounts run together beside tournaments.

Nothing happens before the account accepts. To enter a bot at the request of its owner is the job of ``admission``.
"""

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, exists, func, or_, select, update
from sqlalchemy.orm import Session

from referee import plugs
from referee.accounts import accounts
from referee.accounts.co_organisers import CoOrganisers
from referee.accounts.tables import Account
from referee.bots.tables import Bot
from referee.db.engine import count_changed_rows, current_time
from referee.db.ids import new_id
from referee.db.paging import Cursor, Page, load_page
from referee.db.reporting import notify
from referee.errors import Conflict, Forbidden, NeedsAcceptance, NotFound, QuotaExceeded
from referee.events import InvitationDecided, InvitationReceived
from referee.friendlies.states import ChallengerVerdict
from referee.friendlies.tables import ChallengerEntry
from referee.plugs import Organised
from referee.tournaments import admission, entries, tournaments
from referee.tournaments.states import DECIDABLE, UNFINISHED, InvitationKind, InvitationState
from referee.tournaments.tables import Invitation, Tournament

MAX_PER_DAY: Final = 20  # of an account, so that nobody can flood it with them
MAX_PER_DAY_FROM_ONE: Final = 3  # of an account from the same inviter, so that one alone cannot use them all up
MAX_PENDING: Final = 1000  # of a tournament
_DAY: Final = timedelta(days=1)


def invite_to_tournament(session: Session, tournament_id: str, name: str, inviter: Account) -> Invitation:
    """Ask the account with this name or id to run a tournament, too.

    Raise ``BadOption`` for an unknown account, ``Conflict`` if it runs the tournament, was asked already or has
    declined, or if the tournament is over, and ``QuotaExceeded`` above the limits.
    """
    tournament = tournaments.lock_in_state(session, tournament_id, *UNFINISHED)
    return invite_organiser(session, InvitationKind.TOURNAMENT, tournament, tournaments.CO_ORGANISERS, name, inviter)


def invite_organiser(
    session: Session, kind: str, managed: Any, co_organisers: CoOrganisers, name: str, inviter: Account
) -> Invitation:
    """Ask the account with this name or id to run a locked object, too. Raise the errors of ``invite_to_tournament``.

    ``kind`` is that of a tournament or of a ``plugs.Organised``.
    """
    pending = _count_pending(session, managed.id, kind)
    account = co_organisers.find_candidate(session, managed, name, pending=pending)
    return _invite(session, kind, managed, account.id, inviter)


def invite_bot(session: Session, tournament_id: str, bot_id: str, inviter: Account) -> Invitation:
    """Ask the owner of a bot to let it play in a tournament that is open for entries.

    Raise ``Conflict`` if nobody has to be asked, or the owner was asked already or has declined, ``Forbidden`` if they
    want no such questions, ``QuotaExceeded`` above the limits, and whatever ``entries.lock_to_ask`` raises.
    """
    tournament, bot = entries.lock_to_ask(session, tournament_id, bot_id)
    try:
        admission.check_owner_consents(session, tournament, bot, inviter.id)
    except NeedsAcceptance:
        pass
    else:
        raise Conflict(f"The owner of {bot.name!r} need not be asked. Enter the bot.")
    entries.check_bots_of_owner(session, tournament, bot)
    if _count_pending(session, tournament.id, InvitationKind.ENTRY, bot.owner_id) >= tournament.bots_per_owner:
        raise QuotaExceeded(
            f"The owner of {bot.name!r} has been asked about as many bots as an owner may enter in this tournament."
        )
    if _count_pending(session, tournament.id, InvitationKind.ENTRY) >= MAX_PENDING:
        raise QuotaExceeded(f"This tournament has {MAX_PENDING} pending invitations. Withdraw some first.")
    return _invite(session, InvitationKind.ENTRY, tournament, bot.owner_id, inviter, bot)


def get_invitation(session: Session, invitation_id: str) -> Invitation:
    """Return an invitation. Raise ``NotFound`` if there is none."""
    invitation = session.get(Invitation, invitation_id)
    if invitation is None or invitation.kind not in _known_kinds():
        raise NotFound("invitation", invitation_id)
    return invitation


def concerns_tournament(invitation: Invitation) -> bool:
    return invitation.kind in list(InvitationKind)


def get_object(session: Session, invitation: Invitation) -> Any:
    """Return the tournament, or the object of an extra, that an invitation is about."""
    organised = plugs.find_organised(invitation.kind)
    return session.get_one(Tournament if organised is None else plugs.load(organised.table), invitation.object_id)


def is_manager(session: Session, account: Account, invitation: Invitation) -> bool:
    """Return whether the account runs what the invitation is about, and may withdraw it."""
    organised = plugs.find_organised(invitation.kind)
    co_organisers = tournaments.CO_ORGANISERS if organised is None else plugs.load(organised.co_organisers)
    runs: bool = co_organisers.is_manager(account, get_object(session, invitation))
    return runs


def require_manager(session: Session, organised: Organised, object_id: str, account: Account) -> None:
    """Raise ``NotFound`` if there is no such object, and ``Forbidden`` if the account does not run it."""
    managed = session.get(plugs.load(organised.table), object_id)
    if managed is None:
        raise NotFound(organised.kind, object_id)
    if not plugs.load(organised.co_organisers).is_manager(account, managed):
        raise Forbidden(f"Only the organisers of the {organised.kind} or the operator may do this.")


def list_invitations(
    session: Session,
    *,
    account_id: str | None = None,
    object_id: str | None = None,
    pending: bool | None = None,
    limit: int = 50,
    cursor: Cursor | None = None,
) -> Page[Invitation]:
    """Return a page of invitations of an account or concerning one object, newest first."""
    query = select(Invitation).where(Invitation.kind.in_(_known_kinds()))
    if account_id is not None:
        query = query.where(Invitation.account_id == account_id)
    if object_id is not None:
        query = query.where(Invitation.object_id == object_id)
    if pending is not None:
        query = query.where(_is_pending() if pending else ~_is_pending())
    return load_page(session, query, Invitation.created_at.desc(), Invitation.id.desc(), limit=limit, cursor=cursor)


def state_of(session: Session, invitation: Invitation) -> InvitationState:
    """Return the state of an invitation at this time."""
    if invitation.state not in DECIDABLE:
        return invitation.state
    lasting = session.scalar(select(Invitation.id).where(Invitation.id == invitation.id, _lasts()))
    return InvitationState.LAPSED if lasting is None else invitation.state


def accept(session: Session, invitation_id: str, account: Account) -> Invitation:
    """Accept an invitation: run the tournament or the like, too, or enter the bot.

    Raise ``NotFound`` unless the account decides about it, ``Conflict`` if it was accepted or withdrawn or has lapsed,
    or if the account that sent it may no longer do so, and the errors of adding the organiser or entering the bot; then
    the invitation stays as it was.
    """
    invitation = _get_decidable(session, invitation_id, account.id, DECIDABLE)
    inviter = accounts.get_account(session, invitation.invited_by)
    if inviter.suspended_at is not None or not is_manager(session, inviter, invitation):
        raise Conflict("The account that sent this invitation is suspended, or is no organiser any longer.")
    match invitation.kind:
        case InvitationKind.TOURNAMENT:
            tournaments.add_organiser(session, invitation.object_id, account)
        case InvitationKind.ENTRY:
            entries.enter_bot(session, invitation.object_id, str(invitation.bot_id))
        case _:
            _add_organiser(session, invitation, account)
    _decide(session, invitation, DECIDABLE, InvitationState.ACCEPTED)
    return invitation


def decline(session: Session, invitation_id: str, account_id: str) -> Invitation:
    """Decline an invitation. Raise ``NotFound`` and ``Conflict`` as ``accept`` does."""
    invitation = _get_decidable(session, invitation_id, account_id, (InvitationState.PENDING,))
    _decide(session, invitation, (InvitationState.PENDING,), InvitationState.DECLINED)
    return invitation


def withdraw(session: Session, invitation: Invitation) -> Invitation:
    """Withdraw an invitation, also one that was declined and could still be accepted. Raise ``Conflict`` otherwise."""
    _check_state(session, invitation, DECIDABLE)
    _decide(session, invitation, DECIDABLE, InvitationState.WITHDRAWN)
    return invitation


def _known_kinds() -> list[str]:
    """Return the kinds of invitations, but not those of extras that are not installed."""
    return [*InvitationKind, *(organised.kind for organised in plugs.list_organised())]


def _add_organiser(session: Session, invitation: Invitation, account: Account) -> None:
    organised = plugs.find_organised(invitation.kind)
    assert organised is not None, "it was read with this kind"
    table = plugs.load(organised.table)
    locked = select(table).where(table.id == invitation.object_id).with_for_update()
    managed = session.scalars(locked.execution_options(populate_existing=True)).one()
    plugs.load(organised.co_organisers).add(session, managed, account)


def _invite(
    session: Session, kind: str, managed: Any, account_id: str, inviter: Account, bot: Bot | None = None
) -> Invitation:
    accounts.lock_present(session, account_id, inviter.id)
    bot_id = None if bot is None else bot.id
    earlier = select(Invitation.state).where(Invitation.object_id == managed.id, Invitation.account_id == account_id)
    earlier = earlier.where(Invitation.kind == kind, Invitation.bot_id.is_not_distinct_from(bot_id))
    states = set(session.scalars(earlier.where(Invitation.state.in_(DECIDABLE), _lasts())))
    if InvitationState.PENDING in states:
        raise Conflict("The account was asked already and has not decided yet.")
    if states:
        raise Conflict("The account was asked and declined. It can still accept that invitation.")
    listed = session.get(ChallengerEntry, (account_id, inviter.id))
    if listed is not None and listed.verdict == ChallengerVerdict.BLOCKED:
        raise Forbidden("The account has blocked yours, so you cannot invite it.")
    moment = current_time(session)
    withdrawn = earlier.where(Invitation.state == InvitationState.WITHDRAWN, Invitation.decided_at > moment - _DAY)
    if session.scalar(withdrawn.limit(1)) is not None:
        raise QuotaExceeded("The same invitation was withdrawn in the last 24 hours. Try again later.")
    _check_quota(session, account_id, inviter, moment - _DAY)
    invitation = Invitation(
        id=new_id("invitation"),
        kind=kind,
        object_id=managed.id,
        bot_id=bot_id,
        account_id=account_id,
        invited_by=inviter.id,
        state=InvitationState.PENDING,
        created_at=moment,
    )
    session.add(invitation)
    session.flush()
    by: dict[str, Any] = {"bot_name": None if bot is None else bot.name, "by": inviter.id, "by_name": inviter.name}
    notify(session, InvitationReceived(accounts=[account_id], **_describe(invitation, managed), **by))
    return invitation


def _check_quota(session: Session, account_id: str, inviter: Account, since: datetime) -> None:
    recent = select(Invitation.invited_by).where(Invitation.account_id == account_id, Invitation.created_at > since)
    senders = session.scalars(recent).all()
    if senders.count(inviter.id) >= MAX_PER_DAY_FROM_ONE:
        raise QuotaExceeded(
            f"The account got {MAX_PER_DAY_FROM_ONE} invitations from you in the last 24 hours. Try again later."
        )
    if len(senders) >= MAX_PER_DAY:
        raise QuotaExceeded(f"The account got {MAX_PER_DAY} invitations in the last 24 hours. Try again later.")


def ids_of_object(invitation: Invitation) -> dict[str, str | None]:
    """Return the id of what the invitation is about, keyed by its kind, and None for each other kind."""
    ids: dict[str, str | None] = {"tournament": None, **{each.kind: None for each in plugs.list_organised()}}
    return {**ids, "tournament" if concerns_tournament(invitation) else invitation.kind: invitation.object_id}


def _describe(invitation: Invitation, managed: Any) -> dict[str, Any]:
    about = ids_of_object(invitation)
    return {"invitation": invitation.id, "about": about, "name": managed.name, "bot": invitation.bot_id}


def _get_decidable(
    session: Session, invitation_id: str, account_id: str, states: tuple[InvitationState, ...]
) -> Invitation:
    invitation = get_invitation(session, invitation_id)
    if invitation.account_id != account_id:
        raise NotFound("invitation", invitation_id)
    _check_state(session, invitation, states)
    return invitation


def _check_state(session: Session, invitation: Invitation, states: tuple[InvitationState, ...]) -> None:
    if (state := state_of(session, invitation)) not in states:
        raise Conflict(f"The invitation is {state}, so this can no longer be done.")


def _decide(
    session: Session, invitation: Invitation, before: tuple[InvitationState, ...], after: InvitationState
) -> None:
    """Change the state, and notify who invited. Raise ``Conflict`` if another request was faster."""
    change = update(Invitation).where(Invitation.id == invitation.id, Invitation.state.in_(before))
    if not count_changed_rows(session, change.values(state=after, decided_at=current_time(session))):
        raise Conflict("The invitation was decided or withdrawn just now.")
    session.refresh(invitation)
    if after != InvitationState.WITHDRAWN:
        about = _describe(invitation, get_object(session, invitation))
        notify(session, InvitationDecided(accounts=[invitation.invited_by], **about, state=after))


def _count_pending(session: Session, object_id: str, kind: str, account_id: str | None = None) -> int:
    query = select(func.count()).select_from(Invitation).where(Invitation.object_id == object_id, _is_pending())
    if account_id is not None:
        query = query.where(Invitation.account_id == account_id)
    return session.scalars(query.where(Invitation.kind == kind)).one()


def _is_pending() -> ColumnElement[bool]:
    return and_(Invitation.state == InvitationState.PENDING, _lasts())


def _lasts() -> ColumnElement[bool]:
    """Return the condition that an invitation has not lapsed.

    An invitation to enter a bot lapses when the tournament starts or, if it was made later, ends; one to organise when
    the tournament ends.
    """
    made_later = and_(Tournament.late_entry, Tournament.started_at <= Invitation.created_at)
    of_entry = or_(Tournament.started_at.is_(None), made_later, Invitation.kind != InvitationKind.ENTRY)
    lasts = Tournament.id == Invitation.object_id, Tournament.status.in_(UNFINISHED), of_entry
    return or_(Invitation.kind.not_in(list(InvitationKind)), exists().where(*lasts))
