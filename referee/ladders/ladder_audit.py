"""The audit of ladders: compare ledger entries with results, and stored numbers with a replay of the entries."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from sqlalchemy import Select, and_, or_, select
from sqlalchemy.orm import Session, aliased

from referee.ladders import ranks
from referee.ladders.audit_findings import Difference
from referee.ladders.ladder_replay import LadderReplay
from referee.ladders.ledger import ReplayEntry
from referee.ladders.rating_replay import RatingMove
from referee.ladders.tables import Ladder, LedgerEntry, Rating, RatingChange, RatingCount
from referee.matches.tables import DealGroup, Match, MatchLog, Result

_Entries = TypeVar("_Entries", bound=Select[*tuple[Any, ...]])

Changes = dict[str, tuple[str, int, int, int]]  # by bot: ladder, before, after, games


def check_ladders(session: Session, step: Callable[[int], None]) -> Iterator[Difference]:
    """Yield all differences of all ladders. Call ``step`` with the numbers of entries compared."""
    for ladder_id in session.scalars(select(Ladder.id).order_by(Ladder.id)).all():
        yield from check_ladder(session, ladder_id, step)


def check_ladder(session: Session, ladder_id: str, step: Callable[[int], None]) -> Iterator[Difference]:
    yield from check_entries(session, ladder_id)
    replay = LadderReplay(session, ladder_id)
    for entry, stored, expected in walk_entries(replay, step):
        yield from _compare_entries("change", ladder_id, stored, expected, entry.seq)
    yield from _compare_entries("rating", ladder_id, stored_ratings(session, ladder_id), expected_ratings(replay))
    yield from _compare_entries(
        "count", ladder_id, stored_counts(session, ladder_id), ranks.count_bands(replay.rating_replay.ratings.values())
    )


def stored_counts(session: Session, ladder_id: str) -> dict[ranks.Band, int]:
    counts = select(RatingCount.width, RatingCount.band, RatingCount.bots)
    counts = counts.where(RatingCount.ladder_id == ladder_id, RatingCount.bots != 0)
    return {(width, band): bots for width, band, bots in session.execute(counts)}


def walk_entries(replay: LadderReplay, step: Callable[[int], None]) -> Iterator[tuple[ReplayEntry, Changes, Changes]]:
    """Yield each entry with its stored and its derived changes. The ratings before a repair cannot be derived."""
    for page in replay.pages():
        stored_by_entry = _stored_changes(replay.session, [entry.seq for entry in page])
        for entry in page:
            stored = stored_by_entry.get(entry.seq, {})
            moves = replay.apply_entry(entry)
            if entry.kind == "repair":
                replay.apply_repair(entry.seq, list(stored))
            yield entry, stored, _expected_changes(replay, entry, moves, stored)
        step(len(page))


def expected_ratings(replay: LadderReplay) -> dict[str, tuple[int, int, int]]:
    """Return rating, games and last entry that changed it, by bot."""
    ratings = replay.rating_replay.ratings
    return {bot: (*ratings[bot], entry_seq) for bot, entry_seq in replay.as_of.items() if bot in ratings}


def stored_ratings(session: Session, ladder_id: str) -> dict[str, tuple[int, int, int]]:
    query = select(Rating.bot_id, Rating.value, Rating.games, Rating.as_of_seq).where(Rating.ladder_id == ladder_id)
    return {bot: (value, games, as_of) for bot, value, games, as_of in session.execute(query)}


def check_entries(session: Session, ladder_id: str) -> Iterator[Difference]:
    """Yield results and voids without a ledger entry, and entries without a cause."""
    for match_id, seq in session.execute(missing_entries(ladder_id)):
        yield Difference("entry", match_id, "none", f"an entry for result {seq}", ladder_id)
    for match_id in session.scalars(missing_voids(ladder_id)):
        yield Difference("entry", match_id, "no void", "an entry that voids it", ladder_id)
    for entry_seq, of, kind in session.execute(invalid_entries(ladder_id)):
        yield Difference("entry", f"{entry_seq} of {of}", kind, "no entry: the match cannot count", ladder_id)
    for entry_seq, of, kind, home in session.execute(misplaced_entries(ladder_id)):
        for concerned in (ladder_id, home):
            yield Difference("entry", f"{entry_seq} of {of}", f"{kind} on {ladder_id}", f"on {home}", concerned)
    for entry_seq, of in session.execute(entries_without_result(ladder_id)):
        yield Difference("entry", f"{entry_seq} of {of}", "result", "a result of the match on this ladder", ladder_id)
    for entry_seq, of, status in session.execute(voids_without_cause(ladder_id)):
        yield Difference("entry", f"{entry_seq} of {of}", f"void, the match is {status}", "a void match", ladder_id)


def missing_entries(ladder_id: str) -> Select[str, int]:
    """Return a query of results that count but have no ledger entry, in order."""
    query = select(Result.match_id, Result.seq).join(Match, Match.id == Result.match_id)
    query = query.join(DealGroup, DealGroup.id == Match.group_id).where(Result.ladder_id == ladder_id)
    query = query.where(Match.status == "finished", DealGroup.state == "over", ~_has_entry(Result.match_id, "result"))
    return query.order_by(Result.seq)


def missing_voids(ladder_id: str) -> Select[str]:
    query = select(Result.match_id).join(Match, Match.id == Result.match_id).where(Result.ladder_id == ladder_id)
    return query.where(Match.status == "void", ~_has_entry(Result.match_id, "void")).order_by(Result.seq)


def invalid_entries(ladder_id: str) -> Select[int, str | None, str]:
    """Return a query of entries that cannot be right.

    These are entries without a match, of a match that neither ended nor has a result, of a result whose deal group is
    not closed, and voids of a finished match without a reason.
    """
    query = _join_matches(select(LedgerEntry.seq, LedgerEntry.match_id, LedgerEntry.kind), ladder_id)
    played = or_(Result.seq.is_not(None), Match.status.in_(("finished", "void")))
    closed = or_(DealGroup.state == "over", MatchLog.reveal_line.is_not(None))
    none = or_(
        LedgerEntry.match_id.is_(None),
        ~played,
        and_(LedgerEntry.kind == "result", ~closed),
        and_(LedgerEntry.kind == "void", Match.status == "finished", Match.reason.is_(None)),
    )
    return query.where(none).order_by(LedgerEntry.seq)


def misplaced_entries(ladder_id: str) -> Select[int, str | None, str, str | None]:
    """Return a query of entries whose result belongs to another ladder, with that ladder."""
    query = _join_matches(select(LedgerEntry.seq, LedgerEntry.match_id, LedgerEntry.kind, Result.ladder_id), ladder_id)
    return query.where(Result.ladder_id.is_not(None), Result.ladder_id != ladder_id).order_by(LedgerEntry.seq)


def entries_without_result(ladder_id: str) -> Select[int, str | None]:
    """Return a query of entries of matches that were played, have no result that counts, and were not voided."""
    query = _join_matches(select(LedgerEntry.seq, LedgerEntry.match_id), ladder_id)
    query = query.where(LedgerEntry.kind == "result", ~_has_entry(LedgerEntry.match_id, "void"))
    return query.where(Match.status.in_(("finished", "void")), Result.ladder_id.is_(None)).order_by(LedgerEntry.seq)


def voids_without_cause(ladder_id: str) -> Select[int, str | None, str]:
    query = _join_matches(select(LedgerEntry.seq, LedgerEntry.match_id, Match.status), ladder_id)
    played = Result.seq.is_not(None), Match.status != "void"
    given = or_(Match.status != "finished", Match.reason.is_not(None))
    return query.where(LedgerEntry.kind == "void", *played, given).order_by(LedgerEntry.seq)


def _join_matches(query: _Entries, ladder_id: str) -> _Entries:
    """Restrict ``query`` to results and voids of a ladder, outer-joined with their matches."""
    query = query.select_from(LedgerEntry).outerjoin(Match, Match.id == LedgerEntry.match_id)
    query = query.outerjoin(Result, Result.match_id == Match.id).outerjoin(DealGroup, DealGroup.id == Match.group_id)
    query = query.outerjoin(MatchLog, MatchLog.match_id == Match.id)
    return query.where(LedgerEntry.ladder_id == ladder_id, LedgerEntry.kind.in_(("result", "void")))


def _has_entry(match_id: Any, kind: str) -> Any:
    entry = aliased(LedgerEntry)
    return select(entry.seq).where(and_(entry.match_id == match_id, entry.kind == kind)).exists()


def _stored_changes(session: Session, seqs: list[int]) -> dict[int, Changes]:
    row = RatingChange
    query = select(row.seq, row.bot_id, row.ladder_id, row.before, row.after, row.games).where(row.seq.in_(seqs))
    found: dict[int, Changes] = {}
    for seq, bot_id, ladder_id, before, after, games in session.execute(query):
        found.setdefault(seq, {})[bot_id] = (ladder_id, before, after, games)
    return found


def _expected_changes(replay: LadderReplay, entry: ReplayEntry, moves: list[RatingMove], stored: Changes) -> Changes:
    if entry.kind == "repair":
        ratings = replay.rating_replay.ratings
        return {bot: (replay.ladder_id, before, *ratings[bot]) for bot, (_, before, _, _) in stored.items()}
    return {move.bot_id: (replay.ladder_id, move.before, move.after, move.games) for move in moves}


def _compare_entries(
    kind: str,
    ladder_id: str,
    stored: Mapping[Any, Any],
    expected: Mapping[Any, Any],
    entry: int | str | None = None,
) -> Iterator[Difference]:
    """Yield items that differ, each named by ``entry`` (the ladder by default) and its key."""
    if stored == expected:
        return
    for key in sorted(stored.keys() | expected.keys()):
        if stored.get(key) != expected.get(key):
            name = str((entry or ladder_id, key))
            yield Difference(kind, name, str(stored.get(key)), str(expected.get(key)), ladder_id)
