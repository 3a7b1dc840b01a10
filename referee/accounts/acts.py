"""Record and list what operators and organisers did: who, when, what, on which object, why.

An act is recorded in the transaction that it describes, so there is neither an act without its effect nor an effect
without its act.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.accounts.oversight_tables import Act
from referee.accounts.tables import Account
from referee.db.engine import current_time
from referee.db.paging import Cursor, Page, load_page

COMMAND_LINE: Final = "command line"  # the name of the operator of the machine
FORMULA_SIGNS: Final = ("=", "+", "-", "@", "\t", "\r")  # with which spreadsheets begin formulas


@dataclass(frozen=True, slots=True)
class ActFilter:
    """Select the acts that pass all filters that are given."""

    tournament_id: str | None = None
    account_id: str | None = None
    object_id: str | None = None
    kind: str | None = None


def record_act(
    session: Session,
    account: Account | None,
    kind: str,
    object_id: str,
    *,
    tournament_id: str | None = None,
    reason: str | None = None,
    **details: Any,
) -> Act:
    """Append an act of ``account``, or of the command line, to the list."""
    act = Act(
        created_at=current_time(session),
        account_id=None if account is None else account.id,
        account_name=COMMAND_LINE if account is None else account.name,
        kind=kind,
        object_id=object_id,
        tournament_id=tournament_id,
        details=details,
        reason=reason,
    )
    session.add(act)
    session.flush()
    return act


def list_acts(session: Session, wanted: ActFilter, *, limit: int = 50, cursor: Cursor | None = None) -> Page[Act]:
    """Return a page of acts, the newest first."""
    query = select(Act).where(*_conditions(wanted))
    return load_page(session, query, Act.id.desc(), limit=limit, cursor=cursor)


def load_all(session: Session, wanted: ActFilter) -> Iterator[Act]:
    """Yield all acts that pass the filter, the oldest first."""
    query = select(Act).where(*_conditions(wanted)).order_by(Act.id)
    yield from session.scalars(query, execution_options={"yield_per": 500})


def write_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield acts as lines of CSV. A text that a spreadsheet would take for a formula begins with an apostrophe."""
    yield _csv_line(columns)
    for row in rows:
        cells = {**row, "details": json.dumps(row["details"], sort_keys=True)}
        yield _csv_line([_plain_cell(cells[column]) for column in columns])


def _conditions(wanted: ActFilter) -> list[Any]:
    return [getattr(Act, name) == value for name, value in asdict(wanted).items() if value is not None]


def _csv_line(cells: Sequence[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def _plain_cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_SIGNS) else value
