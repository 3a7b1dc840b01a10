"""Cancel a match, alone or with all matches that share its cards."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.errors import Conflict
from referee.matches import matches
from referee.matches.states import ENDED, WITHOUT_RESULT
from referee.matches.tables import StoredMatch
from referee.workflows.voids import voiding


def cancel_match(
    session: Session,
    match_id: str,
    reason: str = "cancelled",
    *,
    master_key: bytes,
    whole_group: bool = False,
    created_by: str | None = None,
    keep_results: bool = False,
) -> StoredMatch:
    """Cancel a match that has not ended, and return it. Its runner notices this at its next write.

    A match that shares its cards with others is cancelled only with ``whole_group``. In that case, all open matches of
    the deal group are cancelled and its finished ones are voided, with the same reason. Raise ``Conflict`` for such a
    match without ``whole_group``, for a match that has ended and, with ``keep_results``, if a result that counts would
    be voided.
    """
    match = matches.get_match(session, match_id)
    others = select(func.count()).where(
        StoredMatch.group_id == match.group_id, StoredMatch.id != match_id, StoredMatch.status.not_in(WITHOUT_RESULT)
    )
    sharing = session.scalars(others).one()
    if sharing and not whole_group:
        raise Conflict(f"The match shares its cards with others ({sharing}); cancel them all with whole_group.")
    if sharing and match.status not in ENDED:
        voiding.cancel_group(
            session, match.group_id, reason, created_by=created_by, master_key=master_key, keep_results=keep_results
        )
        return match
    if not voiding.cancel_matches(session, [match_id], reason, master_key=master_key).cancelled:
        raise Conflict(f"The match is {matches.get_match(session, match_id).status} and cannot be cancelled.")
    return match
