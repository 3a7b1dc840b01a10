"""Read the rows of ladders: by rank, now or after any ledger entry; sorted and filtered; of one bot; the best ones.

Bots without a match that counts have no row, and anchors have none.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, union_all
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from referee.accounts.tables import Account
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.db.names import name_key
from referee.db.paging import Cursor, Page, check_limit, read_values
from referee.errors import BadOption
from referee.ladders.ranks import BAND
from referee.ladders.ratings import get_ladder, last_seq
from referee.ladders.tables import Ladder, LedgerEntry, Rating, RatingChange, RatingCount, RatingError
from referee.ratings.elo import MICRO

ORDERS: Final = ("rank", "bot", "version", "owner", "rating", "games")  # columns to sort by


@dataclass(frozen=True, slots=True)
class RankedBot:
    """Represent a bot on a ladder. Equal ratings share a ``rank``.

    ``error`` is that of ``rating_errors`` in points, None while it is not computed.
    """

    rank: int
    bot_id: str
    name: str
    owner_id: str
    owner_name: str
    status: BotState
    version: str | None
    value: int
    games: int
    error: float | None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return both ends of the 95 % interval of the rating, in points."""
        points = self.value / MICRO
        return None if self.error is None else (points - self.error, points + self.error)


@dataclass(frozen=True, slots=True)
class LadderPage:
    """Hold a page of a ladder after entry ``as_of_seq`` of its ledger, made ``at``: 0 and None before the first."""

    page: Page[RankedBot]
    as_of_seq: int
    at: datetime | None


@dataclass(frozen=True, slots=True)
class LadderRank:
    """Hold the row of a bot on a ladder with ``total`` bots. The entry ``changed_seq`` was the last to change it."""

    ladder: Ladder
    row: RankedBot
    total: int
    changed_seq: int


@dataclass(frozen=True, slots=True)
class LadderSummary:
    """Hold the numbers of bots and matches of a ladder, and its best bots."""

    ladder: Ladder
    bots: int
    matches: int
    top: list[RankedBot]


def load_rows(
    session: Session, ladder_id: str, *, as_of: int | None = None, limit: int = 50, cursor: Cursor | None = None
) -> LadderPage:
    """Return rows by rank, from the top or from a cursor, as they were after the ledger entry ``as_of`` or are now.

    Raise ``BadOption`` for a future entry. The cost grows with the number of changes since the entry, but not with the
    number of earlier rows: the cursor contains the rank.
    """
    check_limit(limit)
    get_ladder(session, ladder_id)
    last = last_seq(session, ladder_id)
    if as_of is not None and not 0 <= as_of <= last:
        raise BadOption("as_of", f"must be 0 to {last}, the ladder's last ledger entry")
    now = select(Rating.value, Rating.games).where(Rating.ladder_id == ladder_id)
    if as_of is None:
        rows = _load_next(session, now, Rating, Rating.value, limit, cursor)
    else:
        rows = _load_next(session, now.where(Rating.as_of_seq <= as_of), Rating, Rating.value, limit, cursor)
        moved = _ratings_before(ladder_id, as_of)
        rows += _load_next(session, moved, RatingChange, RatingChange.after, limit, cursor)
        rows.sort(key=lambda row: (-row[0], row[2].id))
    entry = select(LedgerEntry.seq, LedgerEntry.created_at).where(LedgerEntry.ladder_id == ladder_id)
    entry = entry.where(LedgerEntry.seq <= (last if as_of is None else as_of)).order_by(LedgerEntry.seq.desc())
    seq, at = session.execute(entry.limit(1)).one_or_none() or (0, None)
    return LadderPage(_rank_page(rows[: limit + 1], limit, cursor), seq, at)


def find_rows(
    session: Session,
    ladder_id: str,
    *,
    text: str = "",
    order: str = "rank",
    backwards: bool = False,
    start: int = 0,
    limit: int,
) -> tuple[list[RankedBot], int]:
    """Return up to ``limit`` rows, from index ``start``, of bots whose name, version or owner contains ``text``.

    Also return the number of all these bots. Sort by ``order``, the name of a column; ``backwards`` reverses the order.
    A page in order of rank reads the index up to it, one in another order reads all bots of the ladder.
    """
    query = _with_bots(select(RANK, Rating.value, Rating.games).select_from(Rating), Rating)
    query = query.where(Rating.ladder_id == ladder_id, Rating.games > 0)
    if text:
        query = query.where(_contains_text(text))
        found = session.scalars(select(func.count()).select_from(query.subquery())).one()
    else:
        found = count_bots(session, ladder_id)
    rows = session.execute(query.order_by(*_sort_columns(order, backwards)).limit(limit).offset(start))
    return [_row(*row) for row in rows], found


def load_ranks(session: Session, bot_id: str, ladder_id: str | None = None) -> list[LadderRank]:
    """Return the rows of a bot on all ladders, or on this one, most games first."""
    query = select(Ladder, BOTS, Rating.as_of_seq, RANK, Rating.value, Rating.games).select_from(Rating)
    query = _with_bots(query.join(Ladder, Ladder.id == Rating.ladder_id), Rating)
    query = query.where(Rating.bot_id == bot_id, Rating.games > 0)
    if ladder_id is not None:
        query = query.where(Rating.ladder_id == ladder_id)
    rows = session.execute(query.order_by(Rating.games.desc(), Rating.ladder_id))
    return [LadderRank(ladder, _row(*row), int(bots), seq) for ladder, bots, seq, *row in rows]


def load_summaries(session: Session, ladders: Sequence[Ladder], *, top: int = 3) -> list[LadderSummary]:
    """Return summaries of these ladders, in order, each with the ``top`` best bots."""
    ids = [ladder.id for ladder in ladders]
    counted = select(RatingCount.ladder_id, func.sum(RatingCount.bots)).where(RatingCount.ladder_id.in_(ids))
    bots = dict(session.execute(counted.group_by(RatingCount.ladder_id)).all())
    best = _load_best(session, ids, top) if ids else {}
    return [LadderSummary(ladder, int(bots.get(ladder.id, 0)), ladder.results, best[ladder.id]) for ladder in ladders]


def count_bots(session: Session, ladder_id: str) -> int:
    """Return the number of bots with a match that counts on the ladder."""
    return int(session.scalar(select(func.sum(RatingCount.bots)).where(RatingCount.ladder_id == ladder_id)) or 0)


def _load_next(
    session: Session,
    query: Select[int, int],
    rated: type[Rating | RatingChange],
    value: InstrumentedAttribute[int],
    limit: int,
    cursor: Cursor | None,
) -> list[Any]:
    """Return the next ``limit`` + 1 rows, best first."""
    last, last_bot, _, _ = _read_cursor(cursor)
    query = _with_bots(query, rated).where(rated.games > 0)
    if last is not None:
        # This form of the condition lets the planner seek in the index instead of scanning past earlier rows.
        query = query.where(value <= last, or_(value < last, rated.bot_id > last_bot))
    return list(session.execute(query.order_by(value.desc(), rated.bot_id).limit(limit + 1)))


def _ratings_before(ladder_id: str, seq: int) -> Select[int, int]:
    """Return a query of the ratings at ``seq`` of bots whose rating changed after it."""
    later, earlier = aliased(RatingChange), aliased(RatingChange)
    bots = select(later.bot_id).where(later.seq > seq, later.ladder_id == ladder_id).distinct().subquery()
    until = earlier.ladder_id == ladder_id, earlier.bot_id == bots.c.bot_id, earlier.seq <= seq
    latest = select(func.max(earlier.seq)).where(*until).correlate(bots).scalar_subquery()
    last = and_(RatingChange.bot_id == bots.c.bot_id, RatingChange.seq == latest)
    return select(RatingChange.after, RatingChange.games).select_from(bots).join(RatingChange, last)


def _rank_page(rows: Iterable[Any], limit: int, cursor: Cursor | None) -> Page[RankedBot]:
    """Return a page of rows with their ranks. Its cursor contains the number of rows seen and the last rank."""
    last, _, seen, rank = _read_cursor(cursor)
    ranked: list[RankedBot] = []
    for row in rows:
        seen += 1
        rank = rank if row[0] == last else seen
        last = row[0]
        ranked.append(_row(rank, *row))
    if len(ranked) <= limit:
        return Page(ranked, None)
    end = ranked[limit - 1]
    return Page(ranked[:limit], [end.value, end.bot_id, seen - 1, end.rank])


def _load_best(session: Session, ladder_ids: Sequence[str], top: int) -> dict[str, list[RankedBot]]:
    """Return the ``top`` best bots of each ladder, keyed by ladder id, with one index lookup per ladder."""
    heads = []
    for ladder_id in ladder_ids:
        best = select(Rating).where(Rating.ladder_id == ladder_id, Rating.games > 0)
        heads.append(select(best.order_by(Rating.value.desc(), Rating.bot_id).limit(top).subquery()))
    rated = aliased(Rating, union_all(*heads).subquery())
    query = _with_bots(select(rated.ladder_id, rated.value, rated.games), rated)
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for ladder_id, *row in session.execute(query.order_by(rated.value.desc(), Bot.id)):
        found[ladder_id].append(row)
    return defaultdict(list, {ladder_id: _rank_page(rows, top, None).items for ladder_id, rows in found.items()})


def _with_bots(query: Select[*tuple[Any, ...]], rated: Any) -> Select[*tuple[Any, ...]]:
    """Add the bots of ratings to a query of them: the columns that ``_row`` expects after the games."""
    query = query.add_columns(Bot, Account.name, RatingError.error)
    same = and_(RatingError.ladder_id == rated.ladder_id, RatingError.bot_id == rated.bot_id)
    query = query.join(Bot, Bot.id == rated.bot_id).join(Account, Account.id == Bot.owner_id)
    return query.outerjoin(RatingError, same)


def _row(rank: int, value: int, games: int, bot: Bot, owner_name: str, error: float | None) -> RankedBot:
    of_bot = bot.id, bot.name, bot.owner_id, owner_name, bot.status, bot.version
    return RankedBot(int(rank), *of_bot, value, games, error)


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


def _read_cursor(cursor: Cursor | None) -> Cursor:
    return read_values(cursor, int, str, int, int) or (None, "", 0, 0)


# The rank of a rating is one more than the number of bots in higher bands, and of the few above it in its own band.
_BAND_END: Final = Rating.value - (Rating.value % BAND + BAND) % BAND + BAND  # also right below zero
_other = aliased(Rating)
_IN_BAND: Final = _other.value > Rating.value, _other.value < _BAND_END, _other.games > 0
_ABOVE: Final = select(func.count()).where(_other.ladder_id == Rating.ladder_id, *_IN_BAND).correlate(Rating)
_BANDS: Final = select(func.coalesce(func.sum(RatingCount.bots), 0)).where(RatingCount.ladder_id == Rating.ladder_id)
_BANDS_ABOVE: Final = _BANDS.where(RatingCount.band >= _BAND_END // BAND).correlate(Rating)
BOTS: Final = _BANDS.correlate(Rating).scalar_subquery()  # number of bots on the ladder
RANK: Final = 1 + _BANDS_ABOVE.scalar_subquery() + _ABOVE.scalar_subquery()
