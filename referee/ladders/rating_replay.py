"""The fold itself: what results do to ratings, held in memory. Reading acts and writing values is the ledger's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from referee.ratings.elo import START, elo_changes


class Held(NamedTuple):
    """A rating in micro-points after so many matches that count."""

    value: int = START
    games: int = 0


class RatingMove(NamedTuple):
    """What an act did to the rating of a bot; ``games`` count after it."""

    bot_id: str
    before: int
    after: int
    games: int


@dataclass
class Fold:
    """The ratings of a ladder, as far as they are known; who is not among them has just begun."""

    held: dict[str, Held] = field(default_factory=dict)

    def count(self, bots: Sequence[str], placements: Sequence[int], rated: Sequence[bool]) -> list[RatingMove]:
        """Moves the ratings of those seats that count; the others take no part, as if they had not been there."""
        seats = [seat for seat, counts in enumerate(rated) if counts]
        known = [self.held.get(bots[seat], Held()) for seat in seats]
        changes = elo_changes(
            [one.value for one in known], [one.games for one in known], [placements[seat] for seat in seats]
        )
        moves = [
            RatingMove(bots[seat], one.value, one.value + change, one.games + 1)
            for seat, one, change in zip(seats, known, changes, strict=True)
        ]
        self.take(moves)
        return moves

    def take(self, moves: Iterable[RatingMove]) -> None:
        """Moves that come from elsewhere."""
        self.held.update({move.bot_id: Held(move.after, move.games) for move in moves})

    def moves_to(self, other: "Fold") -> list[RatingMove]:
        """What leads from here to there, in order of bots: nothing for those that stand alike in both."""
        return [
            RatingMove(bot_id, before.value, after.value, after.games)
            for bot_id in sorted(self.held.keys() | other.held.keys())
            if (before := self.held.get(bot_id, Held())) != (after := other.held.get(bot_id, Held()))
        ]
