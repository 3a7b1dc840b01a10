"""Paginated lists: the envelope ``{"items": […], "next": cursor or null}``, paged by signed keys, not offsets."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from flask import current_app, request
from itsdangerous import BadData, URLSafeSerializer
from marshmallow import Schema, fields, validate

from api.errors import invalid
from api.fields import Query, QueryInt, Strict
from referee.db.paging import MAX_PAGE_SIZE, Page

DEFAULT_LIMIT = 50


class PageQuery(Query):
    """The part of a list to return."""

    limit = QueryInt(
        low=1, high=MAX_PAGE_SIZE, load_default=DEFAULT_LIMIT, metadata={"description": "The maximum number of items."}
    )
    cursor = fields.String(
        load_default=None,
        validate=validate.Length(1, 500),
        metadata={"description": "The `next` of the previous page."},
    )


@cache
def list_of(item: type[Schema]) -> type[Schema]:
    """Return the schema of a page whose items have the schema ``item``."""
    name = item.__name__.removesuffix("View") + "Page"
    return type(
        name,
        (Strict,),
        {
            "items": fields.List(fields.Nested(item), required=True),
            "next": fields.String(
                required=True,
                allow_none=True,
                metadata={"description": "The next page's cursor; null at the end."},
            ),
        },
    )


def read_cursor(query: dict[str, Any]) -> Any:
    """Return the key in ``query['cursor']``, None for the first page. Raise a 422 for a cursor of another list."""
    cursor = query.get("cursor")
    if cursor is None:
        return None
    try:
        return _signer(query).loads(cursor)
    except BadData:
        raise invalid([("cursor", "Must be the `next` of a page of this list with the same filters.")]) from None


def envelope(page: Page[Any], query: dict[str, Any]) -> dict[str, Any]:
    """Return the envelope of a page, with a signed cursor."""
    return {"items": page.items, "next": None if page.next is None else _signer(query).dumps(page.next)}


def single_page(items: Sequence[Any]) -> dict[str, Any]:
    """Return the envelope of a list that always fits on one page."""
    return {"items": items, "next": None}


def _signer(query: dict[str, Any]) -> URLSafeSerializer:
    """Return the signer for this route and these filters: a cursor is valid for them only."""
    filters = sorted((name, str(value)) for name, value in query.items() if name not in ("limit", "cursor"))
    return URLSafeSerializer(current_app.config["CURSOR_KEY"], salt=f"{request.endpoint}|{request.view_args}|{filters}")
