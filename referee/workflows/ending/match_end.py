"""End matches in one transaction: store their logs and their results.

One sequence numbers the results of all matches. The last match of a deal group also closes the group, which signs logs
and changes ratings (``deal_group_closing``).
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from referee.bots import house_bots
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.leases import NO_LEASE
from referee.db.prepared import Prepared, insert_columns
from referee.errors import StaleEpoch
from referee.house.players import is_house
from referee.ladders import ledger, ratings
from referee.ladders.tables import Ladder
from referee.match.log import parse_row
from referee.matches.logs import logs
from referee.matches.logs.chain import ChainWriter
from referee.matches.logs.recording import MatchUpdate, write_reports
from referee.matches.queue import claims
from referee.matches.scheduling import counts_on_ladder
from referee.matches.states import MatchState
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.workflows.ending import deal_group_closing, health
from referee.workflows.ending.deal_group_closing import ClosedGroup


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

    ``tail`` has the rows not recorded yet, with the result row last; ``recorded`` has all rows before them.
    ``unreachable_seats`` were retired because of too many faults, or have an address that the policy refuses.
    """

    tail: MatchUpdate
    recorded: Sequence[bytes]
    outcome: MatchResult
    unreachable_seats: Collection[int] = ()


class MatchEnd(NamedTuple):
    """Hold the result of a match and, if its deal group was closed with it, what that revealed."""

    result: Result
    closed: ClosedGroup | None


def finish_match(session: Session, tail: MatchUpdate, outcome: MatchResult, *, master_key: bytes) -> Result:
    """End one match and return its result; see ``finish_matches``."""
    session.flush()
    recorded = logs.recorded_lines(session, tail.match_id)
    return finish_matches(session, [FinishedMatch(tail, recorded, outcome)], master_key=master_key)[0].result


def finish_matches(session: Session, finished: Sequence[FinishedMatch], *, master_key: bytes) -> list[MatchEnd]:
    """End all of these matches or, if an error is raised, none of them. Return their results in the same order.

    A result counts on a ladder if the match is rated and ``scheduling.counts_on_ladder`` holds for its seats. Bots that
    were unreachable in too many consecutive matches are paused. Raise ``StaleEpoch`` and change nothing if a claim
    is no longer valid.
    """
    session.flush()  # the statements below bypass the session's unit of work
    in_order = sorted(finished, key=lambda match: match.tail.match_id)  # to prevent deadlocks
    terms = _set_finished(session, [match.tail for match in in_order])
    seats = _store_seat_results(session, in_order)
    ended = {
        match.tail.match_id: _end_match(session, match, its_terms, its_seats)
        for match, its_terms, its_seats in zip(in_order, terms, seats, strict=True)
    }
    _update_unreachable_streaks(session, [(match, ended[match.tail.match_id]) for match in in_order])
    # The lock for which all runners wait comes last. It makes results numbered in the order of their commits.
    ledger.lock_ledger(session)
    results = _enter_results(session, [ended[match.tail.match_id] for match in finished])
    # Only now: a group whose last matches end together must not be closed before all of their results are stored.
    closed, chain = {}, ChainWriter(session, master_key)
    for group_id in dict.fromkeys(match.group_id for match in ended.values()):
        last_rows = {match_id: match.last_row for match_id, match in ended.items() if match.group_id == group_id}
        closed[group_id] = deal_group_closing.close_if_over(
            session, group_id, master_key=master_key, last_lines=last_rows, chain=chain
        )
    return [MatchEnd(result, closed[ended[result.match_id].group_id]) for result in results]


@dataclass(frozen=True, slots=True)
class _EndedMatch:
    """Hold a match whose log and seats are stored. In ``result``, only the number is missing."""

    group_id: str
    result: dict[str, Any]
    last_row: tuple[int, bytes]  # number and bytes


def _end_match(
    session: Session, finished: FinishedMatch, match: "_MatchTerms", seats: Sequence["_Seat"]
) -> _EndedMatch:
    """Store the log and the faults of a match that is finished."""
    tail, outcome = finished.tail, finished.outcome
    if len(finished.recorded) != tail.start:
        raise ValueError(f"{len(finished.recorded)} recorded rows, but the last ones begin at {tail.start}")
    lines = [*finished.recorded, *tail.lines]
    anchors = [house_bots.find_anchor(seat.bot_url, match.game, match.options, match.seats) for seat in seats]
    write_reports(session, [tail])
    result = {
        "match_id": tail.match_id,
        "ladder_id": _ladder_id(session, match, seats, anchors),
        "bots": [seat.bot_id for seat in seats],
        "entrants": [seat.entrant_id or seat.bot_id for seat in seats],
        "rated": [seat.rated for seat in seats],
        "placements": list(outcome.placements),
        "owners": [None if is_house(seat.bot_url) else seat.owner_id for seat in seats],
        "versions": [seat.version for seat in seats],
        "anchors": anchors,
        "returns": list(outcome.returns),
        "scores": list(outcome.scores),
        "digest": logs.pack_log(session, tail.match_id, lines),
        "engine_version": parse_row(lines[0])["engine_version"],
        "finished_at": match.finished_at,
    }
    return _EndedMatch(match.group_id, result, (len(lines) - 1, lines[-1]))


def _update_unreachable_streaks(session: Session, ended: Sequence[tuple[FinishedMatch, _EndedMatch]]) -> None:
    if not any(finished.unreachable_seats for finished, _ in ended):
        health.reset_unreachable_streaks(session, [bot for _, match in ended for bot in match.result["bots"]])
        return
    for finished, match in ended:
        bots = match.result["bots"]
        missed = [bots[seat] for seat in finished.unreachable_seats]
        health.update_unreachable_streaks(session, finished.tail.match_id, unreachable=missed, seated=bots)


def _enter_results(session: Session, matches: Sequence[_EndedMatch]) -> list[Result]:
    """Store the results with the next numbers, in this order."""
    values = [match.result for match in matches]
    added = _ADD_RESULT.rows_of_each(session, values)
    counted = Counter(ladder_id for result in values if (ladder_id := result["ladder_id"]) is not None)
    _COUNT_RESULTS.execute_each(session, [{"of": ladder_id, "added": added} for ladder_id, added in counted.items()])
    return [Result(seq=seq, **result) for ((seq,),), result in zip(added, values, strict=True)]


def _set_finished(session: Session, tails: Sequence[MatchUpdate]) -> list["_MatchTerms"]:
    now = current_time(session)
    claimed = [{"of": tail.match_id, "held": tail.epoch, "start": tail.start, "finished_at": now} for tail in tails]
    ended = _END.rows_of_each(session, claimed)
    for tail, rows in zip(tails, ended, strict=True):
        if not rows:
            raise StaleEpoch(f"epoch {tail.epoch} of match {tail.match_id} is over, or it has not {tail.start} rows")
    return [_MatchTerms(*row) for (row,) in ended]


def _store_seat_results(session: Session, finished: Sequence[FinishedMatch]) -> list[list["_Seat"]]:
    """Store the result of each seat. Return the seats of each match with their owners, in seat order."""
    match_ids = [match.tail.match_id for match in finished]
    found = _SEATED.rows_of_each(session, [{"of": match_id} for match_id in match_ids])
    seated = [[_Seat(*row) for row in rows] for rows in found]
    _END_SEAT.execute_all(
        session,
        [
            {"of": match_id, "at": seat.seat, "faults": faults, "placement": placement, "returns": returns}
            for match_id, seats, outcome in zip(match_ids, seated, (match.outcome for match in finished), strict=True)
            for seat, faults, placement, returns in zip(
                seats, outcome.faults, outcome.placements, outcome.returns, strict=True
            )
        ],
    )
    return seated


def _ladder_id(
    session: Session, match: "_MatchTerms", seats: Sequence["_Seat"], anchors: Sequence[int | None]
) -> str | None:
    """Return the id of the ladder on which the match counts, or None if it counts on none."""
    if not match.rated or not counts_on_ladder([seat.owner_id for seat in seats if seat.rated], anchors):
        return None
    return ratings.get_or_create_ladder_id(session, match.game, match.options, match.seats)


class _MatchTerms(NamedTuple):
    game: str
    options: dict[str, Any]
    seats: int
    rated: bool
    group_id: str
    finished_at: datetime


class _Seat(NamedTuple):
    seat: int
    bot_id: str
    entrant_id: str | None
    rated: bool
    version: str | None
    owner_id: str
    bot_url: str


_MATCHES, _SEATS, _BOTS, _RESULTS, _LADDERS = (
    model.__table__ for model in (StoredMatch, MatchSeat, Bot, Result, Ladder)
)
_END: Final = Prepared(
    update(_MATCHES)
    .where(claims.LEASES.fence(bindparam("of"), bindparam("held")), _MATCHES.c.rows == bindparam("start"))
    .values(status=MatchState.FINISHED, finished_at=bindparam("finished_at"), **NO_LEASE)
    .returning(*(_MATCHES.c[name] for name in _MatchTerms._fields))
)
_SEATED: Final = Prepared(
    select(*(_SEATS.c[name] for name in _Seat._fields[:-2]), _BOTS.c.owner_id, _BOTS.c.url)
    .join_from(_SEATS, _BOTS, _BOTS.c.id == _SEATS.c.bot_id)
    .where(_SEATS.c.match_id == bindparam("of"))
    .order_by(_SEATS.c.seat)
)
_END_SEAT: Final = Prepared(
    update(_SEATS)
    .where(_SEATS.c.match_id == bindparam("of"), _SEATS.c.seat == bindparam("at"))
    .values({name: bindparam(name) for name in ("faults", "placement", "returns")})
)
_COUNT_RESULTS: Final = Prepared(
    update(_LADDERS).where(_LADDERS.c.id == bindparam("of")).values(results=_LADDERS.c.results + bindparam("added"))
)
_ADD_RESULT: Final = Prepared(insert_columns(_RESULTS, without=["seq"]).returning(_RESULTS.c.seq))
