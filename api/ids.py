"""Ids in paths: only what has the form of an id of the right kind reaches a view; the rest is a 404."""

from typing import Any

from werkzeug.routing import BaseConverter, Map


class IdConverter(BaseConverter):
    """``<id("bot"):bot_id>``."""

    def __init__(self, map: Map, prefix: str) -> None:
        super().__init__(map)
        self.prefix = prefix
        self.regex = f"{prefix}_[0-9a-z]{{26}}"


def id_schema(converter: IdConverter) -> dict[str, Any]:
    """How the documentation tells of it."""
    return {"type": "string", "pattern": f"^{converter.prefix}_[0-9a-z]{{26}}$"}
