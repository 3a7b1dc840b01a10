"""Match ids and months in paths. A path without well-formed ones is answered with a 404 before any view runs."""

from datetime import date
from typing import Any

from werkzeug.routing import BaseConverter, Map

from referee.timestamps import format_month, parse_month


class IdConverter(BaseConverter):
    """Match ``<id("bot"):bot_id>`` in URL rules."""

    def __init__(self, map: Map, prefix: str) -> None:
        super().__init__(map)
        self.prefix = prefix
        self.regex = f"{prefix}_[0-9a-z]{{26}}"


def id_schema(converter: IdConverter) -> dict[str, Any]:
    """Return the schema of the path parameter, for the OpenAPI document."""
    return {"type": "string", "pattern": f"^{converter.prefix}_[0-9a-z]{{26}}$"}


class MonthConverter(BaseConverter):
    """Match ``<month:month>``, such as ``2026-11``, in URL rules. Views get its first day."""

    regex = "20[0-9]{2}-(?:0[1-9]|1[0-2])"

    def to_python(self, value: str) -> date:
        return parse_month(value)

    def to_url(self, value: date) -> str:
        return format_month(value)


def month_schema(converter: MonthConverter) -> dict[str, Any]:
    """Return the schema of the path parameter, for the OpenAPI document."""
    return {"type": "string", "pattern": f"^{converter.regex}$"}
