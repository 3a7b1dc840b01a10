"""Ladders: a fold of Elo over the results in their order, kept up to date with each result. Audits are in ``audit``."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from referee.canonical import dumps
from referee.errors import BadOption, NotFound
from referee.ratings import START, elo_changes
from referee.store.db import now
from referee.store.idempotency import insert_once
from referee.store.ids import new_id
from referee.store.paging import Cursor, Page, check_limit
from referee.store.schema import Bot, Ladder, LadderAct, Rating, RatingChange, Result


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of a ladder; equal ratings share a place."""

    place: int
    bot_id: str
    name: str
    owner_id: str
    status: str
    value: int
    games: int


@dataclass(frozen=True, slots=True)
class LadderPage:
    """Lines of a ladder as it stood after the result ``as_of_seq`` (0: before the first)."""

    page: Page[Standing]
    as_of_seq: int


def ladder_for(session: Session, game: str, options: Mapping[str, Any], seats: int) -> Ladder:
    """The ladder of this game with these (complete) options and seats, made when it is first needed."""
    key = hashlib.sha256(dumps(dict(options))).hexdigest()
    wanted = select(Ladder).where(Ladder.game == game, Ladder.options_key == key, Ladder.seats == seats)
    ladder = session.scalar(wanted)
    if ladder is None:
        row = {"id": new_id("ladder"), "game": game, "options": dict(options), "options_key": key, "seats": seats}
        session.execute(insert_once(session, Ladder, {**row, "created_at": now(session)}))
        ladder = session.scalars(wanted).one()
    return ladder


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


def ladder_page(session: Session, ladder_id: str, *, limit: int = 50, cursor: Cursor | None = None) -> LadderPage:
    """Lines from the top, or from a cursor, which carries the place so that no page counts those before it."""
    check_limit(limit)
    get_ladder(session, ladder_id)
    query = select(Rating, Bot).join(Bot, Bot.id == Rating.bot_id).where(Rating.ladder_id == ladder_id)
    value, bot_id, seen, place = _ladder_position(cursor)
    if cursor is not None:
        query = query.where(or_(Rating.value < value, and_(Rating.value == value, Rating.bot_id > bot_id)))
    query = query.order_by(Rating.value.desc(), Rating.bot_id).limit(limit + 1)
    lines = []
    for rating, bot in session.execute(query):
        seen += 1
        place = place if rating.value == value else seen
        value = rating.value
        lines.append(Standing(place, bot.id, bot.name, bot.owner_id, bot.status, rating.value, rating.games))
    more = len(lines) > limit
    lines = lines[:limit]
    end = [lines[-1].value, lines[-1].bot_id, seen - 1, lines[-1].place] if more else None
    return LadderPage(Page(lines, end), last_seq(session, ladder_id))


def last_seq(session: Session, ladder_id: str) -> int:
    """The number of the last result that counts on this ladder; 0 before the first."""
    return session.scalar(select(func.max(LadderAct.seq)).where(LadderAct.ladder_id == ladder_id)) or 0


def ratings_of(session: Session, bot_id: str) -> list[tuple[Ladder, Rating]]:
    """Where a bot stands, on every ladder it has played for."""
    query = select(Ladder, Rating).join(Rating, Rating.ladder_id == Ladder.id).where(Rating.bot_id == bot_id)
    return [(ladder, rating) for ladder, rating in session.execute(query.order_by(Ladder.id))]


def history(
    session: Session, ladder_id: str, bot_id: str, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[RatingChange]:
    """How a bot's rating moved, the latest change first."""
    check_limit(limit)
    query = select(RatingChange).where(RatingChange.ladder_id == ladder_id, RatingChange.bot_id == bot_id)
    if cursor is not None:
        query = query.where(RatingChange.seq < _number(cursor))
    rows = list(session.scalars(query.order_by(RatingChange.seq.desc()).limit(limit + 1)))
    return Page(rows[:limit], [rows[limit - 1].seq] if len(rows) > limit else None)


def changes_of(session: Session, seq: int) -> list[RatingChange]:
    """What one result did."""
    return list(session.scalars(select(RatingChange).where(RatingChange.seq == seq).order_by(RatingChange.bot_id)))


def different_owners(session: Session, bots: Sequence[str]) -> bool:
    """Whether no two seats belong to one owner; only then may a match be rated."""
    owners = session.scalars(select(Bot.owner_id).where(Bot.id.in_(bots))).all()
    return len(set(owners)) == len(bots)


def apply(session: Session, result: Result) -> None:
    """Moves the ratings by a result, which is the latest of its ladder."""
    if result.ladder_id is None:
        return
    known = select(Rating).where(Rating.ladder_id == result.ladder_id, Rating.bot_id.in_(result.bots))
    held = {rating.bot_id: rating for rating in session.scalars(known.with_for_update())}
    rows = [held.get(bot_id) or _first(result.ladder_id, bot_id) for bot_id in result.bots]
    act = LadderAct(ladder_id=result.ladder_id, kind="result", match_id=result.match_id, created_at=now(session))
    session.add(act)
    session.flush()
    changes = elo_changes([row.value for row in rows], [row.games for row in rows], result.placements)
    for row, change in zip(rows, changes, strict=True):
        session.add(row)
        session.add(
            RatingChange(
                seq=act.seq,
                bot_id=row.bot_id,
                ladder_id=result.ladder_id,
                before=row.value,
                after=row.value + change,
            )
        )
        row.value += change
        row.games += 1
        row.as_of_seq = act.seq
    session.flush()


def _first(ladder_id: str, bot_id: str) -> Rating:
    return Rating(ladder_id=ladder_id, bot_id=bot_id, value=START, games=0, as_of_seq=0)


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


def _number(cursor: Cursor) -> int:
    match list(cursor):
        case [int(number)]:
            return number
    raise BadOption("cursor", "is not one that a page gave")
