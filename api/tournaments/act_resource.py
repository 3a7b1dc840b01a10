"""Serve the list of acts of operators and organisers, as a list and as files."""

from typing import Any

from flask import Response

from api.accounts.oversight_schemas import ActFileQuery, ActFilterQuery, ActView
from api.auth import account, current_account
from api.tournaments.access import get_managed_tournament
from api.views import Resource, current_session
from referee.accounts import acts
from referee.accounts.acts import ActFilter
from referee.accounts.roles import Role
from referee.errors import Forbidden

resource = Resource("acts", "/api/v1", "The list of acts of operators and organisers.")


@resource.get("/acts", account, items=ActView, query=ActFilterQuery)
def list_acts(query: dict[str, Any]) -> Any:
    """List acts of operators and organisers, newest first

    Operators see all acts; organisers those that concern a tournament they run, which they must name.
    """
    place = {name: query.pop(name) for name in ("limit", "cursor")}
    return acts.list_acts(current_session(), _filter(query), **place)


@resource.get("/acts.csv", account, query=ActFileQuery)
@resource.file_response("text/csv", "One row per act, the oldest first.")
def download_csv(query: dict[str, Any]) -> Response:
    """Download acts as CSV

    A text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    found = acts.load_all(current_session(), _filter(query))
    return _file("text/csv", "acts.csv", "".join(acts.write_csv(found)))


@resource.get("/acts.ndjson", account, query=ActFileQuery)
@resource.file_response("application/x-ndjson", "One JSON object per act, the oldest first.")
def download_ndjson(query: dict[str, Any]) -> Response:
    """Download acts as lines of JSON"""
    found = acts.load_all(current_session(), _filter(query))
    return _file("application/x-ndjson", "acts.ndjson", "".join(acts.write_ndjson(found)))


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
