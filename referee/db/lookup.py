"""Look up a column of many rows by their ids, in portions that every database accepts."""

from collections.abc import Iterable
from typing import Final, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute, Session

Value = TypeVar("Value")

IDS_PER_QUERY: Final = 500  # maximum number of ids in one query


def load_by_id(
    session: Session, id: InstrumentedAttribute[str], value: InstrumentedAttribute[Value], ids: Iterable[str]
) -> dict[str, Value]:
    """Return the values of a column, keyed by id, for those of these ids that exist."""
    found = (session.execute(select(id, value).where(id.in_(portion))) for portion in divide_ids(ids))
    return {key: held for rows in found for key, held in rows}


def divide_ids(ids: Iterable[str]) -> list[list[str]]:
    """Return these ids in order, each once, in lists of at most ``IDS_PER_QUERY``."""
    wanted = sorted(set(ids))
    return [wanted[start : start + IDS_PER_QUERY] for start in range(0, len(wanted), IDS_PER_QUERY)]
