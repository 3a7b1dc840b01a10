"""Write the conditions for the states that almost all matches and deal groups have in the end.

SQLite's planner assumes that an index on a state finds few rows. Where a query also finds its rows by their ids, it
would nevertheless read all finished matches. The concatenations keep it from using these indexes.
"""

from typing import Any

from sqlalchemy import ColumnElement

from referee.matches.states import DealGroupState, MatchState
from referee.matches.tables import DealGroup, StoredMatch


def has_status(status: str) -> ColumnElement[bool]:
    """Return the condition for matches with this status, for queries that find them by something else."""
    return StoredMatch.status.concat("") == status


def is_finished() -> ColumnElement[bool]:
    """Return the condition for finished matches, for queries that find them by something else."""
    return has_status(MatchState.FINISHED)


def is_revealed(group: Any = DealGroup) -> ColumnElement[bool]:
    """Return the condition for closed deal groups, for queries that find them by something else.

    ``group`` may be an alias of the table.
    """
    revealed: ColumnElement[bool] = group.state.concat("") == DealGroupState.REVEALED
    return revealed
