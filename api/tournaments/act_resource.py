"""Serve the list of acts of operators and organisers, as a list and as files."""

import json
from collections.abc import Iterator
from typing import Any

from flask import Response

from api.accounts.oversight_schemas import ActFileQuery, ActFilterQuery, ActView
from api.auth import account, anyone, current_account
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
    lines = acts.write_csv(list(ActView().fields), _load(query))
    return _file("text/csv", "acts.csv", "".join(lines))


@resource.get("/acts.ndjson", account, query=ActFileQuery, scope=Scope.ALL)
@resource.file_response("application/x-ndjson", "One JSON object per act, the oldest first.")
def download_ndjson(query: dict[str, Any]) -> Response:
    """Download acts as lines of JSON

    The file has all acts that pass the filter, with the members of `GET /acts`. Operators get all acts; organisers
    those of a tournament they run, which they must name: without it, the response is a 403. Both need a token of the
    scope `all`.
    """
    lines = (json.dumps(row, sort_keys=True) + "\n" for row in _load(query))
    return _file("application/x-ndjson", "acts.ndjson", "".join(lines))


@resource.get("/restores", anyone, items=ActView)
def list_restores(query: dict[str, Any]) -> Any:
    """List the acts by which the service was restored from a backup, newest first

    Everybody may read them. `details` has the time and version of the backup, its last result (`seq`), and as `lost`
    the numbers of results and acts that the replaced database had and the backup lacks; null if they are not known.
    """
    return acts.list_acts(current_session(), ActFilter(kind=ActKind.SERVICE_RESTORED), **query)


def _load(query: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return all acts that pass the filter of the query, the oldest first, as `GET /acts` shows them."""
    return map(ActView().dump, acts.load_all(current_session(), _filter(query)))


def _filter(query: dict[str, Any]) -> ActFilter:
    """Return the filter of the query. Raise ``Forbidden`` unless the caller may see these acts."""
    tournament_id = query.get("tournament")
    if current_account().role != Role.ADMIN:
        if tournament_id is None:
            raise Forbidden("Only the operator sees all acts. Name a tournament that you run: ?tournament=trn_…")
        get_managed_tournament(tournament_id)
    return ActFilter(tournament_id, query.get("account"), kind=query.get("kind"))


def _file(media_type: str, name: str, text: str) -> Response:
    return Response(text, mimetype=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})
