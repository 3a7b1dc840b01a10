"""Read the query parameters of pages. Raise a 422 that names an invalid parameter."""

from collections.abc import Collection
from typing import Any

from flask import request
from marshmallow import Schema, ValidationError, fields

from api.errors import invalid
from api.views import flatten_messages


def load_query(schema: type[Schema]) -> dict[str, Any]:
    """Return the query as a schema of the API reads it, without empty parameters, which forms send for "any".

    Raise a 422 that names the invalid parameters.
    """
    reader = schema()
    given: dict[str, Any] = {}
    for name, field in reader.load_fields.items():
        values = [value for value in request.args.getlist(field.data_key or name) if value]
        if values:
            given[name] = values if isinstance(field, fields.List) else values[0]
    try:
        return dict(reader.load(given))
    except ValidationError as error:
        raise invalid(flatten_messages(error.messages, "")) from None


def choice(name: str, known: Collection[str]) -> str | None:
    """Return the parameter, or None if it is missing or empty. Raise a 422 if it is not one of ``known``."""
    wanted = request.args.get(name) or None
    if wanted is not None and wanted not in known:
        raise invalid([(name, f"Must be one of: {', '.join(known)}.")])
    return wanted


def whole_number(name: str, low: int, high: int) -> int:
    """Return the integer in the parameter, or ``low`` without it. Raise a 422 unless it is from ``low`` to ``high``."""
    text = request.args.get(name, str(low))
    if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
        raise invalid([(name, f"Must be a whole number from {low} to {high}.")])
    return int(text)
