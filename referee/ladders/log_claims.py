"""Derive the values of a stored match, its seats and its result from its log."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.errors import BadLog, LogDeleted
from referee.ladders import ratings
from referee.match.log import digest, parse_row
from referee.match.verification import VerificationReport, verify
from referee.matches import logs
from referee.matches.scheduling import counts_on_ladder
from referee.matches.tables import MatchLog, MatchSeat, Result, StoredMatch

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SeatWithOwner:
    """Hold a seat with its bot's owner. ``counts`` is false for substitutes and house bots, which are not rated."""

    row: MatchSeat
    owner_id: str
    is_house: bool

    @property
    def counts(self) -> bool:
        return self.row.entrant_id is None and not self.is_house


@dataclass(frozen=True, slots=True)
class DerivedRecords:
    """Hold the derived values of the match, of each seat and of the result, keyed by column."""

    match: Json
    seats: list[Json]
    result: Json

    def differing(self, match: StoredMatch, seats: Sequence[SeatWithOwner], result: Result) -> Iterator["Deviation"]:
        """Yield the rows whose stored values differ."""
        yield from _compare_row("match", match, self.match)
        for seat, proven in zip(seats, self.seats, strict=False):
            yield from _compare_row("seats", seat.row, proven)
        yield from _compare_row("result", result, self.result)


@dataclass(frozen=True, slots=True)
class Deviation:
    """Describe a row with columns that differ from the derived values. ``kind`` is "match", "seats" or "result"."""

    kind: str
    row: StoredMatch | MatchSeat | Result
    stored: Json
    derived: Json


def load_seats(session: Session, match_ids: Sequence[str]) -> dict[str, list[SeatWithOwner]]:
    """Return the seats of each match in seat order, keyed by match id."""
    query = select(MatchSeat, Bot.owner_id, Bot.status).join(Bot, Bot.id == MatchSeat.bot_id)
    query = query.where(MatchSeat.match_id.in_(match_ids)).order_by(MatchSeat.match_id, MatchSeat.seat)
    found: dict[str, list[SeatWithOwner]] = {match_id: [] for match_id in match_ids}
    for row, owner_id, status in session.execute(query):
        found[row.match_id].append(SeatWithOwner(row, owner_id, status == BotState.HOUSE))
    return found


def replay_stored_log(session: Session, match_id: str, log: MatchLog) -> tuple[list[bytes], VerificationReport]:
    """Return the rows of a stored log and the report of its replay.

    Raise ``BadLog`` for a log that cannot be read or replayed, or that differs from its stored match id, number of rows
    or digest.
    """
    try:
        lines = logs.log_lines(session, match_id)
        return lines, replay_lines(match_id, log, lines)
    except LogDeleted as error:  # but the match does not say so
        raise BadLog(0, "the stored log is empty") from error
    except (TypeError, ValueError) as error:  # the stored value may be of a wrong type
        raise BadLog(0, f"the stored log cannot be read: {error}") from error


def replay_lines(match_id: str, log: MatchLog, lines: Sequence[bytes]) -> VerificationReport:
    """Replay a stored log, and return the report. Raise ``BadLog`` as ``replay_stored_log`` does."""
    report = verify(lines)
    if not report.ok:
        raise BadLog(report.row or 0, report.reason)
    if report.match != match_id:
        raise BadLog(0, f"it is the log of match {report.match}")
    if log.rows != len(lines) - report.revealed:
        raise BadLog(log.rows, f"this is stored as the last row, but the log has {len(lines) - report.revealed} rows")
    if digest(lines[log.rows - 1]) != log.digest:
        raise BadLog(log.rows - 1, f"its digest is stored as {log.digest}")
    return report


def derive_records(
    session: Session, lines: Sequence[bytes], rows: int, seats: Sequence[SeatWithOwner], stored: Result
) -> DerivedRecords:
    """Return the values derived from a verified log and its seats.

    The ratings of anchors are those of the ``stored`` result, because a later calibration does not change them.
    """
    header, last = parse_row(lines[0]), parse_row(lines[rows - 1])
    match = {name: header[name] for name in ("game", "options", "seats", "rated")} | header["time"]
    bots = [player["bot"] for player in header["players"]]
    counts = [seat.counts for seat in seats]
    result = {"bots": bots, **{name: last[name] for name in ("placements", "returns", "scores")}}
    result |= {"entrants": [seat.row.entrant_id or bot for seat, bot in zip(seats, bots, strict=False)]}
    result |= {"rated": counts, "engine_version": header["engine_version"], "digest": digest(lines[rows - 1])}
    anchors = _anchors(seats, stored)
    result |= {"owners": [None if seat.is_house else seat.owner_id for seat in seats], "anchors": anchors}
    result |= {"versions": [player["version"] for player in header["players"]]}
    result |= {"ladder_id": _ladder_id(session, match, [seat.owner_id for seat in seats if seat.counts], anchors)}
    by_seat = zip(bots, counts, last["placements"], last["returns"], strict=False)
    names = ("bot_id", "rated", "placement", "returns")
    return DerivedRecords(match, [dict(zip(names, values, strict=True)) for values in by_seat], result)


def _anchors(seats: Sequence[SeatWithOwner], stored: Result) -> list[int | None]:
    """Return the stored ratings of anchors, which only house players have."""
    ratings_by_seat = stored.anchors if isinstance(stored.anchors, list) else []
    return [
        rating if seat.is_house and isinstance(rating, int) else None
        for seat, rating in zip_longest(seats, ratings_by_seat[: len(seats)])
    ]


def _ladder_id(session: Session, match: Json, owners: Sequence[str], anchors: Sequence[int | None]) -> str | None:
    """Return the ladder on which the match counts, or None if it counts on none."""
    if not match["rated"] or not counts_on_ladder(owners, anchors):
        return None
    ladder = ratings.find_ladder(session, match["game"], match["options"], match["seats"])
    return None if ladder is None else ladder.id


def _compare_row(kind: str, row: StoredMatch | MatchSeat | Result, derived: Json) -> Iterator[Deviation]:
    wrong = {name: getattr(row, name) for name, value in derived.items() if getattr(row, name) != value}
    if wrong:
        yield Deviation(kind, row, wrong, {name: derived[name] for name in wrong})
