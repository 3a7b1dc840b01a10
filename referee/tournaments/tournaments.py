"""Create, find, list and lock tournaments."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, delete, func, or_, select, true, update
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.accounts.co_organisers import CoOrganisers
from referee.accounts.roles import Role
from referee.accounts.tables import Account
from referee.db.engine import current_time
from referee.db.ids import new_id
from referee.db.kinds import SearchKind
from referee.db.paging import Cursor, Page, load_page
from referee.db.search_documents import put_document
from referee.errors import BadOption, Conflict, Forbidden, NotFound, QuotaExceeded
from referee.tournaments.requested_terms import Terms
from referee.tournaments.round_times import check_changes
from referee.tournaments.states import DECIDABLE, OVER, UNFINISHED, InvitationState, TournamentState
from referee.tournaments.tables import Invitation, Tournament, TournamentOrganiser

HIDDEN_INVITATION: Final = "hidden"  # kind of one that nobody can see any longer
MAX_UNFINISHED_PER_OWNER: Final = 20
CO_ORGANISERS: Final = CoOrganisers(TournamentOrganiser, "tournament_id", "tournament")


def create_tournament(
    session: Session,
    name: str,
    *,
    created_by: str,
    status: TournamentState = TournamentState.OPEN,
    quota: int = MAX_UNFINISHED_PER_OWNER,
    **terms: Any,
) -> Tournament:
    """Create a tournament. An account has at most ``quota`` unfinished ones.

    It is open for entries unless ``status`` is ``draft``; ``terms`` are fields of ``Terms``. Raise ``BadOption`` or
    ``NoSuchGame`` for invalid terms, and ``QuotaExceeded`` if the account has too many unfinished tournaments.
    """
    columns = Terms(name=name, **terms).columns()
    moment = current_time(session)
    check_times_ahead(columns, moment)
    check_changes(None, columns["round_times"], begun=0, moment=moment)
    _check_quota(session, created_by, quota)
    tournament = Tournament(
        id=new_id("tournament"), **columns, status=status, created_by=created_by, created_at=moment, revision=1
    )
    session.add(tournament)
    session.flush()
    if tournament.status != TournamentState.DRAFT:
        make_searchable(session, tournament)
    return tournament


def make_searchable(session: Session, tournament: Tournament) -> None:
    """Let the search find the tournament, unless it is unlisted."""
    if tournament.listed:
        put_document(session, SearchKind.TOURNAMENT, tournament.id, tournament.name)


def check_times_ahead(times: Mapping[str, Any], moment: datetime) -> None:
    """Raise ``BadOption`` if ``starts_at`` or ``entries_close_at`` is given and has passed."""
    for field in ("starts_at", "entries_close_at"):
        if times.get(field) is not None and times[field] <= moment:
            raise BadOption(field, f"must be later than now, {moment.isoformat(timespec='seconds')}")


def get_tournament(session: Session, tournament_id: str, *, manager: Account | None = None) -> Tournament:
    """Return a tournament.

    If ``manager`` is given and may not manage it, raise ``NotFound`` for a draft, which others do not see, otherwise
    ``Forbidden``. Raise ``NotFound`` if there is none.
    """
    tournament = session.get(Tournament, tournament_id)
    is_foreign = tournament is not None and manager is not None and not is_manager(manager, tournament)
    if tournament is None or (is_foreign and tournament.status == TournamentState.DRAFT):
        raise NotFound("tournament", tournament_id)
    if is_foreign:
        raise Forbidden("Only the organisers of the tournament or the operator may do this.")
    return tournament


def get_visible_tournament(session: Session, tournament_id: str, viewer: Account | None = None) -> Tournament:
    """Return a tournament. Raise ``NotFound`` if there is none, or if it is a draft that ``viewer`` does not run."""
    found = get_tournament(session, tournament_id)
    if not is_visible(found, viewer):
        raise NotFound("tournament", tournament_id)
    return found


def is_visible(tournament: Tournament, viewer: Account | None) -> bool:
    """Return whether the tournament is shown to this account, or to everybody for None: a draft is not."""
    return tournament.status != TournamentState.DRAFT or (viewer is not None and is_manager(viewer, tournament))


def is_manager(account: Account, tournament: Tournament) -> bool:
    """Return whether this account created the tournament, is a co-organiser, or is the operator."""
    return CO_ORGANISERS.is_manager(account, tournament)


def list_tournaments(
    session: Session,
    *,
    status: str | Collection[str] | None = None,
    game: str | None = None,
    organiser: str | None = None,
    viewer: Account | None = None,
    limit: int = 50,
    cursor: Cursor | None = None,
) -> Page[Tournament]:
    """Return a page of tournaments, the newest first. ``status`` is one state or several states.

    ``organiser`` is the id of an account that runs them. Only those who run them see drafts and unlisted tournaments.
    """
    query = select(Tournament).where(_is_listed_for(viewer))
    if status is not None:
        query = query.where(Tournament.status.in_([status] if isinstance(status, str) else status))
    if game is not None:
        query = query.where(Tournament.game == game)
    if organiser is not None:
        query = query.where(_is_run_by(organiser))
    return load_page(session, query, Tournament.created_at.desc(), Tournament.id.desc(), limit=limit, cursor=cursor)


def _is_listed_for(viewer: Account | None) -> ColumnElement[bool]:
    is_public = and_(Tournament.listed, Tournament.status != TournamentState.DRAFT)
    if viewer is None:
        return is_public
    return true() if viewer.role == Role.ADMIN else or_(is_public, _is_run_by(viewer.id))


def _is_run_by(account_id: str) -> ColumnElement[bool]:
    together = select(TournamentOrganiser.tournament_id).where(TournamentOrganiser.account_id == account_id)
    return or_(Tournament.created_by == account_id, Tournament.id.in_(together))


def lock_in_state(session: Session, tournament_id: str, *states: TournamentState) -> Tournament:
    """Lock and return a tournament.

    Raise ``NotFound`` if there is none, and ``Conflict`` if it is in none of the states.
    """
    locked = select(Tournament).where(Tournament.id == tournament_id).with_for_update()
    # Read again after locking: another transaction may have changed it.
    tournament = session.scalar(locked.execution_options(populate_existing=True))
    if tournament is None:
        raise NotFound("tournament", tournament_id)
    if tournament.status not in states:
        expected = " or ".join(state for state in TournamentState if state in states)
        raise Conflict(f"The tournament is {tournament.status}, not {expected}.")
    return tournament


def add_organiser(session: Session, tournament_id: str, account: Account) -> None:
    """Let an account that accepted an invitation run the tournament. Raise the errors of ``CoOrganisers.add``."""
    CO_ORGANISERS.add(session, lock_in_state(session, tournament_id, *UNFINISHED), account)


def remove_organiser(session: Session, tournament_id: str, account_id: str) -> None:
    """Take the tournament from an account that runs it. Raise ``NotFound`` if the account does not.

    The last organiser can only leave when the tournament is over: raise ``Conflict`` before that.
    """
    tournament = lock_in_state(session, tournament_id, *TournamentState)
    CO_ORGANISERS.remove(session, tournament, account_id, may_be_orphaned=tournament.status in OVER)
    withdraw_invitations(session, tournament_id, account_id)


def withdraw_invitations(session: Session, object_id: str, account_id: str) -> None:
    """Withdraw what an account that no longer runs a tournament or series has asked others about it."""
    sent = Invitation.object_id == object_id, Invitation.invited_by == account_id, Invitation.state.in_(DECIDABLE)
    withdrawn = {"state": InvitationState.WITHDRAWN, "decided_at": current_time(session)}
    session.execute(update(Invitation).where(*sent).values(withdrawn))


def hide_invitations(session: Session, which: ColumnElement[bool]) -> None:
    """Hide invitations whose sender, or what they are about, is deleted. For a day they count for limits."""
    counted_since = current_time(session) - timedelta(days=1)
    uncounted = Invitation.kind == HIDDEN_INVITATION, Invitation.created_at < counted_since
    session.execute(delete(Invitation).where(*uncounted))
    session.execute(update(Invitation).where(which).values(kind=HIDDEN_INVITATION))


def _check_quota(session: Session, account_id: str, quota: int) -> None:
    accounts.lock_present(session, account_id)
    unfinished = select(func.count()).where(Tournament.created_by == account_id, Tournament.status.in_(UNFINISHED))
    if session.scalars(unfinished).one() >= quota:
        raise QuotaExceeded(f"Your account may have at most {quota} unfinished tournaments.")
