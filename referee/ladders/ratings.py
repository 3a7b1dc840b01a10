"""Reading ladders: who stands where, now or after any act, and how he got there. Moving them is the ledger's."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, Select, and_, bindparam, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from referee.bots.tables import Bot
from referee.db.engine import current_time
from referee.db.idempotency import insert_once
from referee.db.ids import new_id
from referee.db.paging import Cursor, Page, check_limit, number_of
from referee.errors import BadOption, NotFound
from referee.ladders.tables import Ladder, LedgerEntry, Rating, RatingChange
from referee.match.canonical import dumps
from referee.matches.tables import MatchSeat


@dataclass(frozen=True, slots=True)
class LadderStanding:
    """A line of a ladder; equal ratings share a place."""

    place: int
    bot_id: str
    name: str
    owner_id: str
    status: str
    value: int
    games: int


@dataclass(frozen=True, slots=True)
class Change:
    """What an act did to a bot's rating. ``kind`` is that of the act; of a result ``version`` is the bot's in that
    match, and ``version_changed`` tells that it had another in the result before."""

    seq: int
    bot_id: str
    kind: str
    match_id: str | None
    reason: str | None
    at: datetime
    before: int
    after: int
    games: int
    version: str | None
    version_changed: bool


@dataclass(frozen=True, slots=True)
class LadderPage:
    """Lines of a ladder as it stood after the act ``as_of_seq`` of its ledger (0: before the first)."""

    page: Page[LadderStanding]
    as_of_seq: int


def ladder_for(session: Session, game: str, options: Mapping[str, Any], seats: int) -> Ladder:
    """The ladder of this game with these (complete) options and seats, made when it is first needed."""
    ladder = find_ladder(session, game, options, seats)
    if ladder is None:
        key = hashlib.sha256(dumps(dict(options))).hexdigest()
        row = {"id": new_id("ladder"), "game": game, "options": dict(options), "options_key": key, "seats": seats}
        session.execute(insert_once(session, Ladder, {**row, "created_at": current_time(session)}))
        ladder = find_ladder(session, game, options, seats)
        assert ladder is not None
    return ladder


def find_ladder(session: Session, game: str, options: Mapping[str, Any], seats: int) -> Ladder | None:
    """The ladder of this game with these (complete) options and seats, if there is one yet."""
    key = hashlib.sha256(dumps(dict(options))).hexdigest()
    return session.scalar(select(Ladder).where(Ladder.game == game, Ladder.options_key == key, Ladder.seats == seats))


def ladder_id_for(session: Session, game: str, options: Mapping[str, Any], seats: int) -> str:
    """The id of ``ladder_for``, looked up the short way."""
    key = hashlib.sha256(dumps(dict(options))).hexdigest()
    found = session.connection().execute(_LADDER_ID, {"game": game, "key": key, "seats": seats}).scalar()
    return found or ladder_for(session, game, options, seats).id


def get_ladder(session: Session, ladder_id: str) -> Ladder:
    ladder = session.get(Ladder, ladder_id)
    if ladder is None:
        raise NotFound("ladder", ladder_id)
    return ladder


def list_ladders(
    session: Session, *, game: str | None = None, limit: int = 50, cursor: Cursor | None = None
) -> Page[Ladder]:
    """Ladders by id."""
    check_limit(limit)
    query = select(Ladder)
    if game is not None:
        query = query.where(Ladder.game == game)
    if cursor is not None:
        query = query.where(Ladder.id > _texts(cursor, 1)[0])
    rows = list(session.scalars(query.order_by(Ladder.id).limit(limit + 1)))
    return Page(rows[:limit], [rows[limit - 1].id] if len(rows) > limit else None)


def count_ladders_by_game(session: Session) -> dict[str, int]:
    """Return how many ladders there are of each game that has any."""
    return dict(session.execute(select(Ladder.game, func.count()).group_by(Ladder.game)).all())


def ladder_page(session: Session, ladder_id: str, *, limit: int = 50, cursor: Cursor | None = None) -> LadderPage:
    """Lines from the top, or from a cursor, which carries the place so that no page counts those before it.

    A bot without a match that counts (any more) is on no line.
    """
    check_limit(limit)
    get_ladder(session, ladder_id)
    query = select(Rating.value, Rating.games, Bot).where(Rating.ladder_id == ladder_id)
    rows = session.execute(
        _page_of_ratings(query.join(Bot, Bot.id == Rating.bot_id), Rating, Rating.value, limit, cursor)
    )
    return LadderPage(_page(rows.all(), limit, cursor), last_seq(session, ladder_id))


def ladder_at(
    session: Session, ladder_id: str, seq: int, *, limit: int = 50, cursor: Cursor | None = None
) -> LadderPage:
    """The ladder as it stood after act ``seq``, whatever has become of it since.

    ``as_of_seq`` is the ladder's own last act up to there. Raises ``BadOption`` for an act to come. A page costs a
    look at every change since.
    """
    check_limit(limit)
    get_ladder(session, ladder_id)
    if not 0 <= seq <= last_seq(session, ladder_id):
        raise BadOption("as_of_seq", f"the ladder's last act is {last_seq(session, ladder_id)}")
    still = select(Rating.value, Rating.games, Bot).where(Rating.ladder_id == ladder_id, Rating.as_of_seq <= seq)
    still = _page_of_ratings(still.join(Bot, Bot.id == Rating.bot_id), Rating, Rating.value, limit, cursor)
    moved = _page_of_ratings(_moved_since(ladder_id, seq), RatingChange, RatingChange.after, limit, cursor)
    rows = [*session.execute(still), *session.execute(moved)]
    page = _page(sorted(rows, key=lambda row: (-row[0], row[2].id))[: limit + 1], limit, cursor)
    of_ladder = select(func.max(LedgerEntry.seq)).where(LedgerEntry.ladder_id == ladder_id, LedgerEntry.seq <= seq)
    return LadderPage(page, session.scalar(of_ladder) or 0)


def _moved_since(ladder_id: str, seq: int) -> Select[int, int, Bot]:
    """The bots that moved since, as their last change up to ``seq`` left them."""
    later, earlier = aliased(RatingChange), aliased(RatingChange)
    bots = select(later.bot_id).where(later.seq > seq, later.ladder_id == ladder_id).distinct().subquery()
    latest = (
        select(func.max(earlier.seq))
        .where(earlier.ladder_id == ladder_id, earlier.bot_id == bots.c.bot_id, earlier.seq <= seq)
        .correlate(bots)
        .scalar_subquery()
    )
    last = and_(RatingChange.bot_id == bots.c.bot_id, RatingChange.seq == latest)
    query = select(RatingChange.after, RatingChange.games, Bot).select_from(bots).join(RatingChange, last)
    return query.join(Bot, Bot.id == bots.c.bot_id)


def _page_of_ratings(
    query: Select[int, int, Bot],
    rated: type[Rating | RatingChange],
    value: InstrumentedAttribute[int],
    limit: int,
    cursor: Cursor | None,
) -> Select[int, int, Bot]:
    """The next so many and one more, the best first; only bots with matches that count."""
    last, last_bot, _, _ = _ladder_position(cursor)
    if last is not None:
        # Said so that the database seeks the place in the index instead of passing over all before it.
        query = query.where(value <= last, or_(value < last, rated.bot_id > last_bot))
    return query.where(rated.games > 0).order_by(value.desc(), rated.bot_id).limit(limit + 1)


def _page(rows: Sequence[Row[int, int, Bot]], limit: int, cursor: Cursor | None) -> Page[LadderStanding]:
    """Lines with their places, of which the cursor carries the last."""
    last, _, seen, place = _ladder_position(cursor)
    lines: list[LadderStanding] = []
    for value, games, bot in rows:
        seen += 1
        place = place if value == last else seen
        last = value
        lines.append(LadderStanding(place, bot.id, bot.name, bot.owner_id, bot.status, value, games))
    more = len(lines) > limit
    lines = lines[:limit]
    return Page(lines, [lines[-1].value, lines[-1].bot_id, seen - 1, lines[-1].place] if more else None)


def last_seq(session: Session, ladder_id: str) -> int:
    """The number of the last act of this ladder; 0 before the first."""
    return session.scalar(select(func.max(LedgerEntry.seq)).where(LedgerEntry.ladder_id == ladder_id)) or 0


def ratings_of(session: Session, bot_id: str) -> list[tuple[Ladder, Rating]]:
    """Where a bot stands, on every ladder on which a match of it counts."""
    query = select(Ladder, Rating).join(Rating, Rating.ladder_id == Ladder.id)
    query = query.where(Rating.bot_id == bot_id, Rating.games > 0)
    return [(ladder, rating) for ladder, rating in session.execute(query.order_by(Ladder.id))]


def history(
    session: Session, ladder_id: str, bot_id: str, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[Change]:
    """How a bot's rating moved, the latest change first."""
    check_limit(limit)
    query = _changes().where(RatingChange.ladder_id == ladder_id, RatingChange.bot_id == bot_id)
    if cursor is not None:
        query = query.where(RatingChange.seq < number_of(cursor))
    rows = session.execute(query.order_by(RatingChange.seq.desc()).limit(limit + 1)).all()
    told = _describe_changes(session, rows[:limit])
    return Page(told, [told[-1].seq] if len(rows) > limit else None)


def changes_of(session: Session, seq: int) -> list[Change]:
    """What one act did, by bot."""
    rows = session.execute(_changes().where(RatingChange.seq == seq).order_by(RatingChange.bot_id)).all()
    return [one for row in rows for one in _describe_changes(session, [row])]


def _changes() -> Select[RatingChange, LedgerEntry, str | None]:
    """Changes with their acts, and the version of the bot in a match that counted by them."""
    # Said so that SQLite seeks the match: else it looks, for every change, through all matches of the bot.
    seat = and_(MatchSeat.match_id == LedgerEntry.match_id, MatchSeat.bot_id.concat("") == RatingChange.bot_id)
    query = select(RatingChange, LedgerEntry, MatchSeat.version).join(LedgerEntry, LedgerEntry.seq == RatingChange.seq)
    return query.outerjoin(MatchSeat, and_(seat, LedgerEntry.kind == "result"))


def _describe_changes(session: Session, rows: Sequence[Any]) -> list[Change]:
    """These changes of one bot, the latest first, each compared with the version in the result before it."""
    told: list[Change] = []
    earlier = _version_before(session, rows[-1][0]) if rows else _NO_VERSION
    for change, act, version in reversed(rows):
        is_result = act.kind == "result"
        changed = is_result and earlier is not _NO_VERSION and version != earlier
        earlier = version if is_result else earlier
        of_act = (change.seq, change.bot_id, act.kind, act.match_id, act.reason, act.created_at)
        told.append(Change(*of_act, change.before, change.after, change.games, version, changed))
    return told[::-1]


def _version_before(session: Session, change: RatingChange) -> Any:
    """The bot's version in the last result before this change; ``_NO_VERSION`` where there is none."""
    query = _changes().where(RatingChange.ladder_id == change.ladder_id, RatingChange.bot_id == change.bot_id)
    query = query.where(RatingChange.seq < change.seq, LedgerEntry.kind == "result")
    found = session.execute(query.order_by(RatingChange.seq.desc()).limit(1)).one_or_none()
    return _NO_VERSION if found is None else found[2]


def _ladder_position(cursor: Cursor | None) -> tuple[int | None, str, int, int]:
    if cursor is None:
        return None, "", 0, 0
    match list(cursor):
        case [int(value), str(bot_id), int(seen), int(place)]:
            return value, bot_id, seen, place
    raise BadOption("cursor", "is not one that a page gave")


def _texts(cursor: Cursor, count: int) -> list[str]:
    if len(cursor) != count or not all(isinstance(part, str) for part in cursor):
        raise BadOption("cursor", "is not one that a page gave")
    return list(cursor)


_NO_VERSION: Final = object()  # unlike None, the version of a bot that tells none
_LADDERS = Ladder.__table__
_LADDER_ID = select(_LADDERS.c.id).where(
    _LADDERS.c.game == bindparam("game"),
    _LADDERS.c.options_key == bindparam("key"),
    _LADDERS.c.seats == bindparam("seats"),
)
