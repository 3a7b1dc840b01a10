"""Append entries to the rating ledger, and update the ratings that follow from them in the same transaction.

The ratings after an entry follow from a replay of all entries up to it, in order. A void takes back what its result
gave, and changes no other result. On a ladder frozen by an audit, entries are still appended, but ratings do not change
until the repair. Every writer first takes the lock for results (``lock_ledger``), so that entries are numbered in
commit order.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Final, NamedTuple

from sqlalchemy import and_, bindparam, func, select
from sqlalchemy.orm import Session

from referee.bots.tables import Bot
from referee.db.engine import current_time, take_advisory_lock
from referee.db.prepared import Prepared, insert_columns, upsert_columns
from referee.ladders import daily_exchanges, owner_exchanges, ranks
from referee.ladders.kinds import EntryKind
from referee.ladders.rating_replay import RATING_RULES, RatedSeats, RatingMove, RatingReplay, RatingState, utc_day
from referee.ladders.tables import Ladder, LedgerEntry, Rating, RatingChange
from referee.matches.tables import Result
from referee.ratings.exchange import INHERITANCE_DAYS

PAGE_SIZE: Final = 500  # entries per query


@dataclass(frozen=True, slots=True)
class RatedResult:
    """Hold a result to be entered on its ladder."""

    ladder_id: str
    match_id: str
    seats: RatedSeats


def lock_ledger(session: Session) -> None:
    """Lock results and ledger entries against other writers.

    Call this after locking matches and before locking deal groups.
    """
    take_advisory_lock(session, "results")


def enter_results(session: Session, results: Sequence[RatedResult]) -> dict[str, list[RatingMove]]:
    """Enter the results of a closed deal group into the ledger, in this order. The caller holds the lock.

    Return the rating changes, keyed by match id; there are none on a frozen ladder.
    """
    moves: dict[str, list[RatingMove]] = {}
    for ladder_id, same_ladder in groupby(results, key=lambda result: result.ladder_id):
        moves |= _enter_on_ladder(session, ladder_id, list(same_ladder))
    return moves


def _enter_on_ladder(session: Session, ladder_id: str, results: Sequence[RatedResult]) -> dict[str, list[RatingMove]]:
    moment = current_time(session)
    entries = [append_entry(session, ladder_id, EntryKind.RESULT, result.match_id, moment=moment) for result in results]
    stored = _load_ratings(session, ladder_id, {bot for result in results for bot in result.seats.bots})
    if stored is None:
        return {}
    replay = RatingReplay(dict(stored.ratings), day=stored.exchange_day)
    parties = {pair for result in results for pair in daily_exchanges.parties_of(result.seats)}
    if utc_day(moment) != replay.day:
        replay.begin_day(utc_day(moment))
        daily_exchanges.begin_day(session, ladder_id, replay.day)
    else:
        replay.exchanged = daily_exchanges.load_sums(session, ladder_id, parties)
    _load_inherited(session, ladder_id, replay, results)
    moves = [replay.apply_result(result.seats) for result in results]
    store_changes(session, ladder_id, list(zip(entries, moves, strict=True)), stored.ratings)
    daily_exchanges.store_sums(session, ladder_id, replay.exchanged)
    exchanged = [
        owner_exchanges.sums_of(result.seats, owner_exchanges.before_of(moved))
        for result, moved in zip(results, moves, strict=True)
    ]
    owner_exchanges.add(session, ladder_id, moment.date().replace(day=1), exchanged)
    return {result.match_id: moved for result, moved in zip(results, moves, strict=True)}


def void_result(session: Session, ladder_id: str, match_id: str, reason: str, *, created_by: str | None) -> int:
    """Append an entry that voids a result, which takes back what the result gave; return its number.

    The caller holds the lock.
    """
    of_match = LedgerEntry.match_id == match_id, LedgerEntry.kind == EntryKind.RESULT
    entered = session.scalar(select(LedgerEntry.seq).where(*of_match))
    seq = append_entry(session, ladder_id, EntryKind.VOID, match_id, reason, created_by)
    if entered is None:
        return seq
    owner_exchanges.subtract(session, ladder_id, entered)
    given = _load_moves(session, ladder_id, entered)
    stored = _load_ratings(session, ladder_id, [move.bot_id for move in given])
    if stored is not None:
        moves = RatingReplay(dict(stored.ratings)).take_back(given)
        store_changes(session, ladder_id, [(seq, moves)], stored.ratings)
    return seq


def append_entry(
    session: Session,
    ladder_id: str,
    kind: EntryKind,
    match_id: str | None,
    reason: str | None = None,
    created_by: str | None = None,
    *,
    moment: datetime | None = None,
) -> int:
    """Append an entry, by default of now, without changing ratings; return its number."""
    entry = {"ladder_id": ladder_id, "kind": kind, "match_id": match_id, "reason": reason, "created_by": created_by}
    made = {"rating_rules": RATING_RULES, "created_at": moment or current_time(session)}
    return int(_APPEND.rows(session, {**entry, **made})[0][0])


def store_changes(
    session: Session, ladder_id: str, moves: Sequence[tuple[int, Sequence[RatingMove]]], known: dict[str, RatingState]
) -> None:
    """Store changes, ratings and counts for the moves of each entry.

    ``known`` has the ratings before these changes, keyed by bot id.
    """
    changes = [change_row(ladder_id, seq, move) for seq, moves_of_entry in moves for move in moves_of_entry]
    last = {move.bot_id: (seq, move.after) for seq, moves_of_entry in moves for move in moves_of_entry}
    if not changes:
        return
    # Update the bots in a fixed order, to prevent deadlocks.
    ordered = [rating_row(ladder_id, bot_id, *last[bot_id]) for bot_id in sorted(last)]
    _ADD_CHANGES.execute_all(session, changes)
    _UPSERT_RATING.execute_all(session, ordered)
    before = (known[bot_id] for bot_id in last if bot_id in known)
    ranks.update_counts(session, ladder_id, before, (state for _, state in last.values()))


def change_row(ladder_id: str, seq: int, move: RatingMove) -> dict[str, Any]:
    """Return the row of a rating change by entry ``seq``."""
    state = {"after" if name == "value" else name: value for name, value in move.after._asdict().items()}
    return {"seq": seq, "bot_id": move.bot_id, "ladder_id": ladder_id, "before": move.before.value, **state}


def rating_row(ladder_id: str, bot_id: str, seq: int, state: RatingState) -> dict[str, Any]:
    """Return the row of a rating that entry ``seq`` changed last."""
    return {"ladder_id": ladder_id, "bot_id": bot_id, "as_of_seq": seq, **state._asdict()}


def _load_moves(session: Session, ladder_id: str, seq: int) -> list[RatingMove]:
    """Return the rating changes by entry ``seq``, ordered by bot id."""
    change = RatingChange
    query = select(change.bot_id, change.before, *_STATE_AFTER).where(change.seq == seq).order_by(change.bot_id)
    changes = session.execute(query).all()
    earlier = ratings_at(session, ladder_id, seq - 1, [bot_id for bot_id, *_ in changes])
    return [
        RatingMove(bot_id, earlier[bot_id]._replace(value=before), RatingState(*after))
        for bot_id, before, *after in changes
    ]


def ratings_at(session: Session, ladder_id: str, seq: int, bots: Iterable[str]) -> dict[str, RatingState]:
    """Return the ratings of these bots after entry ``seq``, keyed by bot id. New bots have the starting rating."""
    wanted = sorted(bots)
    found = {bot_id: RatingState() for bot_id in wanted}
    for start in range(0, len(wanted) if seq else 0, PAGE_SIZE):
        page_of_bots = wanted[start : start + PAGE_SIZE]
        until = RatingChange.ladder_id == ladder_id, RatingChange.bot_id.in_(page_of_bots), RatingChange.seq <= seq
        newest = select(RatingChange.bot_id, func.max(RatingChange.seq).label("seq")).where(*until)
        latest = newest.group_by(RatingChange.bot_id).subquery()
        is_latest = and_(RatingChange.seq == latest.c.seq, RatingChange.bot_id == latest.c.bot_id)
        query = select(RatingChange.bot_id, *_STATE_AFTER).join(latest, is_latest)
        found |= {bot_id: RatingState(*state) for bot_id, *state in session.execute(query)}
    return found


class _StoredRatings(NamedTuple):
    """Hold the stored ratings of some bots of a ladder, keyed by bot id, and the day of the ladder's sums."""

    ratings: dict[str, RatingState]
    exchange_day: int


def _load_ratings(session: Session, ladder_id: str, bots: Iterable[str]) -> _StoredRatings | None:
    """Return the stored ratings of these bots, or None if the ladder is frozen."""
    known, day = {}, 0
    for rows in _KNOWN.rows_of_each(session, [{"ladder": ladder_id, "bot": bot_id} for bot_id in sorted(bots)]):
        for frozen, exchange_day, rated_bot, *state in rows:
            if frozen is not None:
                return None
            day = exchange_day
            if rated_bot is not None:
                known[rated_bot] = RatingState(*state)
    return _StoredRatings(known, day)


def _load_inherited(session: Session, ladder_id: str, replay: RatingReplay, results: Sequence[RatedResult]) -> None:
    """Add the ratings that new bots in these results may inherit: those of their owners' bots that played recently."""
    since = replay.day - INHERITANCE_DAYS
    owners = {
        owner
        for result in results
        for bot, owner in zip(result.seats.bots, result.seats.owners, strict=True)
        if owner is not None and not replay.ratings.get(bot, RatingState()).games
    }
    wanted = [{"ladder": ladder_id, "owner": owner, "since": max(since, 1)} for owner in sorted(owners)]
    for values, rows in zip(wanted, _OWNED.rows_of_each(session, wanted), strict=True):
        for bot_id, *state in rows:
            replay.ratings.setdefault(bot_id, RatingState(*state))
            replay.bots_of[str(values["owner"])].add(bot_id)


# These statements are built once, without the ORM, because some of them run for every result.
_LADDERS, _ENTRIES_TABLE, _RATINGS, _CHANGES_TABLE, _RESULTS, _BOTS = (
    model.__table__ for model in (Ladder, LedgerEntry, Rating, RatingChange, Result, Bot)
)
_APPEND = Prepared(insert_columns(_ENTRIES_TABLE, without=["seq"]).returning(_ENTRIES_TABLE.c.seq))
_ADD_CHANGES = Prepared(insert_columns(_CHANGES_TABLE))
_STATE: Final = [_RATINGS.c[name] for name in RatingState._fields]  # columns of a whole state
_STATE_AFTER: Final = [_CHANGES_TABLE.c["after" if name == "value" else name] for name in RatingState._fields]
_KNOWN = Prepared(
    select(_LADDERS.c.frozen_reason, _LADDERS.c.exchange_day, _RATINGS.c.bot_id, *_STATE)
    .select_from(
        _LADDERS.outerjoin(_RATINGS, and_(_RATINGS.c.ladder_id == _LADDERS.c.id, _RATINGS.c.bot_id == bindparam("bot")))
    )
    .where(_LADDERS.c.id == bindparam("ladder"))
)
_OWNED = Prepared(
    select(_RATINGS.c.bot_id, *_STATE)
    .select_from(_RATINGS.join(_BOTS, _BOTS.c.id == _RATINGS.c.bot_id))
    .where(_RATINGS.c.ladder_id == bindparam("ladder"), _BOTS.c.owner_id == bindparam("owner"))
    .where(_RATINGS.c.last_day >= bindparam("since"))
)

_UPSERT_RATING = Prepared(upsert_columns(_RATINGS, key=["ladder_id", "bot_id"]))
