"""Compare two bots by the matches that both played, and by the cards that both held where deals were shared."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from referee.db.lookup import divide_ids
from referee.matches.lists.results import select_public
from referee.matches.states import DealSharing
from referee.matches.tables import DealGroup, MatchSeat, Result, StoredMatch
from referee.matches.usual_states import is_finished
from referee.standings import MatchOutcome
from referee_extras.analysis.luck import SameCards, compare_same_cards

MAX_MEETINGS: Final = 1_000  # most recent matches of both bots that are counted
MAX_SHARED: Final = 500  # most recent matches with shared cards that are compared
MANY: Final = 10_000  # bots with at least this many matches are not told apart by their number of matches


@dataclass(frozen=True, slots=True)
class Meeting:
    """Hold the placements of two bots in a match. Of several seats of a house player, the best placed counts."""

    game: str
    placement: int
    opponent_placement: int


@dataclass(frozen=True, slots=True)
class PairResult:
    """Count the matches in which a bot was placed ahead of another one, level with it, or behind it.

    ``same_cards`` compares their points on the same seats of the same deals, also at different tables; it is None if
    they never had the same cards.
    """

    matches: int
    ahead: int
    level: int
    behind: int
    same_cards: SameCards | None


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Hold the results of a bot against another one: in all games, and by game, the most played first.

    ``is_complete`` is false if they played more than ``MAX_MEETINGS`` matches, of which only the last are counted.
    """

    total: PairResult
    by_game: dict[str, PairResult]
    is_complete: bool


def compare_bots(session: Session, bot_id: str, opponent_id: str) -> PairComparison:
    """Return the results of one bot against another, in matches that count and have public logs."""
    # Start from the bot with fewer matches, since house players have very many.
    fewer, more = sorted((bot_id, opponent_id), key=lambda id: _count_matches(session, id))
    found = _load_meetings(session, fewer, more, bot_id, opponent_id)
    meetings = found[:MAX_MEETINGS]
    dealt = _load_shared(session, fewer, more)
    played: dict[str, list[Meeting]] = {game: [] for game, _ in dealt}
    for meeting in meetings:
        played.setdefault(meeting.game, []).append(meeting)

    def summary(of: Sequence[Meeting], outcomes: Sequence[MatchOutcome]) -> PairResult:
        ahead = sum(meeting.placement < meeting.opponent_placement for meeting in of)
        level = sum(meeting.placement == meeting.opponent_placement for meeting in of)
        same_cards = compare_same_cards(bot_id, opponent_id, outcomes)
        return PairResult(len(of), ahead, level, len(of) - ahead - level, same_cards)

    by_game = {
        game: summary(played[game], [outcome for name, outcome in dealt if name == game])
        for game in sorted(played, key=lambda game: (-len(played[game]), game))
    }
    return PairComparison(
        total=summary(meetings, [outcome for _, outcome in dealt]),
        by_game={game: held for game, held in by_game.items() if held.matches or held.same_cards},
        is_complete=len(found) == len(meetings),
    )


def _count_matches(session: Session, bot_id: str) -> int:
    """Return the number of matches in which the bot has a seat, or ``MANY`` if there are more."""
    seats = select(MatchSeat.match_id).where(MatchSeat.bot_id == bot_id).limit(MANY).subquery()
    return session.scalar(select(func.count()).select_from(seats)) or 0


def _load_meetings(session: Session, fewer: str, more: str, bot_id: str, opponent_id: str) -> list[Meeting]:
    """Return the last matches that both bots played, newest first: one more than counts if there are too many."""
    query = select_public(StoredMatch.game, Result.bots, Result.placements)
    query = query.where(is_finished(), _has_seat(fewer), _has_seat(more, looked_up=True))
    return [
        Meeting(game, _best_placement(bot_id, bots, placements), _best_placement(opponent_id, bots, placements))
        for game, bots, placements in session.execute(query.order_by(Result.seq.desc()).limit(MAX_MEETINGS + 1))
    ]


def _load_shared(session: Session, fewer: str, more: str) -> list[tuple[str, MatchOutcome]]:
    """Return (game, outcome) of the last matches of ``fewer`` with shared cards, and those of ``more`` with the same.

    A match in which both play is returned once.
    """
    query = select_public(
        *(StoredMatch.game, StoredMatch.group_id, Result.match_id),
        *(Result.bots, Result.placements, Result.returns),
    ).where(is_finished(), DealGroup.kind != DealSharing.OWN)
    rows = [*session.execute(query.where(_has_seat(fewer)).order_by(Result.seq.desc()).limit(MAX_SHARED))]
    for portion in divide_ids(row.group_id for row in rows):
        of_both = query.where(StoredMatch.group_id.in_(portion), _has_seat(more, looked_up=True))
        rows += session.execute(of_both.order_by(Result.seq))
    return [
        (row.game, MatchOutcome(tuple(row.bots), tuple(row.placements), tuple(row.returns), row.group_id))
        for row in {row.match_id: row for row in rows}.values()
    ]


def _has_seat(bot_id: str, *, looked_up: bool = False) -> ColumnElement[bool]:
    """Return the condition that the bot has a seat in the match.

    If ``looked_up``, the seats of each match found by other conditions are searched: the concatenation keeps the
    database from reading all matches of the bot.
    """
    if not looked_up:
        return StoredMatch.id.in_(select(MatchSeat.match_id).where(MatchSeat.bot_id == bot_id))
    seats = select(MatchSeat.match_id).where(MatchSeat.match_id == StoredMatch.id)
    return seats.where(MatchSeat.bot_id.concat("") == bot_id).exists()


def _best_placement(bot_id: str, bots: Sequence[str], placements: Sequence[int]) -> int:
    return min(placement for bot, placement in zip(bots, placements, strict=True) if bot == bot_id)
