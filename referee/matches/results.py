"""Load the results of finished matches."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.errors import NotFound
from referee.matches.tables import Result


def get_result(session: Session, match_id: str) -> Result:
    """Return the result of a match. Raise ``NotFound`` if it has none."""
    result = session.scalar(select(Result).where(Result.match_id == match_id))
    if result is None:
        raise NotFound("result", match_id)
    return result
