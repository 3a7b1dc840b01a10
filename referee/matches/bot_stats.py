"""How a bot did in its last matches: against whom, from which seat, with which version."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.matches.tables import DealGroup, Match, MatchSeat, Result

MATCHES: Final = 1_000  # the last so many are counted


@dataclass(frozen=True, slots=True)
class SeatResult:
    """A finished match whose cards are open, as this bot met it. ``rivals`` are their ids and placements."""

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
    """Some of these matches added up. Against a rival, ``ahead`` counts those in which the bot was placed before it."""

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


def last_played(session: Session, bot_id: str, *, limit: int = MATCHES) -> list[SeatResult]:
    """The last matches of a bot that ended and whose deal groups are over, the newest first; without those that became
    void. Of so many, not fewer: a bot of 10,000 matches costs some 50 ms."""
    own = select(MatchSeat.seat, MatchSeat.version, MatchSeat.faults, Result.seq)
    own = own.join(Result, Result.match_id == MatchSeat.match_id).where(MatchSeat.bot_id == bot_id)
    last = own.order_by(Result.seq.desc()).limit(limit).subquery()
    columns = last.c.seat, last.c.version, last.c.faults, Match.game, Match.seats
    of_result = Result.match_id, Result.bots, Result.placements, Result.scores, Result.finished_at
    query = select(*columns, *of_result).join(Result, Result.seq == last.c.seq).join(Match, Match.id == Result.match_id)
    query = query.join(DealGroup, DealGroup.id == Match.group_id).where(
        Match.status == "finished", DealGroup.state == "over"
    )
    return [_read_result(row) for row in session.execute(query.order_by(last.c.seq.desc()))]


def by_seat(played: Sequence[SeatResult]) -> dict[tuple[int, int], BotTotals]:
    """By how many sat at the table and the bot's own seat, in this order."""
    return dict(sorted(_sum_results(((one.seats, one.seat), one) for one in played).items()))


def by_version(played: Sequence[SeatResult]) -> dict[str | None, BotTotals]:
    """The version of the latest match first."""
    return _sum_results((one.version, one) for one in played)


def by_rival(played: Sequence[SeatResult]) -> dict[str, BotTotals]:
    """The most frequent first."""
    tallies = _sum_results((rival, one) for one in played for rival, _ in one.rivals)
    for one in played:
        for rival, placement in one.rivals:
            tally = tallies[rival]
            tally.ahead += one.placement < placement
            tally.level += one.placement == placement
            tally.behind += one.placement > placement
    return dict(sorted(tallies.items(), key=lambda item: (-item[1].matches, item[0])))


def _sum_results(pairs: Iterator[tuple[Any, SeatResult]]) -> dict[Any, BotTotals]:
    tallies: dict[Any, BotTotals] = {}
    for key, played in pairs:
        tallies.setdefault(key, BotTotals()).add(played)
    return tallies


def _read_result(row: Any) -> SeatResult:
    rivals = [
        (bot, placement)
        for at, (bot, placement) in enumerate(zip(row.bots, row.placements, strict=True))
        if at != row.seat
    ]
    placed = row.placements[row.seat], row.scores[row.seat]
    table = row.match_id, row.game, row.seats, row.seat, row.version, row.finished_at
    return SeatResult(*table, *placed, row.faults, rivals)
