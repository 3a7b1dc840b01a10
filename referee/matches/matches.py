"""Create, find and list matches, and cancel those of a bot that is withdrawn.

``claims`` decides which runner may write to a match; ``recording`` stores its rows and answers.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, func, or_, select, true
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.db.paging import Cursor, Page, load_page
from referee.errors import NotFound
from referee.matches import cancelling
from referee.matches.lists.match_filters import MatchFilter
from referee.matches.scheduling import MatchPlan as MatchPlan
from referee.matches.scheduling import create_matches
from referee.matches.states import MatchState
from referee.matches.tables import MatchSeat, StoredMatch

Json = dict[str, Any]
ALL_MATCHES: Final = MatchFilter()


def create_match(session: Session, plan: MatchPlan, *, master_key: bytes) -> StoredMatch:
    """Create a match and return it. Raise the same errors as ``create_matches``."""
    (match_id,) = create_matches(session, [plan], master_key=master_key)
    return get_match(session, match_id)


def get_match(session: Session, match_id: str) -> StoredMatch:
    match = session.get(StoredMatch, match_id)
    if match is None:
        raise NotFound("match", match_id)
    return match


def seats_of(session: Session, match_ids: Sequence[str]) -> dict[str, list[MatchSeat]]:
    """Return the seats of each match in seat order, keyed by match id."""
    seats: dict[str, list[MatchSeat]] = {match_id: [] for match_id in match_ids}
    query = select(MatchSeat).where(MatchSeat.match_id.in_(match_ids)).order_by(MatchSeat.match_id, MatchSeat.seat)
    for seat in session.scalars(query):
        seats[seat.match_id].append(seat)
    return seats


def list_matches(
    session: Session,
    wanted: MatchFilter = ALL_MATCHES,
    *,
    where: ColumnElement[bool] | None = None,
    limit: int = 50,
    cursor: Cursor | None = None,
) -> Page[StoredMatch]:
    """Return a page of the matches that pass the filter and the condition ``where``, newest first."""
    query = select(StoredMatch).where(*wanted.conditions())
    if where is not None:
        query = query.where(where)
    return load_page(session, query, StoredMatch.created_at.desc(), StoredMatch.id.desc(), limit=limit, cursor=cursor)


def owners_of_friendly(session: Session, match: StoredMatch) -> set[str]:
    """Return the ids of the accounts whose bots play in this friendly, or an empty set if it is not a friendly."""
    if not match.is_friendly:
        return set()
    owners = select(Bot.owner_id).join(MatchSeat, MatchSeat.bot_id == Bot.id)
    return set(session.scalars(owners.where(MatchSeat.match_id == match.id)))


def count_running_by_game(session: Session) -> dict[str, int]:
    """Return the number of running matches of each game, without games that have none."""
    running = select(StoredMatch.game, func.count()).where(StoredMatch.status == MatchState.RUNNING)
    return dict(session.execute(running.group_by(StoredMatch.game)).all())


def cancel_unstarted(session: Session, bot_id: str, tournament_id: str | None) -> int:
    """Cancel the unstarted matches of a bot and return their number.

    Cancel only those of the tournament ``tournament_id`` (also those in which a substitute plays for the bot), or, if
    it is None, all of them.
    """
    sits = MatchSeat.bot_id == bot_id
    if tournament_id is not None:  # the bot leaves the tournament, and so does its substitute
        sits = or_(sits, MatchSeat.entrant_id == bot_id)
    in_scope = true() if tournament_id is None else StoredMatch.tournament_id == tournament_id
    seated = StoredMatch.id.in_(select(MatchSeat.match_id).where(sits))
    return cancelling.cancel_unstarted(session, and_(seated, in_scope), "bot_withdrawn")
