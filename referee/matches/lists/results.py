"""Load the results of finished matches."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from referee.errors import NotFound
from referee.matches.tables import DealGroup, Result, StoredMatch
from referee.matches.usual_states import is_revealed


def get_result(session: Session, match_id: str) -> Result:
    """Return the result of a match. Raise ``NotFound`` if it has none."""
    result = session.scalar(select(Result).where(Result.match_id == match_id))
    if result is None:
        raise NotFound("result", match_id)
    return result


def load_public_scores(session: Session, match_ids: Collection[str]) -> dict[str, list[int]]:
    """Return the scores by seat of those of these matches that have a result and a public log, keyed by match id."""
    query = select_public(Result.match_id, Result.scores).where(Result.match_id.in_(match_ids))
    return dict(session.execute(query).all())


def select_public(*columns: Any) -> Select[*tuple[Any, ...]]:
    """Return a query for these columns of results with public logs, voided ones included."""
    query = select(*columns).select_from(Result).join(StoredMatch, StoredMatch.id == Result.match_id)
    return query.join(DealGroup, DealGroup.id == StoredMatch.group_id).where(is_revealed())
