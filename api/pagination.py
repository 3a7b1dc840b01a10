"""Lists in one envelope, ``{"items": […], "next": cursor or null}``, paged by signed keys instead of offsets."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from flask import current_app, request
from itsdangerous import BadData, URLSafeSerializer
from marshmallow import Schema, fields, validate

from api.errors import invalid
from api.fields import Query, QueryInt, Strict
from referee.db.paging import LARGEST_PAGE, Page

DEFAULT_LIMIT = 50


class PageQuery(Query):
    """How much of a list, and from where."""

    limit = QueryInt(
        low=1, high=LARGEST_PAGE, load_default=DEFAULT_LIMIT, metadata={"description": "at most this many items"}
    )
    cursor = fields.String(
        load_default=None,
        validate=validate.Length(1, 500),
        metadata={"description": "the `next` of the page before"},
    )


@cache
def list_of(item: type[Schema]) -> type[Schema]:
    """The envelope's schema round the schema of an item."""
    name = item.__name__.removesuffix("View") + "Page"
    return type(
        name,
        (Strict,),
        {
            "items": fields.List(fields.Nested(item), required=True),
            "next": fields.String(
                required=True, allow_none=True, metadata={"description": "cursor of the next page; null at the end"}
            ),
        },
    )


def read_cursor(query: dict[str, Any]) -> Any:
    """The key that ``query['cursor']`` holds, None for the first page; 422 for a forged or foreign cursor."""
    cursor = query.get("cursor")
    if cursor is None:
        return None
    try:
        return _signer(query).loads(cursor)
    except BadData:
        raise invalid([("cursor", "not a cursor of this list with these filters")]) from None


def envelope(page: Page[Any], query: dict[str, Any]) -> dict[str, Any]:
    """A page of the record as it goes out."""
    return {"items": page.items, "next": None if page.next is None else _signer(query).dumps(page.next)}


def single_page(items: Sequence[Any]) -> dict[str, Any]:
    """The envelope round a list that is never long."""
    return {"items": items, "next": None}


def _signer(query: dict[str, Any]) -> URLSafeSerializer:
    """Bound to the route and its filters, so that a cursor fits nowhere else."""
    filters = sorted((name, str(value)) for name, value in query.items() if name not in ("limit", "cursor"))
    return URLSafeSerializer(current_app.config["CURSOR_KEY"], salt=f"{request.endpoint}|{request.view_args}|{filters}")
