"""End matches in one transaction: store their logs and their results.

One sequence numbers the results of all matches. The last match of a deal group also closes the group, which changes
ratings (``deal_group_closing``).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.leases import NO_LEASE
from referee.db.prepared import Prepared, insert_columns
from referee.errors import StaleEpoch
from referee.ladders import ledger, ratings
from referee.match.log import parse_row
from referee.matches import claims, logs
from referee.matches.recording import MatchUpdate, write_fault_reports
from referee.matches.states import MatchState
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.webhooks import outbox
from referee.workflows import deal_group_closing, health


@dataclass(frozen=True, slots=True)
class MatchResult:
    """Hold the result of a match. Each list is in order of seats."""

    placements: Sequence[int]
    returns: Sequence[int]
    scores: Sequence[int]
    faults: Sequence[int]


@dataclass(frozen=True, slots=True)
class FinishedMatch:
    """Describe a match to end.

    ``tail`` has the rows not recorded yet, with the result row last. ``unreachable_seats`` were retired because of too
    many faults, or have an address that the policy refuses.
    """

    tail: MatchUpdate
    outcome: MatchResult
    unreachable_seats: Collection[int] = ()


def finish_match(session: Session, tail: MatchUpdate, outcome: MatchResult, *, master_key: bytes) -> Result:
    """End one match; see ``finish_matches``."""
    return finish_matches(session, [FinishedMatch(tail, outcome)], master_key=master_key)[0]


def finish_matches(session: Session, finished: Sequence[FinishedMatch], *, master_key: bytes) -> list[Result]:
    """End all of these matches or, if an error is raised, none of them. Return their results.

    A result counts on a ladder if the match is rated and has at least two rated seats, each of a different owner. Bots
    that were unreachable in too many consecutive matches are paused. Raise ``StaleEpoch`` and change nothing if a claim
    is no longer valid.
    """
    session.flush()  # the statements below bypass the session's unit of work
    in_order = sorted(finished, key=lambda match: match.tail.match_id)  # to prevent deadlocks
    ended = {match.tail.match_id: _end_match(session, match) for match in in_order}
    _update_unreachable_streaks(session, [(match, ended[match.tail.match_id]) for match in in_order])
    # The lock for which all runners wait comes last. It makes results numbered in the order of their commits.
    ledger.lock_ledger(session)
    results = [_enter_result(session, ended[match.tail.match_id]) for match in finished]
    # Only now: a group whose last matches end together must not be closed before all of their results are stored.
    for group_id in dict.fromkeys(match.group_id for match in ended.values()):
        last_rows = {match_id: match.last_row for match_id, match in ended.items() if match.group_id == group_id}
        deal_group_closing.close_if_over(session, group_id, master_key=master_key, last_lines=last_rows)
    return results


@dataclass(frozen=True, slots=True)
class _EndedMatch:
    """Hold a match whose log and seats are stored. In ``result``, only the number is missing."""

    group_id: str
    tournament_id: str | None
    result: dict[str, Any]
    last_row: tuple[int, bytes]  # number and bytes


def _end_match(session: Session, finished: FinishedMatch) -> _EndedMatch:
    """Store everything about the end of a match that does not depend on other matches."""
    tail, outcome = finished.tail, finished.outcome
    match = _set_finished(session, tail)
    lines = logs.recorded_lines(session, tail.match_id)
    if len(lines) != tail.start:
        raise StaleEpoch(f"match {tail.match_id} has {len(lines)} recorded rows, the last ones begin at {tail.start}")
    lines += tail.lines
    seats = _store_seat_results(session, tail.match_id, outcome)
    write_fault_reports(session, [tail])
    result = {
        "match_id": tail.match_id,
        "ladder_id": _ladder_id(session, match, seats),
        "bots": [seat.bot_id for seat in seats],
        "entrants": [seat.entrant_id or seat.bot_id for seat in seats],
        "rated": [seat.rated for seat in seats],
        "placements": list(outcome.placements),
        "returns": list(outcome.returns),
        "scores": list(outcome.scores),
        "digest": logs.pack_log(session, tail.match_id, lines),
        "engine_version": parse_row(lines[0])["engine_version"],
        "finished_at": match.finished_at,
    }
    _notify_owners(session, match, seats, result)
    return _EndedMatch(match.group_id, match.tournament_id, result, (len(lines) - 1, lines[-1]))


def _update_unreachable_streaks(session: Session, ended: Sequence[tuple[FinishedMatch, _EndedMatch]]) -> None:
    if not any(finished.unreachable_seats for finished, _ in ended):
        health.reset_unreachable_streaks(session, [bot for _, match in ended for bot in match.result["bots"]])
        return
    for finished, match in ended:
        bots = match.result["bots"]
        missed = [bots[seat] for seat in finished.unreachable_seats]
        health.update_unreachable_streaks(session, finished.tail.match_id, unreachable=missed, seated=bots)


def _enter_result(session: Session, match: _EndedMatch) -> Result:
    """Store the result with the next number."""
    ((seq,),) = _ADD_RESULT.rows(session, match.result)
    return Result(seq=seq, **match.result)


def _notify_owners(session: Session, match: "_MatchTerms", seats: Sequence["_Seat"], result: Mapping[str, Any]) -> None:
    ends = zip(seats, result["placements"], result["returns"], strict=True)
    payload = {
        "match": result["match_id"],
        "game": match.game,
        "tournament": match.tournament_id,
        "seats": [
            {
                "seat": seat.seat,
                "bot": seat.bot_id,
                "entrant": seat.entrant_id or seat.bot_id,
                "placement": placement,
                "returns": returns,
            }
            for seat, placement, returns in ends
        ],
    }
    outbox.emit(session, "match.finished", [seat.owner_id for seat in seats], payload)


def _set_finished(session: Session, tail: MatchUpdate) -> "_MatchTerms":
    claim = {"of": tail.match_id, "held": tail.epoch, "finished_at": current_time(session)}
    ended = _END.rows(session, claim)
    if not ended:
        raise StaleEpoch(f"epoch {tail.epoch} of match {tail.match_id} is over")
    return _MatchTerms(*ended[0])


def _store_seat_results(session: Session, match_id: str, outcome: MatchResult) -> list["_Seat"]:
    """Store the result of each seat. Return the seats with their owners, in seat order."""
    seats = [_Seat(*row) for row in _SEATED.rows(session, {"of": match_id})]
    ends = zip(seats, outcome.faults, outcome.placements, outcome.returns, strict=True)
    _END_SEAT.execute_all(
        session,
        [
            {"of": match_id, "at": seat.seat, "faults": faults, "placement": placement, "returns": returns}
            for seat, faults, placement, returns in ends
        ],
    )
    return seats


def _ladder_id(session: Session, match: "_MatchTerms", seats: Sequence["_Seat"]) -> str | None:
    """Return the id of the ladder on which the match counts, or None if it counts on none."""
    owners = [seat.owner_id for seat in seats if seat.rated]
    if not match.rated or len(owners) < 2 or len(set(owners)) < len(owners):
        return None
    return ratings.get_or_create_ladder_id(session, match.game, match.options, match.seats)


class _MatchTerms(NamedTuple):
    game: str
    options: dict[str, Any]
    seats: int
    rated: bool
    group_id: str
    tournament_id: str | None
    finished_at: datetime


class _Seat(NamedTuple):
    seat: int
    bot_id: str
    entrant_id: str | None
    rated: bool
    owner_id: str


_MATCHES, _SEATS, _BOTS, _RESULTS = (model.__table__ for model in (StoredMatch, MatchSeat, Bot, Result))
_END: Final = Prepared(
    update(_MATCHES)
    .where(claims.LEASES.fence(bindparam("of"), bindparam("held")))
    .values(status=MatchState.FINISHED, finished_at=bindparam("finished_at"), **NO_LEASE)
    .returning(*(_MATCHES.c[name] for name in _MatchTerms._fields))
)
_SEATED: Final = Prepared(
    select(*(_SEATS.c[name] for name in _Seat._fields[:-1]), _BOTS.c.owner_id)
    .join_from(_SEATS, _BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .where(_SEATS.c.match_id == bindparam("of"))
    .order_by(_SEATS.c.seat)
)
_END_SEAT: Final = Prepared(
    update(_SEATS)
    .where(_SEATS.c.match_id == bindparam("of"), _SEATS.c.seat == bindparam("at"))
    .values({name: bindparam(name) for name in ("faults", "placement", "returns")})
)
_ADD_RESULT: Final = Prepared(insert_columns(_RESULTS, without=["seq"]).returning(_RESULTS.c.seq))
