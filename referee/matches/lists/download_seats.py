"""Load the seats of matches with results, as rows of a download."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.csv_table import Cells, cell
from referee.matches.states import MatchState
from referee.matches.tables import MatchSeat, Result, StoredMatch


@dataclass(frozen=True, slots=True)
class DownloadSeat:
    """Represent a seat of a match with a result, as one row of a download.

    ``owner`` is None for house players, ``anchor_micro`` for all but anchors.
    """

    seq: int
    match_id: str
    tournament_id: str | None
    tournament_round: int | None
    table: int | None
    leg: int | None
    group_id: str
    status: MatchState
    reason: str | None
    finished_at: datetime
    seat: int
    bot: str
    name: str
    version: str | None
    owner: str | None
    entrant: str
    rated: bool
    anchor_micro: int | None
    placement: int
    returns: int


SEAT_COLUMNS: Final = [field.name.removesuffix("_id") for field in fields(DownloadSeat)]


def seat_cells(seat: DownloadSeat) -> Cells:
    """Return the cells of ``SEAT_COLUMNS``."""
    return [cell(getattr(seat, field.name)) for field in fields(DownloadSeat)]


def seats_of(session: Session, played: Sequence[tuple[Result, StoredMatch]]) -> list[DownloadSeat]:
    """Return the seats of these matches in order, all seats of one match before those of the next."""
    query = select(MatchSeat).where(MatchSeat.match_id.in_([match.id for _, match in played]))
    named = {(seat.match_id, seat.seat): seat for seat in session.scalars(query)}
    return [
        _seat(result, match, number, named[match.id, number])
        for result, match in played
        for number in range(len(result.bots))
    ]


def _seat(result: Result, match: StoredMatch, number: int, seat: MatchSeat) -> DownloadSeat:
    return DownloadSeat(
        seq=result.seq,
        match_id=match.id,
        tournament_id=match.tournament_id,
        tournament_round=match.tournament_round,
        table=match.table_no,
        leg=match.leg,
        group_id=match.group_id,
        status=match.status,
        reason=match.reason,
        finished_at=result.finished_at,
        seat=number,
        bot=result.bots[number],
        name=seat.bot_name,
        version=seat.version if result.versions is None else result.versions[number],
        owner=None if result.owners is None else result.owners[number],
        entrant=result.entrants[number],
        rated=seat.rated,
        anchor_micro=None if result.anchors is None else result.anchors[number],
        placement=result.placements[number],
        returns=result.returns[number],
    )
