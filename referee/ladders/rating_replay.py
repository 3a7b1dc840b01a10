"""Replay results on ratings in memory. ``ledger`` reads the entries and stores the ratings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from referee.ratings.elo import START, elo_changes


class RatingState(NamedTuple):
    """Hold a rating in micro-points after ``games`` matches that count."""

    value: int = START
    games: int = 0


class RatingMove(NamedTuple):
    """Hold a change of a bot's rating in micro-points.

    ``games`` is the number of the bot's matches that count, after the change.
    """

    bot_id: str
    before: int
    after: int
    games: int


@dataclass
class RatingReplay:
    """Apply results to the ratings of a ladder. Missing bots have the starting rating."""

    ratings: dict[str, RatingState] = field(default_factory=dict)

    def apply_result(self, bots: Sequence[str], placements: Sequence[int], rated: Sequence[bool]) -> list[RatingMove]:
        """Apply a result to the ratings of its rated seats, ignoring the others; return the changes."""
        seats = [seat for seat, counts in enumerate(rated) if counts]
        known = [self.ratings.get(bots[seat], RatingState()) for seat in seats]
        changes = elo_changes(
            [rating.value for rating in known],
            [rating.games for rating in known],
            [placements[seat] for seat in seats],
        )
        moves = [
            RatingMove(bots[seat], rating.value, rating.value + change, rating.games + 1)
            for seat, rating, change in zip(seats, known, changes, strict=True)
        ]
        self.apply_moves(moves)
        return moves

    def apply_moves(self, moves: Iterable[RatingMove]) -> None:
        """Set the ratings to their values after these changes."""
        self.ratings.update({move.bot_id: RatingState(move.after, move.games) for move in moves})

    def moves_towards(self, other: "RatingReplay") -> list[RatingMove]:
        """Return the changes that turn these ratings into ``other``, ordered by bot id."""
        return [
            RatingMove(bot_id, before.value, after.value, after.games)
            for bot_id in sorted(self.ratings.keys() | other.ratings.keys())
            if (before := self.ratings.get(bot_id, RatingState()))
            != (after := other.ratings.get(bot_id, RatingState()))
        ]
