"""Notify owners of results after their commit, in the order of their numbers: each once, whatever crashes.

Accounts hear of all matches of their bots by webhooks, and by their inbox of matches that an account arranged.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from referee.bots import bots
from referee.db.idempotency import insert_once
from referee.ladders.match_ratings import SeatRating, load_match_ratings
from referee.match.canonical import Json
from referee.matches.tables import Result, StoredMatch
from referee_extras.notifications import inbox, outbox
from referee_extras.notifications.notification_types import MATCH_FINISHED
from referee_extras.notifications.tables import ReportedResults

BATCH: Final = 200  # results that one transaction reports


def has_unreported(session: Session) -> bool:
    """Return whether ``report_results`` would report anything."""
    reported = func.coalesce(select(ReportedResults.seq).scalar_subquery(), 0)
    return bool(session.scalar(select(func.max(Result.seq) > reported)))


def report_results(session: Session) -> None:
    """Notify the owners of the next results, unless another transaction is doing so now."""
    session.execute(insert_once(session, ReportedResults, {"id": 1, "seq": 0}))
    reported = session.scalar(select(ReportedResults).with_for_update(skip_locked=True))
    if reported is None:
        return
    query = select(Result, StoredMatch).join(StoredMatch, StoredMatch.id == Result.match_id)
    query = query.where(Result.seq > reported.seq).order_by(Result.seq).limit(BATCH)
    found = [(result, match) for result, match in session.execute(query)]
    if found:
        reported.seq = found[-1][0].seq
        _notify_owners(session, found)


def _notify_owners(session: Session, found: Sequence[tuple[Result, StoredMatch]]) -> None:
    owners = {owner for result, _ in found for owner in _owners(result)}
    subscribed = outbox.list_subscribed(session, MATCH_FINISHED, owners).keys()
    arranged = {match.id for _, match in found if match.tournament_id is None and match.ladder_id is None}
    told = [both for both in found if both[1].id in arranged or subscribed & _owners(both[0])]
    ratings = load_match_ratings(session, [match.id for _, match in told])
    names = bots.names_of(session, {bot for result, _ in told for bot in result.bots})
    reports = [(_owners(result), _describe(result, match, names, ratings.get(match.id))) for result, match in told]
    inbox.add_entries(session, MATCH_FINISHED, [report for report in reports if report[1]["match"] in arranged])
    outbox.send(session, MATCH_FINISHED, reports)


def _owners(result: Result) -> set[str]:
    """Return the ids of the owners of the bots, without those of house bots."""
    return {owner for owner in result.owners if owner is not None}


def _describe(
    result: Result, match: StoredMatch, names: dict[str, str], ratings: Sequence[SeatRating | None] | None
) -> Json:
    """Return the payload of the message about a result."""
    seats = [
        {
            "seat": seat,
            "bot": bot,
            "name": names[bot],
            "entrant": result.entrants[seat],
            "placement": result.placements[seat],
            "returns": result.returns[seat],
            "rating": _describe_rating(ratings[seat] if ratings else None),
        }
        for seat, bot in enumerate(result.bots)
    ]
    return {"match": match.id, "game": match.game, "tournament": match.tournament_id, "seats": seats}


def _describe_rating(rating: SeatRating | None) -> dict[str, Any] | None:
    if rating is None:
        return None
    scores = {"expected": round(rating.expected, 3), "scored": round(rating.scored, 3)}
    return {"before_micro": rating.before, "change_micro": rating.change, **scores}
