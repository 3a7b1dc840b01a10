"""Find ladders, and read the history of a bot's rating. ``ladder_rows`` reads the rows of ladders."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, and_, bindparam, func, select
from sqlalchemy.orm import Session

from referee.db.engine import current_time
from referee.db.idempotency import insert_once
from referee.db.ids import new_id
from referee.db.paging import Cursor, Page, load_page
from referee.db.prepared import Prepared
from referee.errors import NotFound
from referee.ladders.kinds import EntryKind
from referee.ladders.ladder_names import make_unique, variant_name
from referee.ladders.tables import Ladder, LedgerEntry, RatingChange
from referee.match.canonical import dumps
from referee.matches.tables import MatchSeat, StoredMatch


@dataclass(frozen=True, slots=True)
class DescribedChange:
    """Describe a change of a bot's rating by a ledger entry of this ``kind``.

    For a result, ``version`` is the version of the bot in that match, and ``version_changed`` is true if it differs
    from that of the previous result.
    """

    seq: int
    bot_id: str
    kind: EntryKind
    match_id: str
    reason: str | None
    at: datetime
    before: int
    after: int
    games: int
    version: str | None
    version_changed: bool


def get_or_create_ladder(session: Session, game: str, options: Mapping[str, Any], seats: int) -> Ladder:
    """Return the ladder of this game with these (complete) options and seats; create it if there is none."""
    ladder = find_ladder(session, game, options, seats)
    if ladder is None:
        row: dict[str, Any] = {"id": new_id("ladder"), "game": game, "options": dict(options)}
        row["options_key"] = options_key(options)
        row |= {"seats": seats, "official": False, "unlisted": False, "created_at": current_time(session)}
        official = session.scalar(select(Ladder).where(Ladder.game == game, Ladder.official, ~Ladder.unlisted))
        standard = (official.options, official.seats) if official else None
        name = variant_name(game, options, seats, standard)
        row["name"] = make_unique(name, row["id"], {*session.scalars(select(Ladder.name).where(Ladder.name == name))})
        session.execute(insert_once(session, Ladder, row))
        ladder = find_ladder(session, game, options, seats)
        assert ladder is not None
    return ladder


def find_ladder(session: Session, game: str, options: Mapping[str, Any], seats: int) -> Ladder | None:
    """Return the ladder of this game with these (complete) options and seats, or None if there is none."""
    wanted = Ladder.game == game, Ladder.options_key == options_key(options), Ladder.seats == seats
    return session.scalar(select(Ladder).where(*wanted))


def options_key(options: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of these options, by which ladders are found."""
    return hashlib.sha256(dumps(dict(options))).hexdigest()


def find_ladders_of(session: Session, found: Sequence[StoredMatch]) -> dict[str, Ladder]:
    """Return the ladders for which these matches are rated, keyed by match id, with one query.

    Omit unrated matches, and those whose ladder does not exist before its first result.
    """
    terms = {match.id: (match.game, options_key(match.options), match.seats) for match in found if match.rated}
    query = select(Ladder).where(Ladder.options_key.in_({key for _, key, _ in terms.values()}))
    ladders = session.scalars(query).all() if terms else []
    by_terms = {(ladder.game, ladder.options_key, ladder.seats): ladder for ladder in ladders}
    return {match_id: by_terms[key] for match_id, key in terms.items() if key in by_terms}


def get_or_create_ladder_id(session: Session, game: str, options: Mapping[str, Any], seats: int) -> str:
    """Return the id of the ladder that ``get_or_create_ladder`` returns.

    Read an existing ladder without the ORM, for speed.
    """
    found = _LADDER_ID.rows(session, {"game": game, "key": options_key(options), "seats": seats})
    return str(found[0][0]) if found else get_or_create_ladder(session, game, options, seats).id


def get_ladder(session: Session, ladder_id: str) -> Ladder:
    ladder = session.get(Ladder, ladder_id)
    if ladder is None:
        raise NotFound("ladder", ladder_id)
    return ladder


def list_ladders(
    session: Session, *, game: str | None = None, limit: int = 50, cursor: Cursor | None = None
) -> Page[Ladder]:
    """Return a page of listed ladders: the official ones by name, then the variants by name."""
    query = select(Ladder).where(~Ladder.unlisted)
    if game is not None:
        query = query.where(Ladder.game == game)
    return load_page(session, query, Ladder.official.desc(), Ladder.name, limit=limit, cursor=cursor)


def count_ladders_by_game(session: Session) -> dict[str, int]:
    """Return the number of listed ladders of each game, keyed by game. Omit games without one."""
    query = select(Ladder.game, func.count()).where(~Ladder.unlisted).group_by(Ladder.game)
    return dict(session.execute(query).all())


def last_seq(session: Session, ladder_id: str) -> int:
    """Return the number of the last entry of this ladder, or 0 before the first."""
    return session.scalar(select(func.max(LedgerEntry.seq)).where(LedgerEntry.ladder_id == ladder_id)) or 0


def list_changes(
    session: Session, ladder_id: str, bot_id: str, *, limit: int = 50, cursor: Cursor | None = None
) -> Page[DescribedChange]:
    """Return a page of changes of a bot's rating, latest first."""
    query = _changes_query().where(RatingChange.ladder_id == ladder_id, RatingChange.bot_id == bot_id)
    page = load_page(session, query, RatingChange.seq.desc(), limit=limit, cursor=cursor)
    return Page(_describe_changes(session, page.items), page.next)


def _changes_query() -> Select[RatingChange, LedgerEntry, str | None]:
    """Return a query of changes with their entries and, for results, the version of the bot in the match."""
    # The concatenation makes SQLite seek the match instead of scanning all matches of the bot for every change.
    seat = and_(MatchSeat.match_id == LedgerEntry.match_id, MatchSeat.bot_id.concat("") == RatingChange.bot_id)
    version = select(MatchSeat.version).where(seat, LedgerEntry.kind == EntryKind.RESULT).limit(1)  # anchors may repeat
    query = select(RatingChange, LedgerEntry, version.correlate(LedgerEntry, RatingChange).scalar_subquery())
    return query.join(LedgerEntry, LedgerEntry.seq == RatingChange.seq)


def _describe_changes(session: Session, rows: Sequence[Any]) -> list[DescribedChange]:
    """Return these changes of one bot, latest first. Compare each version with that of the result before it."""
    described: list[DescribedChange] = []
    earlier = _version_before(session, rows[-1][0]) if rows else _NO_VERSION
    for change, entry, version in reversed(rows):
        is_result = entry.kind == EntryKind.RESULT
        changed = is_result and earlier is not _NO_VERSION and version != earlier
        earlier = version if is_result else earlier
        of_act = (change.seq, change.bot_id, entry.kind, str(entry.match_id), entry.reason, entry.created_at)
        described.append(DescribedChange(*of_act, change.before, change.after, change.games, version, changed))
    return described[::-1]


def _version_before(session: Session, change: RatingChange) -> Any:
    """Return the bot's version in the last result before this change, or ``_NO_VERSION`` if there is none."""
    query = _changes_query().where(RatingChange.ladder_id == change.ladder_id, RatingChange.bot_id == change.bot_id)
    query = query.where(RatingChange.seq < change.seq, LedgerEntry.kind == EntryKind.RESULT)
    found = session.execute(query.order_by(RatingChange.seq.desc()).limit(1)).one_or_none()
    return _NO_VERSION if found is None else found[2]


_NO_VERSION: Final = object()  # differs from None, the version of a bot that reports none
_LADDERS = Ladder.__table__
_LADDER_ID: Final = Prepared(
    select(_LADDERS.c.id).where(
        _LADDERS.c.game == bindparam("game"),
        _LADDERS.c.options_key == bindparam("key"),
        _LADDERS.c.seats == bindparam("seats"),
    )
)
