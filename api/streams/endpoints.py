"""Declare endpoints with streams. Areas add their endpoints to the group ``live``."""

from typing import Any, Final

from api import errors
from api.auth import anyone
from api.fields import Query, QueryInt
from api.streams.connections import MEDIA_TYPE
from api.views import Decorator, Resource

LAST_EVENT_ID: Final[dict[str, Any]] = {
    "in": "header",
    "name": "Last-Event-ID",
    "schema": {"type": "string", "pattern": r"^([0-9]{1,18}(\.end)?)?$"},
    "description": "The id of the last message received. The stream then begins with the messages after it. "
    "Empty means that none was received.",
}
TOO_MANY: Final = errors.describe(
    "The limit of concurrent viewers, in total or from one address, is reached. See Retry-After."
)
COMPLETE: Final = {"description": "`Last-Event-ID` is the id of the final message: there is nothing more to send."}


LAST = 999_999_999


class FollowQuery(Query):
    after = QueryInt(0, LAST, "Send only messages after this id. `Last-Event-ID` takes precedence.")


class StreamResource(Resource):
    """Group endpoints, some of which are streams."""

    def stream(self, rule: str, description: str, *names: str) -> Decorator:
        """Register a view that returns a stream of messages with these names, the final one among them."""
        documents = {"responses": {503: TOO_MANY, 204: COMPLETE}, "parameters": [LAST_EVENT_ID]}
        register = self.get(rule, anyone, query=FollowQuery, transaction=None, documents=documents)
        declare = self.file_response(MEDIA_TYPE, description, _stream_schema(*names))
        return lambda view: register(declare(view))


def _stream_schema(*names: str) -> dict[str, Any]:
    """Return the schema of a stream of messages with these names. Clients see it as a text, or message by message."""
    message = {
        "type": "object",
        "properties": {
            "event": {"type": "string", "enum": list(names)},
            "id": {"type": "string"},
            "data": {"type": "string", "contentMediaType": "application/json", "description": "A JSON object."},
            "retry": {"type": "integer", "description": "Milliseconds to wait before reconnecting."},
        },
    }
    return {"anyOf": [message, {"type": "string"}]}


live = StreamResource("live", "/api/v1", "Live data and streams.")
