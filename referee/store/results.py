"""The end of a match, in one transaction: log, result in the total order, ratings, and the group's reveal."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from referee.errors import NotFound, StaleEpoch
from referee.rows import parsed
from referee.store import claims, groups, logs, ratings
from referee.store.db import changed, now, queue_up
from referee.store.recording import Record, write_evidence
from referee.store.schema import Match, MatchSeat, Result


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the match ended, each list by seat."""

    placements: Sequence[int]
    returns: Sequence[int]
    scores: Sequence[int]
    faults: Sequence[int]


def finish(session: Session, tail: Record, outcome: Outcome, *, master_key: bytes) -> Result:
    """Ends a match: ``tail`` holds the rows not recorded yet, the result row last. All of it happens or nothing.

    Raises ``StaleEpoch`` when the match is no longer ours. Ratings move when the match is rated and no two of
    its bots have one owner.
    """
    match = _ended(session, tail)
    lines = logs.log_lines(session, match.id)
    if len(lines) != tail.start:
        raise StaleEpoch(f"match {match.id} has {len(lines)} recorded rows, the last ones begin at {tail.start}")
    lines += tail.lines
    seats = _seats(session, match.id, outcome)
    write_evidence(session, [tail])
    queue_up(session, "results")  # so that the numbers of results are in the order of their commits
    rated = match.rated and ratings.different_owners(session, [seat.bot_id for seat in seats])
    result = Result(
        match_id=match.id,
        ladder_id=ratings.ladder_for(session, match.game, match.options, match.seats).id if rated else None,
        bots=[seat.bot_id for seat in seats],
        entrants=[seat.entrant_id or seat.bot_id for seat in seats],
        rated=[seat.rated for seat in seats],
        placements=list(outcome.placements),
        returns=list(outcome.returns),
        scores=list(outcome.scores),
        digest=logs.pack(session, match.id, lines),
        engine_version=parsed(lines[0])["engine_version"],
        finished_at=match.finished_at,
    )
    session.add(result)
    session.flush()
    ratings.apply(session, result)
    groups.close_if_over(session, match.group_id, master_key=master_key)
    return result


def result_of(session: Session, match_id: str) -> Result:
    """The result of a finished match; raises ``NotFound``."""
    result = session.scalar(select(Result).where(Result.match_id == match_id))
    if result is None:
        raise NotFound("result", match_id)
    return result


def _ended(session: Session, tail: Record) -> Match:
    if not claims.ours_of(session, [(tail.match_id, tail.epoch)]):
        raise StaleEpoch(f"epoch {tail.epoch} of match {tail.match_id} is over")
    values = {"status": "finished", "finished_at": now(session), "lease_boot": None, "lease_until": None}
    changed(session, update(Match).where(Match.id == tail.match_id).values(values))
    return session.get_one(Match, tail.match_id, populate_existing=True)


def _seats(session: Session, match_id: str, outcome: Outcome) -> list[MatchSeat]:
    query = select(MatchSeat).where(MatchSeat.match_id == match_id).order_by(MatchSeat.seat)
    seats = list(session.scalars(query))
    for seat, faults, placement, returns in zip(
        seats, outcome.faults, outcome.placements, outcome.returns, strict=True
    ):
        seat.faults, seat.placement, seat.returns = faults, placement, returns
    return seats
