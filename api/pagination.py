"""Return lists page by page: ``{"items": […], "next": cursor or null}``. Cursors are signed keys, not offsets."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from flask import current_app, request
from itsdangerous import BadData, URLSafeSerializer
from marshmallow import Schema

from api import fields
from api.errors import invalid
from api.fields import Query, QueryInt, View
from api.messages import Length
from referee.db.paging import MAX_PAGE_SIZE, Page, slice_page

Item = TypeVar("Item")

DEFAULT_LIMIT = 50


class PageQuery(Query):
    """Select the part of a list to return."""

    limit = QueryInt(1, MAX_PAGE_SIZE, "The maximum number of items.", load_default=DEFAULT_LIMIT)
    cursor = fields.String(
        "The `next` of the previous page; without it, the first page is returned.",
        load_default=None,
        validate=Length(1, 500),
    )


@cache
def list_of(item: type[Schema], base: type[Schema] = View) -> type[Schema]:
    """Return the schema of a page with items of schema ``item`` and the fields of ``base``."""
    name = item.__name__.removesuffix("View").removesuffix("Row") + "Page"
    following = fields.String("The cursor of the next page; null on the last page.", allow_none=True)
    return type(name, (base,), {"items": fields.List(fields.Nested(item)), "next": following})


def read_cursor(query: dict[str, Any]) -> Any:
    """Return the key in ``query['cursor']``, or None for the first page. Raise a 422 for a cursor of another list."""
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


def page_in_memory(
    items: Sequence[Item], query: dict[str, Any], view: Callable[[Sequence[Item]], list[Any]]
) -> dict[str, Any]:
    """Return a page of a list that is in memory. ``view`` converts the items of the page."""
    page = slice_page(items, limit=query["limit"], cursor=read_cursor(query))
    return envelope(Page(view(page.items), page.next), query)


def _signer(query: dict[str, Any]) -> URLSafeSerializer:
    """Return the signer for this route and these filters. Cursors are valid for no others."""
    filters = sorted((name, str(value)) for name, value in query.items() if name not in ("limit", "cursor"))
    salt = f"{request.endpoint}|{request.view_args}|{filters}"
    return URLSafeSerializer(current_app.config["CURSOR_KEYS"], salt=salt)  # signs with the last, accepts all
