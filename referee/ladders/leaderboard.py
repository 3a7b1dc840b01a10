"""Load leaderboards for web pages (sorted, filtered and paged by offset) and summaries of ladders.

``ratings`` pages a ladder from the top by cursor. In this module, a page in order of rank scans the index up to it, and
a page in another order scans all bots of the ladder.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, func, or_, select, union_all
from sqlalchemy.orm import Session, aliased

from referee.accounts.tables import Account
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db.names import name_key
from referee.ladders.ranks import NARROW_BAND, WIDE_BAND
from referee.ladders.tables import Ladder, LedgerEntry, Rating, RatingCount
from referee.ratings.elo import MICRO

ORDERS: Final = ("rank", "bot", "version", "owner", "rating", "games")  # columns to sort by


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """Describe a bot on a ladder. Equal ratings share a ``rank``, which does not depend on filters."""

    rank: int
    bot_id: str
    name: str
    owner_id: str
    owner_name: str
    status: BotState
    version: str | None
    value: int
    games: int


@dataclass(frozen=True, slots=True)
class LeaderboardPage:
    """Hold a page of rows. ``total`` is the number of matching rows on all pages."""

    rows: list[LeaderboardRow]
    total: int


@dataclass(frozen=True, slots=True)
class LadderSummary:
    """Hold the numbers of bots and matches of a ladder, and its best bots."""

    ladder: Ladder
    bots: int
    matches: int
    top: list[LeaderboardRow]


def load_leaderboard(
    session: Session,
    ladder_id: str,
    *,
    text: str = "",
    order: str = "rank",
    backwards: bool = False,
    start: int,
    limit: int,
) -> LeaderboardPage:
    """Return up to ``limit`` rows, from index ``start``, of bots whose name, version or owner contains ``text``.

    Sort the rows by ``order``, the name of a column; ``backwards`` reverses the order.
    """
    query = select(Bot, Account.name, Rating.value, Rating.games).join(Bot, Bot.id == Rating.bot_id)
    query = query.join(Account, Account.id == Bot.owner_id)
    query = query.where(Rating.ladder_id == ladder_id, Rating.games > 0)
    if text:
        query = query.where(_contains_text(text))
        found = session.scalars(select(func.count()).select_from(query.subquery())).one()
    else:
        found = count_bots(session, ladder_id)
    rows = session.execute(query.order_by(*_sort_columns(order, backwards)).limit(limit).offset(start)).all()
    rank_of = _ranks(session, ladder_id, {bot.id: value for bot, _, value, _ in rows})
    return LeaderboardPage(
        [_row(rank_of[bot.id], bot, owner, value, games) for bot, owner, value, games in rows], found
    )


def list_official_first(session: Session, *, start: int, limit: int) -> list[Ladder]:
    """Return up to ``limit`` listed ladders, from index ``start``: official ones first, each kind by game and seats."""
    query = select(Ladder).where(~Ladder.unlisted)
    query = query.order_by(Ladder.official.desc(), Ladder.game, Ladder.seats, Ladder.name)
    return list(session.scalars(query.limit(limit).offset(start)))


def load_summaries(session: Session, ladders: Sequence[Ladder], *, top: int = 3) -> list[LadderSummary]:
    """Return summaries of these ladders, in order, each with the ``top`` best bots."""
    if not ladders:
        return []
    ids = [ladder.id for ladder in ladders]
    counted = select(RatingCount.ladder_id, func.sum(RatingCount.bots)).where(RatingCount.width == WIDE_BAND)
    bots = dict(_load_counts(session, counted.where(RatingCount.ladder_id.in_(ids)).group_by(RatingCount.ladder_id)))
    first = _top_rows(session, ids, top)
    return [LadderSummary(ladder, bots.get(ladder.id, 0), ladder.results, first[ladder.id]) for ladder in ladders]


def count_bots(session: Session, ladder_id: str) -> int:
    """Return the number of bots with a match that counts on the ladder."""
    query = select(func.sum(RatingCount.bots)).where(RatingCount.ladder_id == ladder_id, RatingCount.width == WIDE_BAND)
    return int(session.scalar(query) or 0)


def rating_histogram(session: Session, ladder_id: str, points: int) -> dict[int, int]:
    """Return a histogram of ratings in bins of ``points``, keyed by lower bound, without gaps."""
    counted: Counter[int] = Counter()
    for band, bots in _narrow_bands(session, ladder_id):
        counted[band * NARROW_BAND // MICRO // points] += bots
    if not counted:
        return {}
    return {number * points: counted[number] for number in range(min(counted), max(counted) + 1)}


def find_entry_time(session: Session, ladder_id: str, seq: int) -> datetime | None:
    """Return the time of the ladder's last entry up to ``seq``, or None before the first."""
    query = select(LedgerEntry.created_at).where(LedgerEntry.ladder_id == ladder_id, LedgerEntry.seq <= seq)
    return session.scalar(query.order_by(LedgerEntry.seq.desc()).limit(1))


def _top_rows(session: Session, ladder_ids: Sequence[str], top: int) -> dict[str, list[LeaderboardRow]]:
    """Return the ``top`` best bots of each ladder, keyed by ladder id, with one index lookup per ladder."""
    heads = []
    for ladder_id in ladder_ids:
        best = select(Rating.ladder_id, Rating.bot_id, Rating.value, Rating.games)
        best = best.where(Rating.ladder_id == ladder_id, Rating.games > 0)
        heads.append(select(best.order_by(Rating.value.desc(), Rating.bot_id).limit(top).subquery()))
    best_rows = union_all(*heads).subquery()
    columns = best_rows.c.ladder_id, Bot, Account.name, best_rows.c.value, best_rows.c.games
    query = select(*columns).join(best_rows, best_rows.c.bot_id == Bot.id).join(Account, Account.id == Bot.owner_id)
    found: defaultdict[str, list[LeaderboardRow]] = defaultdict(list)
    for ladder_id, bot, owner, value, games in session.execute(query.order_by(best_rows.c.value.desc(), Bot.id)):
        ladder_rows = found[ladder_id]
        is_tied = bool(ladder_rows) and ladder_rows[-1].value == value
        ladder_rows.append(_row(ladder_rows[-1].rank if is_tied else len(ladder_rows) + 1, bot, owner, value, games))
    return found


def _narrow_bands(session: Session, ladder_id: str) -> list[tuple[int, int]]:
    query = select(RatingCount.band, RatingCount.bots).where(
        RatingCount.ladder_id == ladder_id, RatingCount.width == NARROW_BAND, RatingCount.bots > 0
    )
    return [(band, bots) for band, bots in session.execute(query)]


def _load_counts(session: Session, query: Any) -> list[tuple[str, int]]:
    return [(name, int(number)) for name, number in session.execute(query)]


def _contains_text(text: str) -> ColumnElement[bool]:
    """Return the condition for bots whose name, version, owner's name or owner's id contains the text.

    In names, case, accents and look-alikes do not matter.
    """
    key = name_key(text)
    named = or_(*(table.normalized_name.contains(key, autoescape=True) for table in (Bot, Account)))
    versioned = Bot.version.icontains(text, autoescape=True)
    return or_(named, versioned, Bot.owner_id.icontains(text, autoescape=True))


def _sort_columns(order: str, backwards: bool) -> list[Any]:
    """Return the columns to sort by, with the best, the highest number or A first. Ties are in order of rating."""
    best = Rating.value.desc()
    columns: dict[str, list[Any]] = {
        "rank": [best],
        "bot": [func.lower(Bot.name), best],
        "version": [func.lower(func.coalesce(Bot.version, "")), best],
        "owner": [func.lower(Account.name), best],
        "rating": [best],
        "games": [Rating.games.desc(), best],
    }
    first, *others = columns[order]
    if backwards:
        first = Rating.value if first is best else Rating.games if order == "games" else first.desc()
    return [first, *others, Rating.bot_id]


def _ranks(session: Session, ladder_id: str, values: Mapping[str, int]) -> dict[str, int]:
    """Return the ranks for these ratings, keyed by bot id, from counts of narrow bands and the few bots in a band."""
    narrow = sorted((-band, bots) for band, bots in _narrow_bands(session, ladder_id))
    before = list(accumulate((bots for _, bots in narrow), initial=0))
    own, other = aliased(Rating), aliased(Rating)
    end = (own.value // NARROW_BAND + 1) * NARROW_BAND
    above = and_(other.ladder_id == own.ladder_id, other.value > own.value, other.value < end, other.games > 0)
    beside = select(own.bot_id, func.count()).join(other, above).group_by(own.bot_id)
    within = dict(_load_counts(session, beside.where(own.ladder_id == ladder_id, own.bot_id.in_(values))))
    return {
        bot_id: 1 + before[bisect_left(narrow, (-(value // NARROW_BAND), 0))] + within.get(bot_id, 0)
        for bot_id, value in values.items()
    }


def _row(rank: int, bot: Bot, owner: str, value: int, games: int) -> LeaderboardRow:
    return LeaderboardRow(rank, bot.id, bot.name, bot.owner_id, owner, bot.status, bot.version, value, games)
