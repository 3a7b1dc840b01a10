"""Read stored ladders for an audit, and look for ledger entries that are missing or contradict their matches."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import Session, aliased

from referee.audit.findings import Difference
from referee.audit.ladder_walk import AuditedEntry, LadderWalk, ShownValues, check_values
from referee.ladders import ranks
from referee.ladders.daily_exchanges import load_all_sums
from referee.ladders.kinds import EntryKind
from referee.ladders.rating_replay import RatedSeats, RatingState, utc_day
from referee.ladders.tables import Ladder, LedgerEntry, Rating, RatingChange, RatingCount
from referee.match.canonical import Json
from referee.matches.states import PLAYED, DealGroupState, MatchState
from referee.matches.tables import DealGroup, MatchLog, Result, StoredMatch

PAGE_SIZE: Final = 500  # entries per query

Step = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class StoredLadder:
    """Read a ladder from the database. After each page, call ``step`` with the number of entries read."""

    session: Session
    ladder_id: str
    step: Step = field(default=lambda more: None)

    def entries(self) -> Iterator[AuditedEntry]:
        """Yield all entries in order."""
        after = 0
        while rows := self.session.execute(self._select_page(after)).all():
            after = rows[-1][0]
            changes = self._load_changes([seq for seq, *_ in rows])
            for seq, kind, match_id, created_at, is_voided, *facts in rows:
                day, seats = utc_day(created_at), _read_seats(facts)
                yield AuditedEntry(seq, kind, match_id, day, is_voided, seats, changes.get(seq, {}))
            self.step(len(rows))

    def values(self, walk: LadderWalk) -> Iterator[ShownValues]:
        """Yield the ratings, the sums of the ladder's day, and the counts of ratings."""
        ratings = walk.replay.ratings
        exchanged: dict[Any, int] = {**walk.replay.exchanged, "day": walk.replay.day}
        expected = {bot: {**ratings[bot]._asdict(), "as_of_seq": seq} for bot, seq in walk.as_of.items()}
        yield ShownValues("rating", self._load_ratings(), expected)
        day = self.session.scalars(select(Ladder.exchange_day).where(Ladder.id == self.ladder_id)).one()
        yield ShownValues("exchange", {**load_all_sums(self.session, self.ladder_id), "day": day}, exchanged)
        counts = select(RatingCount.band, RatingCount.bots).where(RatingCount.ladder_id == self.ladder_id)
        stored = dict(self.session.execute(counts.where(RatingCount.bots != 0)).all())
        yield ShownValues("count", stored, ranks.count_bands(ratings.values()))

    def _select_page(self, after: int) -> Select[Any]:
        columns = LedgerEntry.seq, LedgerEntry.kind, LedgerEntry.match_id, LedgerEntry.created_at
        query = select(*columns, _has_entry(LedgerEntry.match_id, EntryKind.VOID), *_FACTS)
        query = query.outerjoin(Result, Result.match_id == LedgerEntry.match_id)
        query = query.where(LedgerEntry.ladder_id == self.ladder_id, LedgerEntry.seq > after)
        return query.order_by(LedgerEntry.seq).limit(PAGE_SIZE)

    def _load_changes(self, seqs: list[int]) -> dict[int, dict[str, Json]]:
        columns = RatingChange.ladder_id, RatingChange.before, *_STATE_AFTER
        query = select(RatingChange.seq, RatingChange.bot_id, *columns).where(RatingChange.seq.in_(seqs))
        found: dict[int, dict[str, Json]] = {}
        for seq, bot_id, *values in self.session.execute(query):
            members = ("ladder_id", "before", *RatingState._fields)
            found.setdefault(seq, {})[bot_id] = dict(zip(members, values, strict=True))
        return found

    def _load_ratings(self) -> dict[str, Json]:
        members = (*RatingState._fields, "as_of_seq")
        query = select(Rating.bot_id, *(getattr(Rating, name) for name in members))
        rows = self.session.execute(query.where(Rating.ladder_id == self.ladder_id))
        return {bot: dict(zip(members, values, strict=True)) for bot, *values in rows}


_FACTS: Final = [getattr(Result, fact.name) for fact in fields(RatedSeats)]
_STATE_AFTER: Final = [getattr(RatingChange, "after" if name == "value" else name) for name in RatingState._fields]


def _read_seats(facts: list[Any]) -> RatedSeats | None:
    """Return the facts of a result. A damaged one does not count; the audit of its match reports it."""
    lengths = {len(values) if isinstance(values, list) else 0 for values in facts}
    return RatedSeats(*facts) if len(lengths) == 1 and lengths != {0} else None


def count_entries(session: Session) -> int:
    """Return the number of entries of all ladders."""
    return session.scalars(select(func.count()).select_from(LedgerEntry)).one()


def check_ladders(session: Session, step: Step = lambda more: None) -> Iterator[Difference]:
    """Yield all differences of all ladders. After each page, call ``step`` with the number of entries compared."""
    for ladder_id in session.scalars(select(Ladder.id).order_by(Ladder.id)).all():
        yield from check_ladder(session, ladder_id, step)


def check_ladder(session: Session, ladder_id: str, step: Step = lambda more: None) -> Iterator[Difference]:
    """Yield all differences of a ladder: first damage of the ledger, then values that do not follow from it."""
    yield from check_entries(session, ladder_id)
    yield from check_values(StoredLadder(session, ladder_id, step))


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
