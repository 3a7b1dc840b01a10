"""Paginate by key: each page begins after the last row of the previous one, and every page costs the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from sqlalchemy import Select, and_, or_
from sqlalchemy.orm import InstrumentedAttribute, Session

from referee.errors import BadOption

Row = TypeVar("Row")
Cursor = Sequence[Any]  # JSON values that say where the next page begins

MAX_PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Hold the rows of a page and the cursor of the next page, which is None on the last one."""

    items: list[Row]
    next: list[Any] | None


def load_newest_first(
    session: Session,
    query: Select[Row],
    created_at: InstrumentedAttribute[datetime],
    id: InstrumentedAttribute[str],
    *,
    limit: int,
    cursor: Cursor | None,
) -> Page[Row]:
    """Return a page of rows, newest first. Raise ``BadOption`` for a bad limit or cursor."""
    check_limit(limit)
    if cursor is not None:
        moment, last = _read_time_cursor(cursor)
        query = query.where(or_(created_at < moment, and_(created_at == moment, id < last)))
    rows = list(session.scalars(query.order_by(created_at.desc(), id.desc()).limit(limit + 1)))
    if len(rows) <= limit:
        return Page(rows, None)
    end = rows[limit - 1]
    return Page(rows[:limit], [getattr(end, created_at.key).isoformat(), getattr(end, id.key)])


def check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE_SIZE:
        raise BadOption("limit", f"must be 1 to {MAX_PAGE_SIZE}")


def read_values(cursor: Cursor | None, *types: type) -> Cursor | None:
    """Return the values of a cursor, or None for the first page. Raise ``BadOption`` unless they have these types."""
    if cursor is not None and [type(value) for value in cursor] != list(types):
        raise BadOption("cursor", "must be the cursor of a previous page")
    return cursor


def read_number_cursor(cursor: Cursor) -> int:
    """Return the number in a cursor of one number. Raise ``BadOption`` for any other cursor."""
    match list(cursor):
        case [int(number)]:
            return number
    raise BadOption("cursor", "must be the cursor of a previous page")


def _read_time_cursor(cursor: Cursor) -> tuple[datetime, str]:
    try:
        moment, last = cursor
        position = datetime.fromisoformat(moment), str(last)
    except (TypeError, ValueError):
        raise BadOption("cursor", "must be the cursor of a previous page") from None
    if position[0].tzinfo is None:
        raise BadOption("cursor", "must be the cursor of a previous page")
    return position
