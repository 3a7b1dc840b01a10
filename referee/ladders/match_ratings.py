"""Load what matches changed on their ladder: for each seat that counts, its rating and its expected score."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.ladders.kinds import EntryKind
from referee.ladders.rating_replay import RatingMove
from referee.ladders.tables import LedgerEntry, RatingChange
from referee.matches.states import MatchState
from referee.matches.tables import Result, StoredMatch
from referee.ratings.elo import SCALE, expectation

Change = tuple[int, int]  # rating before and after, in micro-points


@dataclass(frozen=True, slots=True)
class SeatRating:
    """Hold the rating of a bot before a match in micro-points, its change, and its expected and actual score.

    Scores are means over the other seats that count: 1 for placing better, 1/2 for a tie, 0 for placing worse.
    """

    before: int
    change: int
    expected: float
    scored: float


def load_match_ratings(session: Session, match_ids: Sequence[str]) -> dict[str, dict[str, SeatRating]]:
    """Return the seats that count, keyed by bot id, of each of these matches, keyed by match id.

    Omit matches that are not in the ledger yet, that were voided, or that count on no ladder.
    """
    query = select(Result.match_id, RatingChange.bot_id, RatingChange.before, RatingChange.after)
    query = query.select_from(Result).join(StoredMatch, StoredMatch.id == Result.match_id)
    of_match = (LedgerEntry.match_id == Result.match_id) & (LedgerEntry.kind == EntryKind.RESULT)
    query = query.join(LedgerEntry, of_match).join(RatingChange, RatingChange.seq == LedgerEntry.seq)
    query = query.where(Result.match_id.in_(match_ids), StoredMatch.status == MatchState.FINISHED)
    changes: defaultdict[str, dict[str, Change]] = defaultdict(dict)
    for match_id, bot_id, before, after in session.execute(query):
        changes[match_id][bot_id] = before, after
    placed = select(Result.match_id, Result.bots, Result.placements).where(Result.match_id.in_(list(changes)))
    return {
        match_id: rate_seats(dict(zip(bots, placements, strict=True)), changes[match_id])
        for match_id, bots, placements in (session.execute(placed) if changes else ())
    }


def changes_of(moves: Sequence[RatingMove]) -> dict[str, Change]:
    """Return the changes of a ledger entry, keyed by bot id."""
    return {move.bot_id: (move.before, move.after.value) for move in moves}


def rate_seats(placements: Mapping[str, int], changes: Mapping[str, Change]) -> dict[str, SeatRating]:
    """Return what a match means for the bots in ``changes``, keyed by bot id."""
    expected, scored = defaultdict[str, int](int), defaultdict[str, int](int)
    for bot, other in permutations(changes, 2):
        expected[bot] += expectation(changes[bot][0] - changes[other][0])
        scored[bot] += (placements[bot] < placements[other]) + (placements[bot] <= placements[other])
    others = max(1, len(changes) - 1)
    return {
        bot: SeatRating(before, after - before, expected[bot] / SCALE / others, scored[bot] / 2 / others)
        for bot, (before, after) in changes.items()
    }
