"""Create, change and list series of tournaments over HTTP, and serve their standings."""

from typing import Any, Final

from flask import Response, current_app

from api import etags
from api.auth import account, anyone, current_account, may_organise, require_scope, viewer
from api.invitations.presentation import present_sent
from api.invitations.schemas import InvitationView, NewOrganiser
from api.pagination import PageQuery, list_of, page_in_memory
from api.views import Resource, current_session
from referee.accounts import acts
from referee.accounts.scopes import Scope
from referee.errors import Forbidden
from referee_extras.series import operations
from referee_extras.series.acts import SeriesAct
from referee_extras.series.presentation import (
    attach_bots,
    attach_tournaments,
    compute_standings,
    standings_csv,
)
from referee_extras.series.schemas import (
    AddedTournaments,
    NewSeries,
    SeriesChanges,
    SeriesQuery,
    SeriesStandingView,
    SeriesView,
    WholeSeriesView,
)
from referee_extras.series.tables import Series

resource = Resource("series", "/api/v1/series", "Series: tournaments of any games with common standings.")

Json = dict[str, Any]
SERIES: Final = '/<id("ser"):series_id>'


@resource.post("", account, WholeSeriesView, body=NewSeries, status=201, scope=Scope.ORGANISE)
def create(new: Json) -> Any:
    """Create a series

    Tournaments are added one by one. An account has at most 20 series; one without the role of an organiser has
    unlisted series only, as many as private tournaments.
    """
    quota = operations.MAX_SERIES_PER_OWNER
    if not may_organise():
        quota = min(quota, current_app.config["SETTINGS"].private_tournaments)
        if quota == 0 or new.get("listed", True):
            raise Forbidden(
                "Without the role of an organiser, an account runs unlisted series only, if this service allows it. "
                "Set listed to false, or ask for the role on the page /organise."
            )
    made = operations.create_series(current_session(), current_account(), quota=quota, **new)
    _record(SeriesAct.CREATED, made, name=made.name)
    return attach_tournaments(made)


@resource.get("", anyone, items=SeriesView, query=SeriesQuery)
def list_series(query: Json) -> Any:
    """List series, newest first

    Unlisted series are in the lists of those who run them only.
    """
    return operations.list_series(current_session(), viewer=viewer(), **query)


@resource.get(SERIES, anyone, WholeSeriesView)
def show(series_id: str) -> Any:
    """Get a series: its terms and its tournaments

    The tournaments are in the order in which they were added. Anyone who has its id can read an unlisted series, too.
    """
    return attach_tournaments(operations.get_series(current_session(), series_id))


@resource.patch(SERIES, account, WholeSeriesView, body=SeriesChanges, scope=Scope.ORGANISE)
def edit(changes: Json, series_id: str) -> Any:
    """Change a series

    New points and a new number of results that count apply to all its tournaments.
    """
    series = get_managed_series(series_id)
    etags.require_match(WholeSeriesView, attach_tournaments(series))
    edited = operations.edit_series(current_session(), series_id, revision=series.revision, **changes)
    _record(SeriesAct.EDITED, edited, changed=sorted(changes))
    return attach_tournaments(edited)


@resource.delete(SERIES, account, scope=Scope.ORGANISE)
def delete(series_id: str) -> None:
    """Delete a series

    A series with a finished tournament stays. Its tournaments are not deleted.
    """
    series = get_managed_series(series_id)
    _record(SeriesAct.DELETED, series, name=series.name)
    operations.delete_series(current_session(), series_id)


@resource.post(f"{SERIES}/tournaments", account, WholeSeriesView, body=AddedTournaments, scope=Scope.ORGANISE)
def add_tournaments(body: Json, series_id: str) -> Any:
    """Add tournaments at the end of a series

    You must run the series and each of the tournaments. If one is refused, none is added. A series has at most 50.
    """
    series = get_managed_series(series_id)
    for tournament_id in body["tournaments"]:
        operations.add_tournament(current_session(), series.id, tournament_id, current_account())
        _record(SeriesAct.TOURNAMENT_ADDED, series, tournament_id=tournament_id)
    return attach_tournaments(series)


@resource.delete(f'{SERIES}/tournaments/<id("trn"):tournament_id>', account, scope=Scope.ORGANISE)
def remove_tournament(series_id: str, tournament_id: str) -> None:
    """Take a tournament out of a series

    Its points no longer count.
    """
    series = get_managed_series(series_id)
    operations.remove_tournament(current_session(), series.id, tournament_id)
    _record(SeriesAct.TOURNAMENT_REMOVED, series, tournament_id=tournament_id)


@resource.post(f"{SERIES}/organisers", account, InvitationView, body=NewOrganiser, status=201, scope=Scope.ORGANISE)
def add_organiser(body: Json, series_id: str) -> Any:
    """Invite another account to run the series, too

    When it has accepted, it is a co-organiser and may do everything that you may; before that, it may do nothing and is
    shown nowhere. A series has at most 10 co-organisers, with those invited.
    """
    series = get_managed_series(series_id)
    invited = operations.invite_organiser(current_session(), series.id, body["account"], current_account())
    return present_sent(invited)


@resource.delete(f'{SERIES}/organisers/<id("acc"):account_id>', account, scope=Scope.ORGANISE)
def remove_organiser(series_id: str, account_id: str) -> None:
    """Take the series from a co-organiser, or leave it yourself

    If the account that created it leaves, its first co-organiser takes it over; this needs a token with the scope
    `all`. The last organiser can leave only when a tournament of the series is finished; before that, delete it.
    """
    series = get_managed_series(series_id)
    if account_id == series.created_by != current_account().id:
        raise Forbidden("The account that created the series or took it over can only leave it itself.")
    if account_id == series.created_by:
        require_scope(Scope.ALL)
    operations.remove_organiser(current_session(), series.id, account_id)
    _record(SeriesAct.ORGANISER_REMOVED, series, removed=account_id)


@resource.get(f"{SERIES}/standings", anyone, list_of(SeriesStandingView), query=PageQuery)
def show_standings(query: Json, series_id: str) -> Any:
    """Get the standings of a series, best first

    They follow from the standings of its finished tournaments as they are now, so a match that is voided after the end
    changes them. Bots that were disqualified or played no match themselves bring no points.
    """
    series = operations.get_series(current_session(), series_id)
    rows = compute_standings(series, operations.list_tournaments(current_session(), series.id))
    return page_in_memory(rows, query, attach_bots)


@resource.get(f"{SERIES}/standings.csv", anyone)
@resource.file_response("text/csv", "One row per bot, best first.")
def download_csv(series_id: str) -> Response:
    """Download the standings of a series for spreadsheets

    For each finished tournament there are the rank, the exact points, and whether they count.
    """
    series = operations.get_series(current_session(), series_id)
    text = standings_csv(series, operations.list_tournaments(current_session(), series.id))
    disposition = f'attachment; filename="{series_id}.csv"'
    return Response(text, mimetype="text/csv", headers={"Content-Disposition": disposition})


def get_managed_series(series_id: str) -> Series:
    return operations.get_series(current_session(), series_id, manager=current_account())


def _record(kind: SeriesAct, series: Series, *, tournament_id: str | None = None, **details: Any) -> None:
    acts.record_act(current_session(), current_account(), kind, series.id, tournament_id=tournament_id, **details)
