"""Load the results of finished matches."""

from collections.abc import Collection

from sqlalchemy import select
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
    query = (
        select(Result.match_id, Result.scores)
        .join(StoredMatch, StoredMatch.id == Result.match_id)
        .join(DealGroup, DealGroup.id == StoredMatch.group_id)
    )
    found = session.execute(query.where(Result.match_id.in_(match_ids), is_revealed()))
    return dict(found.all())
