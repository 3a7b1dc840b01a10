"""Compute statistics of a bot's last matches by opponent, seat and version."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.matches.lists.results import select_public
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.matches.usual_states import is_finished

MAX_MATCHES: Final = 1_000  # most recent matches that are counted


@dataclass(frozen=True, slots=True)
class SeatResult:
    """Hold a bot's result in a finished match with a public log. ``rivals`` are the opponents' ids and placements."""

    match_id: str
    game: str
    seats: int
    seat: int
    version: str | None
    finished_at: datetime
    placement: int
    score: int
    faults: int
    rivals: Sequence[tuple[str, int]]


@dataclass
class BotTotals:
    """Sum results over matches. ``ahead``, ``level`` and ``behind`` compare the bot with one opponent."""

    matches: int = 0
    placements: int = 0
    scores: int = 0
    faults: int = 0
    ahead: int = 0
    level: int = 0
    behind: int = 0
    first_at: datetime | None = field(default=None)
    last_at: datetime | None = field(default=None)

    def add(self, played: SeatResult) -> None:
        self.matches += 1
        self.placements += played.placement
        self.scores += played.score
        self.faults += played.faults
        self.first_at = min(self.first_at or played.finished_at, played.finished_at)
        self.last_at = max(self.last_at or played.finished_at, played.finished_at)

    @property
    def mean_placement(self) -> float:
        return self.placements / self.matches

    @property
    def mean_score(self) -> float:
        return self.scores / self.matches

    @property
    def mean_faults(self) -> float:
        return self.faults / self.matches


def load_last_results(session: Session, bot_id: str, *, limit: int = MAX_MATCHES) -> list[SeatResult]:
    """Return a bot's results in its last ``limit`` matches, newest first.

    Omit voided matches and those whose deal groups are not closed. This takes about 50 ms for a bot with 10,000
    matches.
    """
    own = select(MatchSeat.seat, MatchSeat.version, MatchSeat.faults, Result.seq)
    own = own.join(Result, Result.match_id == MatchSeat.match_id).where(MatchSeat.bot_id == bot_id)
    last = own.order_by(Result.seq.desc()).limit(limit).subquery()
    columns = last.c.seat, last.c.version, last.c.faults, StoredMatch.game, StoredMatch.seats
    of_result = Result.match_id, Result.bots, Result.placements, Result.scores, Result.finished_at
    query = select_public(*columns, *of_result).join(last, Result.seq == last.c.seq).where(is_finished())
    return [_read_result(row) for row in session.execute(query.order_by(last.c.seq.desc()))]


def by_seat(played: Sequence[SeatResult]) -> dict[tuple[int, int], BotTotals]:
    """Return totals, keyed by (number of seats, own seat from 0), in ascending order."""
    return dict(sorted(_sum_results(((result.seats, result.seat), result) for result in played).items()))


def by_version(played: Sequence[SeatResult]) -> dict[str | None, BotTotals]:
    """Return totals, keyed by version, the most recent version first."""
    return _sum_results((result.version, result) for result in played)


def by_rival(played: Sequence[SeatResult]) -> dict[str, BotTotals]:
    """Return totals, keyed by the opponent's id, the most frequent opponent first."""
    tallies = _sum_results((rival, result) for result in played for rival, _ in result.rivals)
    for result in played:
        for rival, placement in result.rivals:
            tally = tallies[rival]
            tally.ahead += result.placement < placement
            tally.level += result.placement == placement
            tally.behind += result.placement > placement
    return dict(sorted(tallies.items(), key=lambda item: (-item[1].matches, item[0])))


def _sum_results(pairs: Iterator[tuple[Any, SeatResult]]) -> dict[Any, BotTotals]:
    tallies: dict[Any, BotTotals] = {}
    for key, played in pairs:
        tallies.setdefault(key, BotTotals()).add(played)
    return tallies


def _read_result(row: Any) -> SeatResult:
    rivals = [
        (bot, placement)
        for seat, (bot, placement) in enumerate(zip(row.bots, row.placements, strict=True))
        if seat != row.seat
    ]
    placed = row.placements[row.seat], row.scores[row.seat]
    table = row.match_id, row.game, row.seats, row.seat, row.version, row.finished_at
    return SeatResult(*table, *placed, row.faults, rivals)
