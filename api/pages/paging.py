"""Divide long lists into pages: numbered ones, and those that follow each other by cursors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from flask import request

from api.errors import invalid
from api.pages.parameters import whole_number
from api.pagination import envelope
from referee.db.paging import Page

Row = TypeVar("Row")

LAST_PAGE: Final = 9_999_999


@dataclass(frozen=True, slots=True)
class NumberedPage:
    """Describe page ``number``, from 1, of a list of ``length`` rows with ``size`` rows per page."""

    number: int
    size: int
    length: int

    @property
    def first(self) -> int:
        """Return the index of the first row, from 0."""
        return (self.number - 1) * self.size

    @property
    def pages(self) -> int:
        """Return the number of pages. An empty list has one page."""
        return max(1, -(-self.length // self.size))

    @property
    def cursor(self) -> list[int] | None:
        """Return the cursor of the page for lists that are paged by row number, or None for the first page."""
        return [self.first - 1] if self.first else None

    def rows(self, everything: Sequence[Row]) -> Sequence[Row]:
        """Return the rows of the page."""
        return everything[self.first : self.first + self.size]


def requested_number() -> int:
    """Return the page number in ``?page=``. Raise a 422 for an invalid one."""
    return whole_number("page", 1, LAST_PAGE)


def numbered_page(number: int, size: int, length: int, parameter: str = "page") -> NumberedPage:
    """Return page ``number`` of a list. Raise a 422, which names the query parameter, for a page after the last."""
    page = NumberedPage(number, size, length)
    if number > page.pages:
        raise invalid([(parameter, f"Must be at most {page.pages}, the number of pages.")])
    return page


def cursor_query(limit: int, **filters: Any) -> dict[str, Any]:
    """Return the query of a list that is paged by cursor, with these filters, as ``api.pagination`` reads it."""
    return {**filters, "limit": limit, "cursor": request.args.get("cursor")}


def cursor_links(found: Page[Any], query: dict[str, Any]) -> dict[str, Any]:
    """Return the links to the first page and to the next one, with the filters of this one, for ``ui.pager``."""
    filters = [(name, value) for name, value in request.args.items(multi=True) if value and name != "cursor"]
    following = envelope(found, query)["next"]
    return {
        "before": f"?{urlencode(filters)}" if query["cursor"] else None,
        "behind": f"?{urlencode([*filters, ('cursor', following)])}" if following else None,
    }
