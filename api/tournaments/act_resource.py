"""Serve the list of acts of operators and organisers, as a list and as a file."""

from typing import Any

from flask import Response

from api.accounts.oversight_schemas import ActFileQuery, ActFilterQuery, ActView
from api.auth import account, anyone, current_account
from api.downloads.sending import attachment
from api.tournaments.access import get_managed_tournament
from api.views import Resource, current_session
from referee.accounts import acts
from referee.accounts.act_kinds import ActKind
from referee.accounts.acts import ActFilter
from referee.accounts.roles import Role
from referee.accounts.scopes import Scope
from referee.errors import Forbidden

resource = Resource("acts", "/api/v1", "The list of acts of operators and organisers.")


@resource.get("/acts", account, items=ActView, query=ActFilterQuery, scope=Scope.ALL)
def list_acts(query: dict[str, Any]) -> Any:
    """List acts of operators and organisers, newest first

    Operators see all acts; organisers those that concern a tournament they run, which they must name. Both need a token
    of the scope `all`.
    """
    place = {name: query.pop(name) for name in ("limit", "cursor")}
    return acts.list_acts(current_session(), _filter(query), **place)


@resource.get("/acts.csv", account, query=ActFileQuery, scope=Scope.ALL)
@resource.file_response("text/csv", "One row per act, the oldest first.")
def download_csv(query: dict[str, Any]) -> Response:
    """Download acts as CSV

    A text that a spreadsheet would take for a formula begins with an apostrophe. This needs a token of the scope `all`.
    """
    rows = map(ActView().dump, acts.load_all(current_session(), _filter(query)))
    return attachment("text/csv", "acts.csv", "".join(acts.write_csv(list(ActView().fields), rows)))


@resource.get("/restores", anyone, items=ActView)
def list_restores(query: dict[str, Any]) -> Any:
    """List the acts by which the service was restored from a backup, newest first

    Everybody may read them. `details` has the time and version of the backup, its last result (`seq`), and as `lost`
    the numbers of results and acts that the replaced database had and the backup lacks; null if they are not known.
    """
    return acts.list_acts(current_session(), ActFilter(kind=ActKind.SERVICE_RESTORED), **query)


def _filter(query: dict[str, Any]) -> ActFilter:
    """Return the filter of the query. Raise ``Forbidden`` unless the caller may see these acts."""
    tournament_id = query.get("tournament")
    if current_account().role != Role.ADMIN:
        if tournament_id is None:
            raise Forbidden("Only the operator sees all acts. Name a tournament that you run: ?tournament=trn_…")
        get_managed_tournament(tournament_id)
    return ActFilter(tournament_id, query.get("account"), kind=query.get("kind"))
