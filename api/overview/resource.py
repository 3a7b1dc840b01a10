"""Serve the overview of the service over HTTP, and its stream."""

from flask import Response

from api.auth import anyone
from api.overview.cache import overview_cache
from api.overview.schemas import NowView
from api.overview.stream import NOW, OverviewStream
from api.streams.connections import follow
from api.streams.endpoints import live as resource


@resource.get("/now", anyone, transaction=None)
@resource.file_response("application/json", "The overview, as in the messages of GET /stream.", NowView)
def show_current_activity() -> Response:
    """Get an overview: some matches in progress, tournaments with their progress, counts

    The data is at most two seconds old.
    """
    return Response(overview_cache().current_body(), mimetype="application/json")


@resource.stream("/stream", "Messages until the client disconnects.", NOW, resumes=False, ends=False)
def follow_service() -> Response:
    """Follow the service (server-sent events)

    Whenever the overview has changed, but at most every two seconds, the stream sends `now`, with the same object as
    GET /now.
    """
    return follow(OverviewStream, NOW, None, overview_cache().current_body)
