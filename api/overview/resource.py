"""Serve the overview of the service over HTTP."""

from flask import Response

from api.auth import anyone
from api.overview.cache import overview_cache
from api.overview.schemas import NowView
from api.streams.endpoints import live as resource


@resource.get("/now", anyone, transaction=None)
@resource.file_response("application/json", "The overview.", NowView)
def show_current_activity() -> Response:
    """Get an overview: some matches in progress, tournaments with their progress, counts

    The data is at most two seconds old.
    """
    return Response(overview_cache().current_body(), mimetype="application/json")
