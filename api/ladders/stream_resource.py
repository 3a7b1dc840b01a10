"""Serve the stream of a ladder over HTTP."""

from typing import Any

from flask import Response

from api.ladders.schemas import LadderRow
from api.ladders.stream import LadderStream
from api.streams.connections import follow
from api.streams.endpoints import live as resource
from api.views import database
from referee.ladders import ratings


@resource.stream(
    '/ladders/<id("lad"):ladder_id>/stream', "Messages until the client disconnects.", "changes", ends=False
)
def follow_ladder(query: dict[str, Any], ladder_id: str) -> Response:
    """Follow a ladder (server-sent events)

    The stream sends `changes`, at most once a second: `as_of_seq`, and in `items` the rows of the bots whose rating
    changed since the previous message, latest first, at most 50. The ranks of other bots may have changed too. The id
    of a message is its `as_of_seq`. Pass the `as_of_seq` of a page as `after` to receive all changes since that page.
    """
    with database().read() as session:
        ratings.get_ladder(session, ladder_id)
    return follow(LadderStream, ladder_id, query.get("after"), LadderRow().dump)
