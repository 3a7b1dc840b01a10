"""Audit ladders: compare ledger entries with results, and stored numbers with a replay of the entries."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, or_, select
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

Changes = dict[str, tuple[str, int, RatingState]]  # by bot: ladder id, rating before, state after
Ratings = dict[str, tuple[RatingState, int]]  # by bot: state, and the last entry that changed it


def check_ladders(session: Session, step: Callable[[int], None]) -> Iterator[Difference]:
    """Yield all differences of all ladders. After each page, call ``step`` with the number of entries compared."""
    for ladder_id in session.scalars(select(Ladder.id).order_by(Ladder.id)).all():
        yield from check_ladder(session, ladder_id, step)


def check_ladder(session: Session, ladder_id: str, step: Callable[[int], None]) -> Iterator[Difference]:
    yield from check_entries(session, ladder_id)
    replay = LadderReplay(session, ladder_id)
    for entry, stored, moves in walk_entries(replay, step):
        yield from _compare_entries("change", ladder_id, stored, expected_changes(ladder_id, moves), entry.seq)
    stored_now, expected_now = stored_ratings(session, ladder_id), expected_ratings(replay)
    yield from _compare_entries("rating", ladder_id, _without_balances(stored_now), _without_balances(expected_now))
    yield from _compare_entries("balance", ladder_id, _balances(stored_now), _balances(expected_now))
    yield from _compare_entries("exchange", ladder_id, stored_exchanges(session, ladder_id), expected_exchanges(replay))
    yield from _compare_entries(
        "count", ladder_id, stored_counts(session, ladder_id), ranks.count_bands(replay.rating_replay.ratings.values())
    )


def stored_counts(session: Session, ladder_id: str) -> dict[int, int]:
    counts = select(RatingCount.band, RatingCount.bots)
    return dict(session.execute(counts.where(RatingCount.ladder_id == ladder_id, RatingCount.bots != 0)).all())


def walk_entries(
    replay: LadderReplay, step: Callable[[int], None]
) -> Iterator[tuple[ReplayEntry, Changes, list[RatingMove]]]:
    """Yield each entry of the ladder with its stored changes, and with those that the replay derives.

    After each page, call ``step`` with the number of its entries.
    """
    for page in replay.pages():
        stored = _stored_changes(replay.session, [entry.seq for entry in page])
        for entry in page:
            yield entry, stored.get(entry.seq, {}), replay.apply_entry(entry)
        step(len(page))


def expected_changes(ladder_id: str, moves: Iterable[RatingMove]) -> Changes:
    return {move.bot_id: (ladder_id, move.before.value, move.after) for move in moves}


def expected_ratings(replay: LadderReplay) -> Ratings:
    ratings = replay.rating_replay.ratings
    return {bot: (ratings[bot], seq) for bot, seq in replay.as_of.items()}


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
    """Yield damage of the ledger itself: entries that are missing, and entries that contradict their matches.

    An entry cannot be doubled, because the database accepts one of each kind for a match.
    """
    for match_id, seq in session.execute(_results_without_entry(ladder_id)):
        yield Difference("entry", match_id, "no entry", f"an entry for result {seq}", ladder_id)
    for match_id in session.scalars(_voids_without_entry(ladder_id)):
        yield Difference("entry", match_id, "no void", "an entry that voids it", ladder_id)
    entries = _entries_with_matches(ladder_id)
    for seq, of, kind, _, home in session.execute(entries.where(Result.ladder_id != ladder_id)):
        yield Difference("entry", f"{seq} of {of}", f"a {kind} on this ladder", f"it on ladder {home}", ladder_id)
    for damage, expected in _contradictions():
        for seq, of, kind, status, _ in session.execute(entries.where(damage)):
            stored = f"a {kind} of a match that is {status or 'missing'}"
            yield Difference("entry", f"{seq} of {of}", stored, expected, ladder_id)


def _results_without_entry(ladder_id: str) -> Select[str, int]:
    query = select(Result.match_id, Result.seq).join(StoredMatch, StoredMatch.id == Result.match_id)
    query = query.join(DealGroup, DealGroup.id == StoredMatch.group_id).where(
        Result.ladder_id == ladder_id,
        StoredMatch.status == MatchState.FINISHED,
        DealGroup.state == DealGroupState.REVEALED,
        ~_has_entry(Result.match_id, EntryKind.RESULT, on=ladder_id),
    )
    return query.order_by(Result.seq)


def _voids_without_entry(ladder_id: str) -> Select[str]:
    query = select(Result.match_id).join(StoredMatch, StoredMatch.id == Result.match_id)
    query = query.where(Result.ladder_id == ladder_id, StoredMatch.status == MatchState.VOID)
    return query.where(~_has_entry(Result.match_id, EntryKind.VOID, on=ladder_id)).order_by(Result.seq)


def _entries_with_matches(ladder_id: str) -> Select[int, str | None, EntryKind, MatchState | None, str | None]:
    """Return a query of results and voids of a ladder as (seq, match id, kind, match status, ladder of the result)."""
    columns = LedgerEntry.seq, LedgerEntry.match_id, LedgerEntry.kind, StoredMatch.status, Result.ladder_id
    query = select(*columns).outerjoin(StoredMatch, StoredMatch.id == LedgerEntry.match_id)
    query = query.outerjoin(Result, Result.match_id == StoredMatch.id)
    query = query.outerjoin(DealGroup, DealGroup.id == StoredMatch.group_id)
    query = query.outerjoin(MatchLog, MatchLog.match_id == StoredMatch.id)
    query = query.where(LedgerEntry.ladder_id == ladder_id, LedgerEntry.kind != EntryKind.REPAIR)
    return query.order_by(LedgerEntry.seq)


def _contradictions() -> list[tuple[ColumnElement[bool], str]]:
    """Return conditions under which entries contradict their matches, each with what is expected instead."""
    is_result, is_void = LedgerEntry.kind == EntryKind.RESULT, LedgerEntry.kind == EntryKind.VOID
    is_played = or_(Result.seq.is_not(None), StoredMatch.status.in_(PLAYED))
    is_revealed = or_(DealGroup.state == DealGroupState.REVEALED, MatchLog.reveal_line.is_not(None))
    cannot_count = or_(LedgerEntry.match_id.is_(None), ~is_played, and_(is_result, ~is_revealed))
    has_earlier_void = _has_entry(LedgerEntry.match_id, EntryKind.VOID, before=LedgerEntry.seq)
    has_changes = select(RatingChange.seq).where(RatingChange.seq == LedgerEntry.seq).exists()
    takes_nothing_back = and_(is_void, has_changes, ~_has_entry(LedgerEntry.match_id, EntryKind.RESULT))
    return [
        (cannot_count, "no entry, because the match cannot count"),
        (and_(is_result, is_played, Result.ladder_id.is_(None)), "a stored result that counts on this ladder"),
        (and_(is_void, Result.seq.is_not(None), StoredMatch.status != MatchState.VOID), "a match that is void"),
        (and_(is_result, has_earlier_void), "its void after it"),
        (takes_nothing_back, "an entry for the result that it took back"),
    ]


def _has_entry(match_id: Any, kind: EntryKind, *, on: str | None = None, before: Any = None) -> Any:
    """Return the condition that a match has an entry of this kind, on this ladder or with a number below this one."""
    entry = aliased(LedgerEntry)
    query = select(entry.seq).where(entry.match_id == match_id, entry.kind == kind)
    query = query if on is None else query.where(entry.ladder_id == on)
    query = query if before is None else query.where(entry.seq < before)
    return query.exists()


def _stored_changes(session: Session, seqs: list[int]) -> dict[int, Changes]:
    row = RatingChange
    query = select(row.seq, row.bot_id, row.ladder_id, row.before, *STATE_AFTER).where(row.seq.in_(seqs))
    found: dict[int, Changes] = {}
    for seq, bot_id, ladder_id, before, *state in session.execute(query):
        found.setdefault(seq, {})[bot_id] = (ladder_id, before, RatingState(*state))
    return found


def differing_keys(stored: Mapping[Any, Any], expected: Mapping[Any, Any]) -> list[Any]:
    """Return the keys whose values differ, in a fixed order."""
    return sorted((key for key in stored.keys() | expected.keys() if stored.get(key) != expected.get(key)), key=str)


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
    for key in differing_keys(stored, expected):
        name = str((entry or ladder_id, key))
        yield Difference(kind, name, str(stored.get(key)), str(expected.get(key)), ladder_id)
