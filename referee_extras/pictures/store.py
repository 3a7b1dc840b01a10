"""Store pictures, and the requests to draw them, in limited numbers. Nothing here is needed to recover a result."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, delete, func, or_, select, tuple_, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from referee.bots.tables import Bot
from referee.db.engine import count_changed_rows, current_time
from referee.db.idempotency import insert_once
from referee.events import AccountDeleted, BotDeleted, TournamentErased
from referee_extras.pictures.tables import Picture, PictureKind

MAX_PICTURES: Final = 1_000  # requested ones that are stored, with those that wait; about 50 MB
MAX_EARLY: Final = 1_000  # stored ones that nobody has requested yet
MAX_WAITING: Final = 200  # requests beyond these are not stored, so a flood of requests rarely writes
CHECK_AFTER: Final = timedelta(minutes=1)  # a picture that is looked at is checked at most this often
CHECK_SETTLED_AFTER: Final = timedelta(hours=6)
FOLLOW_EVERY: Final = timedelta(minutes=2)  # matches and tournaments in progress are checked without requests …
FOLLOW_FOR: Final = timedelta(days=1)  # … for this time after the last request
FOLLOWED: Final = (PictureKind.MATCH, PictureKind.TOURNAMENT)
DISK_USE: Final = {"pictures": (Picture.subject_id, (Picture.png,))}


@dataclass(frozen=True, slots=True)
class StoredPicture:
    """Hold a picture for a response. ``png`` is None if none has been drawn. ``is_due``: request a check of it."""

    png: bytes | None
    is_settled: bool
    is_due: bool


@dataclass(frozen=True, slots=True)
class WantedPicture:
    """Name a picture to check, and the digest of the content that the stored one shows, if there is one."""

    kind: PictureKind
    subject_id: str
    content_digest: str | None


def find_picture(session: Session, kind: PictureKind, subject_id: str) -> StoredPicture:
    """Return the stored picture of a page, with one statement if it was requested before and has been drawn."""
    columns = Picture.png, Picture.is_settled, Picture.requested_at, Picture.compared_at
    found = session.execute(select(*columns).where(*_is(kind, subject_id))).one_or_none()
    if found is None:
        return StoredPicture(None, False, _count_waiting(session) < MAX_WAITING)
    png, is_settled, requested_at, compared_at = found
    if requested_at is None:  # the first request makes it one to keep
        return StoredPicture(png, is_settled, _count_waiting(session) < MAX_WAITING)
    if compared_at is None or compared_at < requested_at:
        return StoredPicture(png, is_settled, False)  # it waits already
    age = current_time(session) - compared_at
    is_old = age > (CHECK_SETTLED_AFTER if is_settled else CHECK_AFTER)
    return StoredPicture(png, is_settled, is_old and _count_waiting(session) < MAX_WAITING)


def request_check(session: Session, kind: PictureKind, subject_id: str) -> None:
    """Have a picture drawn, or compared with what it would show now."""
    moment = current_time(session)
    known = update(Picture).where(*_is(kind, subject_id)).values(requested_at=moment)
    if count_changed_rows(session, known) == 0:
        row = {"kind": kind, "subject_id": subject_id, "requested_at": moment, "is_settled": False}
        session.execute(insert_once(session, Picture, row))


def count_checks_since(session: Session, moment: datetime) -> int:
    """Return how many pictures were checked last after ``moment``."""
    return session.scalars(select(func.count()).select_from(Picture).where(Picture.compared_at > moment)).one()


def find_next(session: Session) -> WantedPicture | None:
    """Return the picture to check next: the one that has waited longest or, if none waits, one to follow."""
    columns = Picture.kind, Picture.subject_id, Picture.content_digest
    waiting = select(*columns).where(_is_waiting()).order_by(Picture.requested_at, Picture.subject_id)
    now = current_time(session)
    follows = select(*columns).where(
        Picture.kind.in_(FOLLOWED),
        Picture.is_settled.is_(False),
        Picture.requested_at > now - FOLLOW_FOR,
        Picture.compared_at < now - FOLLOW_EVERY,
    )
    for query in (waiting, follows.order_by(Picture.compared_at, Picture.subject_id)):
        found = session.execute(query.limit(1)).one_or_none()
        if found is not None:
            return WantedPicture(*found)
    return None


def find_early(session: Session, kind: PictureKind, subject_ids: Sequence[str], age: timedelta) -> WantedPicture | None:
    """Return the first of these pictures to draw without a request: one that is missing, or may have changed.

    Settled pictures, those that wait, and those that were checked within ``age`` are left as they are.
    """
    columns = Picture.subject_id, Picture.content_digest, Picture.is_settled, Picture.compared_at
    rows = session.execute(select(*columns).where(Picture.kind == kind, Picture.subject_id.in_(subject_ids)))
    known = {row.subject_id: row for row in rows}
    before = current_time(session) - age
    for subject_id in subject_ids:
        row = known.get(subject_id)
        if row is None:
            return WantedPicture(kind, subject_id, None)
        if not row.is_settled and row.compared_at is not None and row.compared_at < before:
            return WantedPicture(kind, subject_id, row.content_digest)
    return None


def begin_check(session: Session, wanted: WantedPicture) -> None:
    """Record that a picture is checked now, before it is drawn, so that one that cannot be drawn is not next again."""
    moment = current_time(session)
    known = update(Picture).where(*_is(wanted.kind, wanted.subject_id)).values(compared_at=moment)
    if count_changed_rows(session, known) == 0:
        row = {"kind": wanted.kind, "subject_id": wanted.subject_id, "compared_at": moment, "is_settled": False}
        session.execute(insert_once(session, Picture, row))


def store_picture(session: Session, wanted: WantedPicture, png: bytes, digest: str, *, is_settled: bool) -> None:
    """Store a picture that was drawn. If there are too many, delete those least recently requested or drawn."""
    values: dict[str, Any] = {"png": png, "content_digest": digest, "is_settled": is_settled}
    session.execute(update(Picture).where(*_is(wanted.kind, wanted.subject_id)).values(values))
    _make_room(session, Picture.requested_at.is_not(None), MAX_PICTURES, Picture.requested_at)
    _make_room(session, Picture.requested_at.is_(None), MAX_EARLY, Picture.compared_at)


def delete_picture(session: Session, wanted: WantedPicture) -> None:
    """Forget a picture whose subject does not exist any longer."""
    session.execute(delete(Picture).where(*_is(wanted.kind, wanted.subject_id)))


def forget_account(session: Session, deleted: AccountDeleted) -> None:
    """Delete the pictures of all bots of an account, also of those that were deleted before."""
    _forget(session, PictureKind.BOT, select(Bot.id).where(Bot.owner_id == deleted.account))


def forget_bot(session: Session, deleted: BotDeleted) -> None:
    _forget(session, PictureKind.BOT, [deleted.bot])


def forget_tournament(session: Session, erased: TournamentErased) -> None:
    _forget(session, PictureKind.TOURNAMENT, [erased.tournament])


def _forget(session: Session, kind: PictureKind, subject_ids: Sequence[str] | Select[Any]) -> None:
    session.execute(delete(Picture).where(Picture.kind == kind, Picture.subject_id.in_(subject_ids)))


def _make_room(session: Session, some: ColumnElement[bool], most: int, age: InstrumentedAttribute[Any]) -> None:
    surplus = session.scalars(select(func.count()).select_from(Picture).where(some)).one() - most
    if surplus > 0:
        key = tuple_(Picture.kind, Picture.subject_id)
        oldest = select(Picture.kind, Picture.subject_id).where(some).order_by(age).limit(surplus)
        session.execute(delete(Picture).where(key.in_(oldest)))


def _count_waiting(session: Session) -> int:
    return session.scalars(select(func.count()).select_from(Picture).where(_is_waiting())).one()


def _is_waiting() -> ColumnElement[bool]:
    return or_(Picture.compared_at.is_(None), Picture.compared_at < Picture.requested_at)


def _is(kind: PictureKind, subject_id: str) -> tuple[ColumnElement[bool], ...]:
    return (and_(Picture.kind == kind, Picture.subject_id == subject_id),)
