"""Load what matches changed on their ladder: for each seat that counts, its rating and its expected score."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from sqlalchemy import select
from sqlalchemy.orm import Session

from referee.ladders.kinds import EntryKind
from referee.ladders.tables import LedgerEntry, RatingChange
from referee.matches.tables import Result, StoredMatch
from referee.matches.usual_states import is_finished
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


def load_match_ratings(session: Session, match_ids: Sequence[str]) -> dict[str, list[SeatRating | None]]:
    """Return what each of these matches means for its seats, keyed by match id, as ``rate_seats`` does.

    Omit matches that are not in the ledger yet, that were voided, or that count on no ladder.
    """
    query = select(Result.match_id, RatingChange.bot_id, RatingChange.before, RatingChange.after)
    query = query.select_from(Result).join(StoredMatch, StoredMatch.id == Result.match_id)
    of_match = (LedgerEntry.match_id == Result.match_id) & (LedgerEntry.kind == EntryKind.RESULT)
    query = query.join(LedgerEntry, of_match).join(RatingChange, RatingChange.seq == LedgerEntry.seq)
    query = query.where(Result.match_id.in_(match_ids), is_finished())
    changes: defaultdict[str, dict[str, Change]] = defaultdict(dict)
    for match_id, bot_id, before, after in session.execute(query):
        changes[match_id][bot_id] = before, after
    placed = select(Result.match_id, Result.bots, Result.placements).where(Result.match_id.in_(list(changes)))
    return {
        match_id: rate_seats(bots, placements, changes[match_id])
        for match_id, bots, placements in (session.execute(placed) if changes else ())
    }


def rate_seats(
    bots: Sequence[str], placements: Sequence[int], changes: Mapping[str, Change]
) -> list[SeatRating | None]:
    """Return what a match means for each seat, None where the bot has no change. All lists are in seat order."""
    expected, scored = [0] * len(bots), [0] * len(bots)
    counted = [seat for seat, bot in enumerate(bots) if bot in changes]
    for seat, other in permutations(counted, 2):
        expected[seat] += expectation(changes[bots[seat]][0] - changes[bots[other]][0])
        scored[seat] += (placements[seat] < placements[other]) + (placements[seat] <= placements[other])
    others = max(1, len(counted) - 1)

    def rating_at(seat: int) -> SeatRating | None:
        if bots[seat] not in changes:
            return None
        before, after = changes[bots[seat]]
        return SeatRating(before, after - before, expected[seat] / SCALE / others, scored[seat] / 2 / others)

    return [rating_at(seat) for seat in range(len(bots))]
