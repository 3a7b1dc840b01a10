"""Describe which matches a list contains, as conditions in SQL."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, exists, func, select
from sqlalchemy.orm import aliased

from referee.matches.tables import MatchSeat, StoredMatch
from referee.matches.usual_states import has_status, is_finished


class BotResult(StrEnum):
    """Name the result of a bot in a match: placed ahead of its best opponent, level with it, or behind it."""

    AHEAD = "ahead"
    LEVEL = "level"
    BEHIND = "behind"


@dataclass(frozen=True, slots=True)
class MatchFilter:
    """Select the matches that pass all filters that are given.

    ``bot_ids``: all these bots have a seat. ``result`` is that of the first of them against the others or, if there is
    only one, against everyone at the table; it selects only matches that count. ``created_since`` is inclusive,
    ``created_before`` is not. Matches of unlisted tournaments pass only a filter by ``tournament_id``, and those of
    unlisted ladders no filter.
    """

    status: str | None = None
    game: str | None = None
    rated: bool | None = None
    tournament_id: str | None = None
    tournament_round: int | None = None
    bot_ids: Sequence[str] = ()
    result: str | None = None
    created_since: datetime | None = None
    created_before: datetime | None = None

    def conditions(self) -> Iterator[ColumnElement[bool]]:
        """Yield a condition on ``StoredMatch`` for each filter. Raise ``ValueError`` for a result without a bot."""
        if self.status is not None:
            is_narrow = self.bot_ids or self.tournament_id  # has fewer matches than the service has with this status
            yield has_status(self.status) if is_narrow else StoredMatch.status == self.status
        for column, wanted in (
            (StoredMatch.game, self.game),
            (StoredMatch.rated, self.rated),
            (StoredMatch.tournament_id, self.tournament_id),
            (StoredMatch.tournament_round, self.tournament_round),
        ):
            if wanted is not None:
                yield column == wanted
        if self.tournament_id is None:
            yield StoredMatch.listed.is_(True)
        for bot_id in self.bot_ids:
            yield StoredMatch.id.in_(select(MatchSeat.match_id).where(MatchSeat.bot_id == bot_id))
        if self.created_since is not None:
            yield StoredMatch.created_at >= self.created_since
        if self.created_before is not None:
            yield StoredMatch.created_at < self.created_before
        if self.result is not None:
            yield is_finished()
            yield _has_result(BotResult(self.result), self.bot_ids)


def _has_result(result: BotResult, bot_ids: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition for matches in which the first of these bots has this result."""
    if not bot_ids:
        raise ValueError("a result is that of a bot")
    first, *others = bot_ids
    own, other = aliased(MatchSeat), aliased(MatchSeat)
    opponents = other.bot_id.in_(others) if others else other.bot_id != first
    best = select(func.min(other.placement)).where(other.match_id == own.match_id, opponents).scalar_subquery()
    compared: dict[BotResult, ColumnElement[bool]] = {
        BotResult.AHEAD: own.placement < best,
        BotResult.LEVEL: own.placement == best,
        BotResult.BEHIND: own.placement > best,
    }
    return exists().where(and_(own.match_id == StoredMatch.id, own.bot_id == first, compared[result]))
