"""Match ids in paths. A path without a well-formed id of the right kind is answered with a 404 before any view runs."""

from typing import Any

from werkzeug.routing import BaseConverter, Map


class IdConverter(BaseConverter):
    """Match ``<id("bot"):bot_id>`` in URL rules."""

    def __init__(self, map: Map, prefix: str) -> None:
        super().__init__(map)
        self.prefix = prefix
        self.regex = f"{prefix}_[0-9a-z]{{26}}"


def id_schema(converter: IdConverter) -> dict[str, Any]:
    """Return the schema of the path parameter, for the OpenAPI document."""
    return {"type": "string", "pattern": f"^{converter.prefix}_[0-9a-z]{{26}}$"}
