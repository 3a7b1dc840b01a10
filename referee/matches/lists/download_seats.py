"""Load the seats of matches with results, as rows of a download."""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.csv_table import Cells, cell
from referee.matches.tables import MatchSeat, Result, StoredMatch

SEAT_COLUMNS: Final = (
    *("seq", "match", "tournament", "tournament_round", "table", "leg", "group", "status", "reason", "finished_at"),
    *("seat", "bot", "name", "version", "owner", "entrant", "rated", "anchor_micro", "placement", "returns"),
)
SeatRow = dict[str, Any]  # keyed by ``SEAT_COLUMNS``; ``owner`` is None for house players, ``anchor_micro`` for others


def seat_cells(seat: SeatRow) -> Cells:
    """Return the cells of ``SEAT_COLUMNS``."""
    return [cell(seat.get(name)) for name in SEAT_COLUMNS]


def seats_of(session: Session, played: Sequence[tuple[Result, StoredMatch]]) -> list[SeatRow]:
    """Return the seats of these matches in order, all seats of one match before those of the next."""
    query = select(MatchSeat).where(MatchSeat.match_id.in_([match.id for _, match in played]))
    named = {(seat.match_id, seat.seat): seat for seat in session.scalars(query)}
    return [
        _seat(result, match, number, named[match.id, number])
        for result, match in played
        for number in range(len(result.bots))
    ]


def _seat(result: Result, match: StoredMatch, number: int, seat: MatchSeat) -> SeatRow:
    of_match = match.id, match.tournament_id, match.tournament_round, match.table_no, match.leg, match.group_id
    ended = match.status, match.reason, result.finished_at
    player = number, result.bots[number], seat.bot_name, result.versions[number], result.owners[number]
    counted = result.entrants[number], seat.rated, result.anchors[number]
    values = result.seq, *of_match, *ended, *player, *counted, result.placements[number], result.returns[number]
    return dict(zip(SEAT_COLUMNS, values, strict=True))
