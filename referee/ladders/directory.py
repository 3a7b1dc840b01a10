"""List bots by game, level and activity, with their owners, certificates and ratings on official ladders."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Text, and_, cast, exists, func, select
from sqlalchemy.orm import Session

from referee.accounts.tables import Account
from referee.bots import bots, certificates
from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.lookup import load_by_id
from referee.db.paging import Cursor, Page
from referee.ladders.kinds import Level
from referee.ladders.tables import Ladder, LedgerEntry, Rating
from referee.ratings.elo import MICRO

MAX_DAYS: Final = 3_650
_BANDS: Final = {  # from, up to but not including, in points
    Level.RATED: (None, None),
    Level.BELOW_1400: (None, 1_400),
    Level.FROM_1400_TO_1600: (1_400, 1_600),
    Level.ABOVE_1600: (1_600, None),
}
_IS_STANDARD: Final = Ladder.official, ~Ladder.unlisted


@dataclass(frozen=True, slots=True)
class OfficialRating:
    """Hold the rating of a bot on the official ladder of a game."""

    ladder_id: str
    game: str
    value: int
    games: int


@dataclass(frozen=True, slots=True)
class BotListing:
    """Describe a bot in a list. ``rated_at`` is when a rating of it changed last, on any ladder."""

    bot: Bot
    owner_name: str
    certified: Sequence[str]
    ratings: Sequence[OfficialRating]
    rated_at: datetime | None


def list_bots(
    session: Session,
    *,
    owner_id: str | None = None,
    status: str | Collection[str] | None = None,
    game: str | None = None,
    level: str | None = None,
    active_days: int | None = None,
    limit: int = 50,
    cursor: Cursor | None = None,
) -> Page[Bot]:
    """Return a page of the bots that pass all filters, newest first.

    ``game`` is one that the manifest declares. ``level`` refers to the official ladder of ``game`` or, without a game,
    to those of all games. ``active_days``: a rating of the bot has changed in this number of days.
    """
    conditions: list[ColumnElement[bool]] = []
    if game is not None:
        conditions.append(cast(Bot.games, Text).contains(f'"{game}"', autoescape=True))
    if level is not None:
        conditions.append(_has_level(Level(level), game))
    if active_days is not None:
        conditions.append(_is_active_since(current_time(session) - timedelta(days=active_days)))
    where = and_(*conditions) if conditions else None
    return bots.list_bots(session, owner_id=owner_id, status=status, where=where, limit=limit, cursor=cursor)


def load_listings(session: Session, listed: Sequence[Bot]) -> list[BotListing]:
    """Return listings of these bots, in order, with the same number of statements however many they are."""
    ids = [bot.id for bot in listed]
    owners = load_by_id(session, Account.id, Account.name, (bot.owner_id for bot in listed))
    certified = certificates.load_certified_games(session, listed)
    ratings: dict[str, list[OfficialRating]] = {bot_id: [] for bot_id in ids}
    query = select(Rating, Ladder.game).join(Ladder, Ladder.id == Rating.ladder_id)
    query = query.where(Rating.bot_id.in_(ids), Rating.games > 0, *_IS_STANDARD).order_by(Ladder.game)
    for rating, game in session.execute(query):
        ratings[rating.bot_id].append(OfficialRating(rating.ladder_id, game, rating.value, rating.games))
    rated_at = _load_last_changes(session, ids)
    return [
        BotListing(bot, owners[bot.owner_id], certified[bot.id], ratings[bot.id], rated_at.get(bot.id))
        for bot in listed
    ]


def _load_last_changes(session: Session, bot_ids: Sequence[str]) -> dict[str, datetime]:
    last = select(Rating.bot_id, func.max(Rating.as_of_seq).label("seq")).where(Rating.bot_id.in_(bot_ids))
    latest = last.where(Rating.games > 0).group_by(Rating.bot_id).subquery()
    query = select(latest.c.bot_id, LedgerEntry.created_at).join(LedgerEntry, LedgerEntry.seq == latest.c.seq)
    return dict(session.execute(query).all())


def _has_level(level: Level, game: str | None) -> ColumnElement[bool]:
    rated = exists().where(Rating.bot_id == Bot.id, Rating.games > 0, Ladder.id == Rating.ladder_id, *_IS_STANDARD)
    if game is not None:
        rated = rated.where(Ladder.game == game)
    if level == Level.UNRATED:
        return ~rated
    low, high = _BANDS[level]
    if low is not None:
        rated = rated.where(Rating.value >= low * MICRO)
    if high is not None:
        rated = rated.where(Rating.value < high * MICRO)
    return rated


def _is_active_since(moment: datetime) -> ColumnElement[bool]:
    return exists().where(
        Rating.bot_id == Bot.id, Rating.games > 0, LedgerEntry.seq == Rating.as_of_seq, LedgerEntry.created_at >= moment
    )
