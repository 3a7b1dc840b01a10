"""Paginate by key: each page begins after the last row of the previous one, and every page costs the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, Generic, TypeVar

from sqlalchemy import ColumnElement, Select, UnaryExpression, and_, or_
from sqlalchemy.orm import Session
from sqlalchemy.sql.operators import desc_op

from referee.errors import BadOption

Row = TypeVar("Row")
Cursor = Sequence[Any]  # JSON values that say where the next page begins

MAX_PAGE_SIZE: Final = 100
BAD_CURSOR: Final = "must be the cursor of a previous page"


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Hold the rows of a page and the cursor of the next page, which is None on the last one."""

    items: list[Row]
    next: list[Any] | None


def load_page(
    session: Session, query: Select[*tuple[Any, ...]], *order: Any, limit: int, cursor: Cursor | None
) -> Page[Any]:
    """Return a page of rows in this ``order``: columns or ``column.desc()``, which together are unique and never null.

    A row is what the query selects: an object, or a tuple if there are several. Raise ``BadOption`` for a bad limit or
    cursor.
    """
    check_limit(limit)
    keys = [step.element if _descends(step) else step for step in order]
    if cursor is not None:
        query = query.where(_is_behind(order, keys, _read_cursor(cursor, keys)))
    found = session.execute(query.add_columns(*keys).order_by(*order).limit(limit + 1)).all()
    rows = [(tuple(row[: -len(keys)]), row[-len(keys) :]) for row in found[:limit]]
    items = [row[0] if len(row) == 1 else row for row, _ in rows]
    return Page(items, [_write_value(value) for value in rows[-1][1]] if len(found) > limit else None)


def slice_page(items: Sequence[Row], *, limit: int, cursor: Cursor | None) -> Page[Row]:
    """Return a page of a list that is in memory."""
    (first,) = read_values(cursor, int) or (0,)
    end = first + limit
    return Page(list(items[first:end]), [end] if end < len(items) else None)


def check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE_SIZE:
        raise BadOption("limit", f"must be 1 to {MAX_PAGE_SIZE}")


def read_values(cursor: Cursor | None, *types: type) -> Cursor | None:
    """Return the values of a cursor, or None for the first page. Raise ``BadOption`` unless they have these types."""
    if cursor is not None and [type(value) for value in cursor] != list(types):
        raise BadOption("cursor", BAD_CURSOR)
    return cursor


def _is_behind(order: Sequence[Any], keys: Sequence[Any], last: Sequence[Any]) -> ColumnElement[bool]:
    """Return the condition for rows behind the one with the keys ``last``.

    It begins with a condition on the first key alone, by which the planner seeks in an index instead of scanning past
    earlier rows.
    """
    cases = []
    for place, (step, key, value) in enumerate(zip(order, keys, last, strict=True)):
        same = (earlier == known for earlier, known in zip(keys[:place], last[:place], strict=True))
        cases.append(and_(*same, key < value if _descends(step) else key > value))
    seek = keys[0] <= last[0] if _descends(order[0]) else keys[0] >= last[0]
    return and_(seek, or_(*cases))


def _descends(step: Any) -> bool:
    return isinstance(step, UnaryExpression) and step.modifier is desc_op


def _read_cursor(cursor: Cursor, keys: Sequence[Any]) -> list[Any]:
    """Return the values of a cursor with the types of these keys. Raise ``BadOption`` unless it has such values."""
    try:
        return [_read_value(value, key.type.python_type) for value, key in zip(cursor, keys, strict=True)]
    except (TypeError, ValueError):
        raise BadOption("cursor", BAD_CURSOR) from None


def _read_value(value: Any, kind: type) -> Any:
    if issubclass(kind, date):
        moment = kind.fromisoformat(value)
        if isinstance(moment, datetime) and moment.tzinfo is None:
            raise ValueError(value)
        return moment
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise TypeError(value)
    return value


def _write_value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
