"""End a match in one transaction: store its log and its result, which gets a number in the order of all results.

The last match of a deal group also closes the group, which changes ratings (``deal_group_closing``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import RowMapping, bindparam, insert, select, update
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.leases import NO_LEASE
from referee.errors import StaleEpoch
from referee.ladders import ledger, ratings
from referee.match.log import parse_row
from referee.matches import claims, logs
from referee.matches.recording import MatchUpdate, write_fault_reports
from referee.matches.states import MatchState
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.webhooks import outbox
from referee.workflows import deal_group_closing


@dataclass(frozen=True, slots=True)
class MatchResult:
    """Hold the result of a match. Each list is in order of seats."""

    placements: Sequence[int]
    returns: Sequence[int]
    scores: Sequence[int]
    faults: Sequence[int]


def finish_match(session: Session, tail: MatchUpdate, outcome: MatchResult, *, master_key: bytes) -> Result:
    """End a match, completely or not at all. ``tail`` has the rows not recorded yet, with the result row last.

    The result counts on a ladder if the match is rated and has at least two rated seats, each of a different owner.
    Raise ``StaleEpoch``, with nothing changed, when the claim is no longer valid.
    """
    session.flush()  # the statements below bypass the session's unit of work
    match = _end_match(session, tail)
    lines = logs.recorded_lines(session, tail.match_id)
    if len(lines) != tail.start:
        raise StaleEpoch(f"match {tail.match_id} has {len(lines)} recorded rows, the last ones begin at {tail.start}")
    lines += tail.lines
    seats = _store_seat_results(session, tail.match_id, outcome)
    write_fault_reports(session, [tail])
    ledger.lock_ledger(session)  # so that the numbers of results are in the order of their commits
    result = {
        "match_id": tail.match_id,
        "ladder_id": _ladder_id(session, match, seats),
        "bots": [seat["bot_id"] for seat in seats],
        "entrants": [seat["entrant_id"] or seat["bot_id"] for seat in seats],
        "rated": [seat["rated"] for seat in seats],
        "placements": list(outcome.placements),
        "returns": list(outcome.returns),
        "scores": list(outcome.scores),
        "digest": logs.pack_log(session, tail.match_id, lines),
        "engine_version": parse_row(lines[0])["engine_version"],
        "finished_at": match["finished_at"],
    }
    seq = session.connection().execute(_ADD_RESULT, result).scalar_one()
    _notify_owners(session, match, seats, result)
    last = {tail.match_id: (len(lines) - 1, lines[-1])}
    deal_group_closing.close_if_over(session, match["group_id"], master_key=master_key, last_lines=last)
    return Result(seq=seq, **result)


def _notify_owners(
    session: Session, match: Mapping[Any, Any], seats: Sequence[Mapping[Any, Any]], result: Mapping[str, Any]
) -> None:
    ends = zip(seats, result["placements"], result["returns"], strict=True)
    payload = {
        "match": result["match_id"],
        "game": match["game"],
        "tournament": match["tournament_id"],
        "seats": [
            {
                "seat": seat["seat"],
                "bot": seat["bot_id"],
                "entrant": seat["entrant_id"] or seat["bot_id"],
                "placement": placement,
                "returns": returns,
            }
            for seat, placement, returns in ends
        ],
    }
    outbox.emit(session, "match.finished", [seat["owner_id"] for seat in seats], payload)


def _end_match(session: Session, tail: MatchUpdate) -> RowMapping:
    held = {"of": tail.match_id, "held": tail.epoch, "finished_at": current_time(session)}
    match = session.connection().execute(_END, held).mappings().one_or_none()
    if match is None:
        raise StaleEpoch(f"epoch {tail.epoch} of match {tail.match_id} is over")
    return match


def _store_seat_results(session: Session, match_id: str, outcome: MatchResult) -> Sequence[RowMapping]:
    """Store the result of each seat. Return the seats in order, with their owners."""
    seats = session.connection().execute(_SEATED, {"of": match_id}).mappings().all()
    ends = zip(seats, outcome.faults, outcome.placements, outcome.returns, strict=True)
    session.connection().execute(
        _END_SEAT,
        [
            {"of": match_id, "at": seat["seat"], "faults": faults, "placement": placement, "returns": returns}
            for seat, faults, placement, returns in ends
        ],
    )
    return seats


def _ladder_id(session: Session, match: Mapping[Any, Any], seats: Sequence[Mapping[Any, Any]]) -> str | None:
    """Return the id of the ladder on which the match counts, or None if it counts on none."""
    owners = [seat["owner_id"] for seat in seats if seat["rated"]]
    if not match["rated"] or len(owners) < 2 or len(set(owners)) < len(owners):
        return None
    return ratings.get_or_create_ladder_id(session, match["game"], match["options"], match["seats"])


# Built once, without the ORM: its overhead cost more than everything else that happens at the end of a match.
_MATCHES, _SEATS, _BOTS, _RESULTS = (model.__table__ for model in (StoredMatch, MatchSeat, Bot, Result))
_END: Final = (
    update(_MATCHES)
    .where(claims.LEASES.fence(bindparam("of"), bindparam("held")))
    .values(status=MatchState.FINISHED, finished_at=bindparam("finished_at"), **NO_LEASE)
    .returning(
        *(
            _MATCHES.c[name]
            for name in ("game", "options", "seats", "rated", "group_id", "tournament_id", "finished_at")
        )
    )
)
_SEATED: Final = (
    select(*(_SEATS.c[name] for name in ("seat", "bot_id", "entrant_id", "rated")), _BOTS.c.owner_id)
    .join_from(_SEATS, _BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .where(_SEATS.c.match_id == bindparam("of"))
    .order_by(_SEATS.c.seat)
)
_END_SEAT: Final = (
    update(_SEATS)
    .where(_SEATS.c.match_id == bindparam("of"), _SEATS.c.seat == bindparam("at"))
    .values({name: bindparam(name) for name in ("faults", "placement", "returns")})
)
_ADD_RESULT: Final = insert(_RESULTS).returning(_RESULTS.c.seq)
