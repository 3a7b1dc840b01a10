"""Append entries to the rating ledger, and update the ratings that follow from them in the same transaction.

The ratings after an entry follow from a replay, in order of entries, of all results that were entered and not voided by
then. On a ladder frozen by an audit, entries are still appended, but ratings do not change until the repair.
Every writer first takes the lock for results (``lock_ledger``), so that entries are numbered in commit order.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Insert, and_, bindparam, func, select
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.orm import Session, aliased

from referee.db.engine import current_time, get_database, take_advisory_lock
from referee.db.prepared import Prepared, insert_columns
from referee.ladders import ranks
from referee.ladders.kinds import EntryKind
from referee.ladders.rating_replay import RatingMove, RatingReplay, RatingState
from referee.ladders.tables import Ladder, LedgerEntry, Rating, RatingChange
from referee.matches.tables import Result

PAGE_SIZE: Final = 500  # entries per query


@dataclass(frozen=True, slots=True)
class RatedResult:
    """Hold a result to be entered on its ladder: for each seat, the bot, its placement, and whether it is rated."""

    ladder_id: str
    match_id: str
    bots: Sequence[str]
    placements: Sequence[int]
    rated: Sequence[bool]


@dataclass(frozen=True, slots=True)
class ReplayEntry:
    """Hold a ledger entry with all data for a replay.

    ``result_seq`` and ``void_seq`` are the numbers of the entries by which its match was entered and voided, or None.
    ``bots`` is empty if the match has no valid result.
    """

    seq: int
    kind: EntryKind
    match_id: str | None
    result_seq: int | None
    void_seq: int | None
    bots: Sequence[str] = ()
    placements: Sequence[int] = ()
    rated: Sequence[bool] = ()

    def counts_at(self, seq: int) -> bool:
        """Return whether this is a result that counts on the ladder after entry ``seq``."""
        return self.kind == EntryKind.RESULT and bool(self.bots) and (self.void_seq is None or self.void_seq > seq)


def lock_ledger(session: Session) -> None:
    """Lock results and ledger entries against other writers.

    Call this after locking matches and before locking deal groups.
    """
    take_advisory_lock(session, "results")


def enter_results(session: Session, results: Sequence[RatedResult]) -> None:
    """Enter the results of a closed deal group into the ledger, in this order. The caller holds the lock."""
    for ladder_id, same_ladder in groupby(results, key=lambda result: result.ladder_id):
        ladder_results = list(same_ladder)
        entries = [append_entry(session, ladder_id, EntryKind.RESULT, result.match_id) for result in ladder_results]
        known = _load_ratings(session, ladder_id, {bot for result in ladder_results for bot in result.bots})
        if known is None:
            continue
        replay = RatingReplay(dict(known))
        moves = [replay.apply_result(result.bots, result.placements, result.rated) for result in ladder_results]
        store_changes(session, ladder_id, list(zip(entries, moves, strict=True)), known)


def void_result(session: Session, result: RatedResult, reason: str, *, created_by: str | None) -> int:
    """Append an entry that voids a result; return its number. The caller holds the lock.

    All rating changes that follow, including those of bots that were not in the match, are stored with this entry.
    """
    entered = session.scalar(
        select(LedgerEntry.seq).where(LedgerEntry.match_id == result.match_id, LedgerEntry.kind == EntryKind.RESULT)
    )
    seq = append_entry(session, result.ladder_id, EntryKind.VOID, result.match_id, reason, created_by)
    frozen = session.scalars(select(Ladder.frozen_reason).where(Ladder.id == result.ladder_id)).one()
    if entered is not None and frozen is None:
        replayed = replay_ratings(session, result.ladder_id, entered - 1, seq)
        known = _load_ratings(session, result.ladder_id, replayed.ratings) or {}
        store_changes(session, result.ladder_id, [(seq, RatingReplay(dict(known)).moves_towards(replayed))], known)
    return seq


def append_entry(
    session: Session,
    ladder_id: str,
    kind: EntryKind,
    match_id: str | None,
    reason: str | None = None,
    created_by: str | None = None,
) -> int:
    """Append an entry without changing ratings; return its number."""
    entry = {"ladder_id": ladder_id, "kind": kind, "match_id": match_id, "reason": reason, "created_by": created_by}
    return int(_APPEND.rows(session, {**entry, "created_at": current_time(session)})[0][0])


def store_changes(
    session: Session, ladder_id: str, moves: Sequence[tuple[int, Sequence[RatingMove]]], known: dict[str, RatingState]
) -> None:
    """Store changes, ratings and counts for the moves of each entry.

    ``known`` has the ratings before these changes, keyed by bot id.
    """
    changes: list[dict[str, Any]] = [
        {"seq": seq, "bot_id": move.bot_id, "ladder_id": ladder_id}
        | {"before": move.before, "after": move.after, "games": move.games}
        for seq, moves_of_entry in moves
        for move in moves_of_entry
    ]
    ratings: dict[str, dict[str, Any]] = {
        row["bot_id"]: {"ladder_id": ladder_id, "bot_id": row["bot_id"], "value": row["after"]}
        | {"games": row["games"], "as_of_seq": row["seq"]}
        for row in changes
    }
    if not changes:
        return
    # Update the bots in a fixed order, to prevent deadlocks.
    ordered = [ratings[bot_id] for bot_id in sorted(ratings)]
    _ADD_CHANGES.execute_all(session, changes)
    _UPSERT_RATING[get_database(session).is_sqlite].execute_all(session, ordered)
    before = (known[bot_id] for bot_id in ratings if bot_id in known)
    ranks.update_counts(session, ladder_id, before, (RatingState(row["value"], row["games"]) for row in ordered))


def read_entries(
    session: Session, ladder_id: str, *, after: int = 0, until: int | None = None
) -> Iterator[list[ReplayEntry]]:
    """Yield the entries of a ladder above ``after`` and up to ``until``, by default all, in order and in pages."""
    while True:
        rows = session.connection().execute(
            _READ_ENTRIES, {"ladder": ladder_id, "after": after, "until": until or _LAST}
        )
        page = [_replay_entry(*row) for row in rows]
        if page:
            yield page
        if len(page) < PAGE_SIZE:
            return
        after = page[-1].seq


def _replay_entry(
    seq: int, kind: EntryKind, match_id: str | None, entered: int | None, voided: int | None, *by_seat: Any
) -> ReplayEntry:
    lengths = {len(values) if isinstance(values, list) else 0 for values in by_seat}
    # A damaged result does not count; the audit reports it.
    return ReplayEntry(seq, kind, match_id, entered, voided, *(by_seat if len(lengths) == 1 and lengths != {0} else ()))


def replay_ratings(session: Session, ladder_id: str, after: int, until: int) -> RatingReplay:
    """Return the ratings after entry ``until`` of all bots with results after entry ``after``.

    No other rating can change. The replay starts at the last entry up to ``after`` with stored ratings that are valid.
    """
    start = _last_settled_seq(session, ladder_id, after, until)
    replay = RatingReplay()
    for page in read_entries(session, ladder_id, after=start, until=until):
        occurring = {bot for act in page if act.kind == EntryKind.RESULT for bot in act.bots}
        replay.ratings |= ratings_at(session, ladder_id, start, occurring - replay.ratings.keys())
        for entry in page:
            if entry.counts_at(until):
                replay.apply_result(entry.bots, entry.placements, entry.rated)
    return replay


def ratings_at(session: Session, ladder_id: str, seq: int, bots: Iterable[str]) -> dict[str, RatingState]:
    """Return the ratings of these bots after entry ``seq``, keyed by bot id. New bots have the starting rating."""
    wanted = sorted(bots)
    found = {bot_id: RatingState() for bot_id in wanted}
    for start in range(0, len(wanted) if seq else 0, PAGE_SIZE):
        page_of_bots = wanted[start : start + PAGE_SIZE]
        latest = (
            select(RatingChange.bot_id, func.max(RatingChange.seq).label("seq"))
            .where(RatingChange.ladder_id == ladder_id, RatingChange.bot_id.in_(page_of_bots), RatingChange.seq <= seq)
            .group_by(RatingChange.bot_id)
            .subquery()
        )
        is_latest = and_(RatingChange.seq == latest.c.seq, RatingChange.bot_id == latest.c.bot_id)
        query = select(RatingChange.bot_id, RatingChange.after, RatingChange.games).join(latest, is_latest)
        found |= {bot_id: RatingState(value, games) for bot_id, value, games in session.execute(query)}
    return found


def _last_settled_seq(session: Session, ladder_id: str, seq: int, until: int) -> int:
    """Return the last entry up to ``seq`` for which no earlier result was voided between it and entry ``until``."""
    entered, voided = aliased(LedgerEntry), aliased(LedgerEntry)
    while True:
        first = session.scalar(
            select(func.min(entered.seq))
            .join(voided, and_(voided.match_id == entered.match_id, voided.kind == EntryKind.VOID))
            .where(entered.ladder_id == ladder_id, entered.kind == EntryKind.RESULT, entered.seq <= seq)
            .where(voided.ladder_id == ladder_id, voided.seq > seq, voided.seq <= until)
        )
        if first is None:
            return seq
        seq = first - 1


def _load_ratings(session: Session, ladder_id: str, bots: Iterable[str]) -> dict[str, RatingState] | None:
    """Return the stored ratings of these bots, keyed by bot id, or None if the ladder is frozen."""
    known = {}
    for rows in _KNOWN.rows_of_each(session, [{"ladder": ladder_id, "bot": bot_id} for bot_id in sorted(bots)]):
        for frozen, rated_bot, value, games in rows:
            if frozen is not None:
                return None
            if rated_bot is not None:
                known[rated_bot] = RatingState(value, games)
    return known


# These statements are built once, without the ORM, because some of them run for every result.
_LAST = 2**62
_LADDERS, _ENTRIES_TABLE, _RATINGS, _CHANGES_TABLE, _RESULTS = (
    model.__table__ for model in (Ladder, LedgerEntry, Rating, RatingChange, Result)
)
_APPEND = Prepared(insert_columns(_ENTRIES_TABLE, without=["seq"]).returning(_ENTRIES_TABLE.c.seq))
_ADD_CHANGES = Prepared(insert_columns(_CHANGES_TABLE))
_KNOWN = Prepared(
    select(_LADDERS.c.frozen_reason, _RATINGS.c.bot_id, _RATINGS.c.value, _RATINGS.c.games)
    .select_from(
        _LADDERS.outerjoin(_RATINGS, and_(_RATINGS.c.ladder_id == _LADDERS.c.id, _RATINGS.c.bot_id == bindparam("bot")))
    )
    .where(_LADDERS.c.id == bindparam("ladder"))
)


def _upsert_rating(sqlite: bool) -> Insert:
    row: dict[str, Any] = {column.name: bindparam(column.name) for column in _RATINGS.c}
    added = (sqlite_insert if sqlite else postgres_insert)(_RATINGS).values(row)
    values = {name: added.excluded[name] for name in ("value", "games", "as_of_seq")}
    return added.on_conflict_do_update(index_elements=["ladder_id", "bot_id"], set_=values)


_UPSERT_RATING = {sqlite: Prepared(_upsert_rating(sqlite)) for sqlite in (True, False)}

_ENTERED, _VOIDED = _ENTRIES_TABLE.alias("entered"), _ENTRIES_TABLE.alias("voided")
_READ_ENTRIES = (
    select(
        *(_ENTRIES_TABLE.c[name] for name in ("seq", "kind", "match_id")),
        _ENTERED.c.seq,
        _VOIDED.c.seq,
        *(_RESULTS.c[name] for name in ("bots", "placements", "rated")),
    )
    .select_from(
        _ENTRIES_TABLE.outerjoin(
            _ENTERED, and_(_ENTERED.c.match_id == _ENTRIES_TABLE.c.match_id, _ENTERED.c.kind == EntryKind.RESULT)
        )
        .outerjoin(_VOIDED, and_(_VOIDED.c.match_id == _ENTRIES_TABLE.c.match_id, _VOIDED.c.kind == EntryKind.VOID))
        .outerjoin(_RESULTS, _RESULTS.c.match_id == _ENTRIES_TABLE.c.match_id)
    )
    .where(_ENTRIES_TABLE.c.ladder_id == bindparam("ladder"), _ENTRIES_TABLE.c.seq > bindparam("after"))
    .where(_ENTRIES_TABLE.c.seq <= bindparam("until"))
    .order_by(_ENTRIES_TABLE.c.seq)
    .limit(PAGE_SIZE)
)
