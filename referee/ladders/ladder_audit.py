"""Audit ladders: compare ledger entries with results, and stored numbers with a replay of the entries."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from sqlalchemy import Select, and_, or_, select
from sqlalchemy.orm import Session, aliased

from referee.ladders import ranks
from referee.ladders.audit_findings import Difference
from referee.ladders.daily_exchanges import load_all_sums
from referee.ladders.kinds import EntryKind
from referee.ladders.ladder_replay import LadderReplay
from referee.ladders.ledger import STATE, STATE_AFTER, ReplayEntry
from referee.ladders.rating_replay import RatingMove, RatingState
from referee.ladders.tables import Ladder, LedgerEntry, Rating, RatingChange, RatingCount
from referee.matches.states import PLAYED, DealGroupState, MatchState
from referee.matches.tables import DealGroup, MatchLog, Result, StoredMatch

_Entries = TypeVar("_Entries", bound=Select[*tuple[Any, ...]])

Changes = dict[str, tuple[str, int, RatingState]]  # by bot: ladder id, rating before, state after
Ratings = dict[str, tuple[RatingState, int]]  # by bot: state, and the last entry that changed it


def check_ladders(session: Session, step: Callable[[int], None]) -> Iterator[Difference]:
    """Yield all differences of all ladders. After each page, call ``step`` with the number of entries compared."""
    for ladder_id in session.scalars(select(Ladder.id).order_by(Ladder.id)).all():
        yield from check_ladder(session, ladder_id, step)


def check_ladder(session: Session, ladder_id: str, step: Callable[[int], None]) -> Iterator[Difference]:
    yield from check_entries(session, ladder_id)
    replay = LadderReplay(session, ladder_id)
    for entry, stored, expected in walk_entries(replay, step):
        yield from _compare_entries("change", ladder_id, stored, expected, entry.seq)
    stored_now, expected_now = stored_ratings(session, ladder_id), expected_ratings(replay)
    yield from _compare_entries("rating", ladder_id, _without_balances(stored_now), _without_balances(expected_now))
    yield from _compare_entries("balance", ladder_id, _balances(stored_now), _balances(expected_now))
    yield from _compare_entries("exchange", ladder_id, stored_exchanges(session, ladder_id), expected_exchanges(replay))
    yield from _compare_entries(
        "count", ladder_id, stored_counts(session, ladder_id), ranks.count_bands(replay.rating_replay.ratings.values())
    )


def stored_counts(session: Session, ladder_id: str) -> dict[ranks.Band, int]:
    counts = select(RatingCount.width, RatingCount.band, RatingCount.bots)
    counts = counts.where(RatingCount.ladder_id == ladder_id, RatingCount.bots != 0)
    return {(width, band): bots for width, band, bots in session.execute(counts)}


def walk_entries(replay: LadderReplay, step: Callable[[int], None]) -> Iterator[tuple[ReplayEntry, Changes, Changes]]:
    """Yield (entry, stored changes, derived changes).

    The derived changes of a repair take the ratings before it from the stored changes. After each page, call ``step``
    with the number of its entries.
    """
    for page in replay.pages():
        stored_by_entry = _stored_changes(replay.session, [act.seq for act in page])
        for entry in page:
            stored = stored_by_entry.get(entry.seq, {})
            moves = replay.apply_entry(entry)
            if entry.kind == EntryKind.REPAIR:
                replay.apply_repair(entry.seq, list(stored))
            yield entry, stored, _expected_changes(replay, entry, moves, stored)
        step(len(page))


def expected_ratings(replay: LadderReplay) -> Ratings:
    held = replay.rating_replay.ratings
    return {bot: (held.get(bot, RatingState()), seq) for bot, seq in replay.as_of.items()}


def stored_ratings(session: Session, ladder_id: str) -> Ratings:
    query = select(Rating.bot_id, Rating.as_of_seq, *STATE).where(Rating.ladder_id == ladder_id)
    return {bot: (RatingState(*state), as_of) for bot, as_of, *state in session.execute(query)}


def stored_exchanges(session: Session, ladder_id: str) -> dict[Any, int]:
    """Return the sums of the ladder's day, keyed by parties, and the day itself, keyed by "day"."""
    day = session.scalars(select(Ladder.exchange_day).where(Ladder.id == ladder_id)).one()
    return {**load_all_sums(session, ladder_id), "day": day}


def expected_exchanges(replay: LadderReplay) -> dict[Any, int]:
    return {**replay.rating_replay.exchanged, "day": replay.rating_replay.day}


def _without_balances(ratings: Ratings) -> Ratings:
    return {bot: (state._replace(balance=0), seq) for bot, (state, seq) in ratings.items()}


def _balances(ratings: Ratings) -> dict[str, int]:
    return {bot: state.balance for bot, (state, _) in ratings.items() if state.balance}


def check_entries(session: Session, ladder_id: str) -> Iterator[Difference]:
    """Yield differences for results and voids without a ledger entry, and for entries without a valid cause."""
    for match_id, seq in session.execute(missing_entries(ladder_id)):
        yield Difference("entry", match_id, "none", f"a ledger entry for result {seq}", ladder_id)
    for match_id in session.scalars(missing_voids(ladder_id)):
        yield Difference("entry", match_id, "no void", "a ledger entry that voids it", ladder_id)
    for entry_seq, of, kind in session.execute(invalid_entries(ladder_id)):
        yield Difference("entry", f"{entry_seq} of {of}", kind, "no entry: its match cannot count", ladder_id)
    for entry_seq, of, kind, home in session.execute(misplaced_entries(ladder_id)):
        for concerned in (ladder_id, home):
            yield Difference("entry", f"{entry_seq} of {of}", f"{kind} on {ladder_id}", f"on {home}", concerned)
    for entry_seq, of in session.execute(entries_without_result(ladder_id)):
        yield Difference("entry", f"{entry_seq} of {of}", "result", "a result of the match on this ladder", ladder_id)
    for entry_seq, of, status in session.execute(voids_without_cause(ladder_id)):
        yield Difference("entry", f"{entry_seq} of {of}", f"void, the match is {status}", "a void match", ladder_id)


def missing_entries(ladder_id: str) -> Select[str, int]:
    """Return a query of (match id, seq) of results that count but have no ledger entry, in order of ``seq``."""
    query = select(Result.match_id, Result.seq).join(StoredMatch, StoredMatch.id == Result.match_id)
    query = query.join(DealGroup, DealGroup.id == StoredMatch.group_id).where(Result.ladder_id == ladder_id)
    query = query.where(
        StoredMatch.status == MatchState.FINISHED,
        DealGroup.state == DealGroupState.REVEALED,
        ~_has_entry(Result.match_id, EntryKind.RESULT),
    )
    return query.order_by(Result.seq)


def missing_voids(ladder_id: str) -> Select[str]:
    query = (
        select(Result.match_id)
        .join(StoredMatch, StoredMatch.id == Result.match_id)
        .where(Result.ladder_id == ladder_id)
    )
    return query.where(StoredMatch.status == EntryKind.VOID, ~_has_entry(Result.match_id, EntryKind.VOID)).order_by(
        Result.seq
    )


def invalid_entries(ladder_id: str) -> Select[int, str | None, str]:
    """Return a query of entries that cannot be right, as (seq, match id, kind).

    These are entries without a match, entries of a match that neither ended nor has a result, results whose deal group
    is not closed, and voids of finished matches without a reason.
    """
    query = _join_matches(select(LedgerEntry.seq, LedgerEntry.match_id, LedgerEntry.kind), ladder_id)
    played = or_(Result.seq.is_not(None), StoredMatch.status.in_(PLAYED))
    closed = or_(DealGroup.state == DealGroupState.REVEALED, MatchLog.reveal_line.is_not(None))
    none = or_(
        LedgerEntry.match_id.is_(None),
        ~played,
        and_(LedgerEntry.kind == EntryKind.RESULT, ~closed),
        and_(
            LedgerEntry.kind == EntryKind.VOID, StoredMatch.status == MatchState.FINISHED, StoredMatch.reason.is_(None)
        ),
    )
    return query.where(none).order_by(LedgerEntry.seq)


def misplaced_entries(ladder_id: str) -> Select[int, str | None, str, str | None]:
    """Return a query of entries whose result belongs to another ladder, as (seq, match id, kind, id of that ladder)."""
    query = _join_matches(select(LedgerEntry.seq, LedgerEntry.match_id, LedgerEntry.kind, Result.ladder_id), ladder_id)
    return query.where(Result.ladder_id.is_not(None), Result.ladder_id != ladder_id).order_by(LedgerEntry.seq)


def entries_without_result(ladder_id: str) -> Select[int, str | None]:
    """Return a query of entries (seq, match id) of played matches that have no result that counts and no void."""
    query = _join_matches(select(LedgerEntry.seq, LedgerEntry.match_id), ladder_id)
    query = query.where(LedgerEntry.kind == EntryKind.RESULT, ~_has_entry(LedgerEntry.match_id, EntryKind.VOID))
    return query.where(StoredMatch.status.in_(PLAYED), Result.ladder_id.is_(None)).order_by(LedgerEntry.seq)


def voids_without_cause(ladder_id: str) -> Select[int, str | None, str]:
    query = _join_matches(select(LedgerEntry.seq, LedgerEntry.match_id, StoredMatch.status), ladder_id)
    played = Result.seq.is_not(None), StoredMatch.status != MatchState.VOID
    given = or_(StoredMatch.status != MatchState.FINISHED, StoredMatch.reason.is_not(None))
    return query.where(LedgerEntry.kind == EntryKind.VOID, *played, given).order_by(LedgerEntry.seq)


def _join_matches(query: _Entries, ladder_id: str) -> _Entries:
    """Restrict ``query`` to results and voids of a ladder, outer-joined with their matches."""
    query = query.select_from(LedgerEntry).outerjoin(StoredMatch, StoredMatch.id == LedgerEntry.match_id)
    query = query.outerjoin(Result, Result.match_id == StoredMatch.id).outerjoin(
        DealGroup, DealGroup.id == StoredMatch.group_id
    )
    query = query.outerjoin(MatchLog, MatchLog.match_id == StoredMatch.id)
    return query.where(LedgerEntry.ladder_id == ladder_id, LedgerEntry.kind.in_((EntryKind.RESULT, EntryKind.VOID)))


def _has_entry(match_id: Any, kind: EntryKind) -> Any:
    entry = aliased(LedgerEntry)
    return select(entry.seq).where(and_(entry.match_id == match_id, entry.kind == kind)).exists()


def _stored_changes(session: Session, seqs: list[int]) -> dict[int, Changes]:
    row = RatingChange
    query = select(row.seq, row.bot_id, row.ladder_id, row.before, *STATE_AFTER).where(row.seq.in_(seqs))
    found: dict[int, Changes] = {}
    for seq, bot_id, ladder_id, before, *state in session.execute(query):
        found.setdefault(seq, {})[bot_id] = (ladder_id, before, RatingState(*state))
    return found


def _expected_changes(replay: LadderReplay, entry: ReplayEntry, moves: list[RatingMove], stored: Changes) -> Changes:
    if entry.kind == EntryKind.REPAIR:
        ratings = replay.rating_replay.ratings
        return {bot: (replay.ladder_id, before, ratings[bot]) for bot, (_, before, _) in stored.items()}
    return {move.bot_id: (replay.ladder_id, move.before.value, move.after) for move in moves}


def _compare_entries(
    kind: str,
    ladder_id: str,
    stored: Mapping[Any, Any],
    expected: Mapping[Any, Any],
    entry: int | str | None = None,
) -> Iterator[Difference]:
    """Yield a difference for each key whose values differ.

    The difference is named by ``entry``, which is the ladder by default, and the key.
    """
    if stored == expected:
        return
    for key in sorted(stored.keys() | expected.keys(), key=str):
        if stored.get(key) != expected.get(key):
            name = str((entry or ladder_id, key))
            yield Difference(kind, name, str(stored.get(key)), str(expected.get(key)), ladder_id)
