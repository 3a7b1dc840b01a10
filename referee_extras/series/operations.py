"""Create, find, change and delete series, and add tournaments to them."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, func, or_, select, true
from sqlalchemy.orm import Session

from referee.accounts import accounts
from referee.accounts.co_organisers import CoOrganisers
from referee.accounts.roles import Role
from referee.accounts.tables import Account
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.ids import new_id
from referee.db.lookup import divide_ids
from referee.db.names import validate_title
from referee.db.paging import Cursor, Page, load_page
from referee.errors import BadOption, Conflict, Forbidden, NotFound, QuotaExceeded
from referee.tournaments import tournaments
from referee.tournaments.announcement import validate_description
from referee.tournaments.states import TournamentState
from referee.tournaments.tables import Invitation, Tournament
from referee.workflows.accounts import invitations
from referee_extras.series import SERIES
from referee_extras.series.standings import DEFAULT_POINTS
from referee_extras.series.tables import Series, SeriesOrganiser, SeriesTournament

MAX_SERIES_PER_OWNER: Final = 20
MAX_TOURNAMENTS: Final = 50
MAX_PLACES: Final = 100
MAX_POINTS: Final = 10_000
CO_ORGANISERS: Final = CoOrganisers(SeriesOrganiser, "series_id", "series")


def create_series(
    session: Session, creator: Account, *, quota: int, name: str, listed: bool = True, **terms: Any
) -> Series:
    """Create a series without tournaments. An account has at most ``quota`` of them.

    ``terms`` are ``description``, ``points`` and ``best``. Raise ``BadOption`` for invalid terms, ``QuotaExceeded`` for
    too many series.
    """
    accounts.lock_present(session, creator.id)
    count = select(func.count()).where(Series.created_by == creator.id)
    if session.scalars(count).one() >= quota:
        raise QuotaExceeded(f"Your account may have at most {quota} series.")
    wanted = {"description": None, "points": [*DEFAULT_POINTS], "best": None, **terms, "name": name}
    series = Series(
        **{"id": new_id(SERIES.prefix), **validate_terms(wanted), "listed": listed, "created_by": creator.id},
        created_at=current_time(session),
        revision=1,
    )
    session.add(series)
    session.flush()
    return series


def validate_terms(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return these terms in canonical form. Raise ``BadOption`` for one that is not allowed."""
    checked = dict(terms)
    if "name" in checked:
        checked["name"] = validate_title(checked["name"])
    if checked.get("description") is not None:
        checked["description"] = validate_description(checked["description"])
    if "points" in checked:
        checked["points"] = _validate_points(checked["points"])
    if checked.get("best") is not None and not 1 <= checked["best"] <= MAX_TOURNAMENTS:
        raise BadOption("best", f"must be null or from 1 to {MAX_TOURNAMENTS}")
    return checked


def _validate_points(points: Sequence[int]) -> list[int]:
    if not 1 <= len(points) <= MAX_PLACES:
        raise BadOption("points", f"must have 1 to {MAX_PLACES} numbers")
    if any(not 0 <= number <= MAX_POINTS for number in points):
        raise BadOption("points", f"must be numbers from 0 to {MAX_POINTS}")
    if points[0] == 0 or any(after > before for before, after in pairwise(points)):
        raise BadOption("points", "must begin with a positive number and never increase")
    return list(points)


def get_series(session: Session, series_id: str, *, manager: Account | None = None) -> Series:
    """Return a series.

    Raise ``NotFound`` if there is none, and ``Forbidden`` if ``manager`` is given and may not manage it.
    """
    series = session.get(Series, series_id)
    if series is None:
        raise NotFound("series", series_id)
    if manager is not None and not CO_ORGANISERS.is_manager(manager, series):
        raise Forbidden("Only the organisers of the series or the operator may do this.")
    return series


def list_series(
    session: Session,
    *,
    viewer: Account | None = None,
    organiser: str | None = None,
    limit: int = 50,
    cursor: Cursor | None = None,
) -> Page[Series]:
    """Return a page of series, the newest first: those that an account runs, or all.

    Unlisted series are shown only to those who run them.
    """
    query = select(Series).where(_is_listed_for(viewer))
    if organiser is not None:
        query = query.where(_is_run_by(organiser))
    return load_page(session, query, Series.created_at.desc(), Series.id.desc(), limit=limit, cursor=cursor)


def _is_listed_for(viewer: Account | None) -> ColumnElement[bool]:
    if viewer is None:
        return Series.listed.is_(True)
    return true() if viewer.role == Role.ADMIN else or_(Series.listed, _is_run_by(viewer.id))


def _is_run_by(account_id: str) -> ColumnElement[bool]:
    together = select(SeriesOrganiser.series_id).where(SeriesOrganiser.account_id == account_id)
    return or_(Series.created_by == account_id, Series.id.in_(together))


def lock_series(session: Session, series_id: str) -> Series:
    """Lock and return a series. Raise ``NotFound`` if there is none."""
    locked = select(Series).where(Series.id == series_id).with_for_update()
    series = session.scalar(locked.execution_options(populate_existing=True))
    if series is None:
        raise NotFound("series", series_id)
    return series


def edit_series(session: Session, series_id: str, *, revision: int, **changes: Any) -> Series:
    """Change ``name``, ``description``, ``points`` or ``best``. Raise ``Conflict`` for an outdated revision."""
    series = lock_series(session, series_id)
    if series.revision != revision:
        raise Conflict(f"The series has revision {series.revision}, but the change was based on {revision}.")
    for name, value in validate_terms(changes).items():
        setattr(series, name, value)
    return _mark_changed(session, series)


def delete_series(session: Session, series_id: str) -> None:
    """Delete a series. Raise ``Conflict`` if one of its tournaments is finished: then it is part of the archive."""
    series = lock_series(session, series_id)
    if has_finished(session, series_id):
        raise Conflict("A tournament of this series is finished, so the series can no longer be deleted.")
    session.execute(delete(SeriesTournament).where(SeriesTournament.series_id == series_id))
    session.execute(delete(SeriesOrganiser).where(SeriesOrganiser.series_id == series_id))
    tournaments.hide_invitations(session, Invitation.object_id == series_id)
    session.delete(series)


def has_finished(session: Session, series_id: str) -> bool:
    """Return whether a tournament of the series is finished."""
    return any(item.status == TournamentState.FINISHED for item in list_tournaments(session, series_id))


# -- tournaments --


def list_tournaments(session: Session, series_id: str) -> Sequence[Tournament]:
    """Return the tournaments of a series in their order."""
    query = select(Tournament).join(SeriesTournament, SeriesTournament.tournament_id == Tournament.id)
    query = query.where(SeriesTournament.series_id == series_id)
    return session.scalars(query.order_by(SeriesTournament.number)).all()


def count_tournaments(session: Session, series_ids: Sequence[str]) -> dict[str, int]:
    """Return the number of tournaments, keyed by series id. Omit series without one."""
    query = select(SeriesTournament.series_id, func.count()).group_by(SeriesTournament.series_id)
    return dict(session.execute(query.where(SeriesTournament.series_id.in_(series_ids))).all())


def load_bots(session: Session, bot_ids: Sequence[str]) -> dict[str, tuple[Bot, str]]:
    """Return these bots with the names of their owners, keyed by bot id."""
    query = select(Bot, Account.name).join(Account, Account.id == Bot.owner_id)
    found = (session.execute(query.where(Bot.id.in_(ids))).all() for ids in divide_ids(bot_ids))
    return {bot.id: (bot, owner_name) for rows in found for bot, owner_name in rows}


def find_series_of(session: Session, tournament_id: str) -> Sequence[Series]:
    """Return the series that a tournament belongs to, by name. Unlisted series are left out."""
    query = select(Series).join(SeriesTournament, SeriesTournament.series_id == Series.id)
    query = query.where(SeriesTournament.tournament_id == tournament_id, Series.listed.is_(True))
    return session.scalars(query.order_by(Series.name, Series.id)).all()


def add_tournament(session: Session, series_id: str, tournament_id: str, manager: Account) -> Series:
    """Add a tournament that ``manager`` runs at the end of a series.

    Raise ``BadOption`` for a tournament that is unknown to the account or unlisted, ``Forbidden`` if the account does
    not run it, ``Conflict`` if it is a draft, cancelled or in the series already, ``QuotaExceeded`` if the series is
    full.
    """
    series = lock_series(session, series_id)
    try:
        tournament = tournaments.get_visible_tournament(session, tournament_id, manager)
    except NotFound:
        raise BadOption("tournaments", f"no tournament has the id {tournament_id}") from None
    if not tournaments.is_manager(manager, tournament):
        raise Forbidden(f"You do not run the tournament {tournament.name!r}, so you cannot add it to a series.")
    if series.listed and not tournament.listed:
        raise BadOption("tournaments", f"{tournament.name!r} is unlisted, and this series is listed")
    if tournament.status == TournamentState.DRAFT:
        raise Conflict(f"The tournament {tournament.name!r} is a draft, which can still be deleted. Open it first.")
    if tournament.status == TournamentState.CANCELLED:
        raise Conflict(f"The tournament {tournament.name!r} is cancelled.")
    there = select(SeriesTournament).where(SeriesTournament.series_id == series_id)
    rows = session.scalars(there.order_by(SeriesTournament.number)).all()
    if tournament_id in [row.tournament_id for row in rows]:
        raise Conflict(f"The tournament {tournament.name!r} is in this series already.")
    if len(rows) >= MAX_TOURNAMENTS:
        raise QuotaExceeded(f"A series has at most {MAX_TOURNAMENTS} tournaments.")
    number = rows[-1].number + 1 if rows else 1
    moment = current_time(session)
    session.add(SeriesTournament(series_id=series_id, tournament_id=tournament_id, number=number, added_at=moment))
    return _mark_changed(session, series)


def remove_tournament(session: Session, series_id: str, tournament_id: str) -> Series:
    """Take a tournament out of a series. Raise ``NotFound`` if it is not in it."""
    series = lock_series(session, series_id)
    row = session.get(SeriesTournament, (series_id, tournament_id))
    if row is None:
        raise NotFound("tournament of the series", tournament_id)
    session.delete(row)
    return _mark_changed(session, series)


# -- organisers --


def invite_organiser(session: Session, series_id: str, name: str, inviter: Account) -> Invitation:
    """Ask the account with this name or id to run a series, too. Raise the errors of ``invitations``."""
    return invitations.invite_organiser(
        session, SERIES.kind, lock_series(session, series_id), CO_ORGANISERS, name, inviter
    )


def remove_organiser(session: Session, series_id: str, account_id: str) -> None:
    """Take the series from an account that runs it. Raise ``NotFound`` if the account does not.

    The last organiser can only leave a series of the archive, which cannot be deleted: raise ``Conflict`` for others.
    """
    series = lock_series(session, series_id)
    CO_ORGANISERS.remove(session, series, account_id, may_be_orphaned=has_finished(session, series_id))
    tournaments.withdraw_invitations(session, series_id, account_id)


def _mark_changed(session: Session, series: Series) -> Series:
    series.revision += 1
    session.flush()
    return series
