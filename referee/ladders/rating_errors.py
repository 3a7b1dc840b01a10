"""Compute and store the error of each rating on a ladder, from the results of the present version of the bot.

A fit of the results says where the strength of the bot lies, as a normal distribution. The error of the rating is the
distance from it within which the strength lies with a probability of 95 %: as wide as that of the fit, and wider the
further the rating is from it.

Up to ``EXACT`` players, one fit of all newest results gives all errors. On larger ladders, only bots whose rating
changed get a new one, a limited number at a time: each from a fit of its own results, in which all opponents have their
ratings as constant strengths. So the cost of a step is limited on ladders of any size.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from sqlalchemy import Select, and_, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from referee.db.engine import Database
from referee.db.prepared import Prepared, upsert_columns
from referee.house.anchors import anchor_errors
from referee.ladders import ladder_rows, ratings
from referee.ladders.kinds import EntryKind
from referee.ladders.strengths import FIT_COLUMNS, LadderResults, ResultColumns, load_results
from referee.ladders.tables import Ladder, LedgerEntry, Rating, RatingChange, RatingError
from referee.matches.tables import Result
from referee.ratings.elo import MICRO, START
from referee.ratings.strengths import EXACT, MEAN, POINTS, RankedResult, Strength, anchor_level, fit, half_width

MAX_RESULTS: Final = 10_000  # newest results in a joint fit
MAX_BOTS: Final = 100  # computed one by one in a step
MAX_OWN_RESULTS: Final = 300  # newest results of a bot whose error is computed by itself
IDS_PER_QUERY: Final = 500
VERSION_MARK: Final = " "  # between the id of a bot and one of its earlier versions; ids contain no space
ANCHOR_MARK: Final = "\t"  # before the rating of an anchor that is known with an error
SPREAD: Final = 200.0  # standard deviation of strengths, in points: the prior of ``fit``


@dataclass(frozen=True, slots=True)
class RefreshedErrors:
    """Report a step: how many errors were computed, jointly or one by one, and whether bots are left."""

    joint: int
    single: int
    is_complete: bool


def last_entry(session: Session) -> int:
    """Return the number of the last ledger entry of all ladders, 0 before the first."""
    return session.scalar(select(func.max(LedgerEntry.seq))) or 0


def list_outdated(session: Session) -> list[str]:
    """Return the ids of ladders with ledger entries that their errors do not include."""
    newer = select(LedgerEntry.seq).where(LedgerEntry.ladder_id == Ladder.id, LedgerEntry.seq > Ladder.errors_seq)
    return list(session.scalars(select(Ladder.id).where(newer.exists()).order_by(Ladder.errors_seq, Ladder.id)))


def refresh_errors(database: Database, ladder_id: str) -> RefreshedErrors:
    """Take a step towards current errors of a ladder: read, compute outside any transaction, and store."""
    with database.read() as session:
        seq = ratings.last_seq(session, ladder_id)
        is_small = ladder_rows.count_bots(session, ladder_id) <= EXACT
        newest = load_results(session, ladder_id, MAX_RESULTS) if is_small else None
        points = _load_points(session, ladder_id, _players(newest)) if newest else {}
        anchors = _load_anchors(session, ladder_id)
    joint = {} if newest is None else compute_errors(newest, points, anchors)
    with database.read() as session:
        # With a joint fit, bots are left over that have no result among the newest and no estimate from before.
        waiting = _list_waiting(session, ladder_id, skip=joint, changed=not joint)
        chosen = [_OwnResults.load(session, ladder_id, bot_id) for bot_id in waiting[:MAX_BOTS]]
    single = {own.bot_id: own.error(anchors) for own in chosen}
    is_complete = len(waiting) <= MAX_BOTS
    rows = [
        {"ladder_id": ladder_id, "bot_id": bot_id, "as_of_seq": seq, "error": error}
        for bot_id, error in sorted((joint | single).items())
    ]
    with database.write(durable=False) as session:
        stored = select(Ladder.errors_seq).where(Ladder.id == ladder_id).with_for_update()
        is_newest = session.scalars(stored).one() <= seq  # another scheduler may have stored newer ones meanwhile
        if rows and is_newest:
            _UPSERT.execute_all(session, rows)
        if is_complete and is_newest:
            session.execute(update(Ladder).where(Ladder.id == ladder_id).values(errors_seq=seq))
    return RefreshedErrors(len(joint), len(single), is_complete)


def split_versions(results: Sequence[RankedResult], versions: Sequence[Sequence[str | None]]) -> list[RankedResult]:
    """Return the results, newest first, with earlier versions of a bot as players of their own.

    A seat without a version has that of the next later result. Only the present version keeps the id of the bot.
    """
    present: dict[str, str] = {}
    latest: dict[str, str] = {}
    split: list[RankedResult] = []
    for result, said in zip(results, versions, strict=True):
        for bot, version in zip(result.bots, said, strict=True):
            if version:
                latest[bot] = version
                present.setdefault(bot, version)
        players = [
            bot if latest.get(bot) == present.get(bot) else f"{bot}{VERSION_MARK}{latest[bot]}" for bot in result.bots
        ]
        split.append(result._replace(bots=players))
    return split


def _players(found: LadderResults) -> list[str]:
    return sorted({bot for result in found.results for bot in result.rated_bots()})


def _load_anchors(session: Session, ladder_id: str) -> dict[float, float]:
    """Return the standard errors of the anchors of a ladder whose rating has one, keyed by rating, all in points."""
    ladder = ratings.get_ladder(session, ladder_id)
    return anchor_errors(ladder.game, ladder.seats)


def compute_errors(
    newest: LadderResults, points: Mapping[str, float], anchors: Mapping[float, float]
) -> dict[str, float]:
    """Return the errors of all bots in these results, keyed by bot id, or none if there are too many players.

    Without anchors only differences follow from the results: then the ratings are compared around their own mean.
    """
    results = split_versions(newest.results, newest.versions)
    if len({player for result in results for player in result.rated_bots()}) > EXACT:
        return {}
    rows, is_anchored = _fit(results, anchors)
    rows = [row for row in rows if VERSION_MARK not in row.id]
    shift = 0.0 if is_anchored or not rows else fmean(points[row.id] - row.points for row in rows)
    return {row.id: half_width(points[row.id] - shift - row.points, row.se) for row in rows}


def _fit(results: Sequence[RankedResult], errors: Mapping[float, float]) -> tuple[list[Strength], bool]:
    """Return the fitted strengths, and whether there are anchors. ``errors`` has the standard errors of some."""
    known: dict[str, tuple[float, float]] = {}
    uncertain = [_with_uncertain_anchors(result, errors, known) for result in results]
    is_anchored = any(level is not None for result in results for level in result.anchors or ())
    return fit(uncertain, anchors=known).rows, is_anchored


def _with_uncertain_anchors(
    result: RankedResult, errors: Mapping[float, float], known: dict[str, tuple[float, float]]
) -> RankedResult:
    """Return the result with the anchors whose rating has an error as bots, and add these to ``known``.

    If an anchor has several seats, each is a bot of its own.
    """
    bots, rated = list(result.bots), list(result.rated or [True] * len(result.bots))
    levels = list(result.anchors or [None] * len(bots))
    for seat, level in enumerate(levels):
        points = None if level is None else MEAN + POINTS * level
        error = 0.0 if points is None else errors.get(round(points, 6), 0.0)  # a bot's rating is not a whole number
        if points is not None and error:
            name = f"{ANCHOR_MARK}{points:.0f}"
            bots[seat] = name + ANCHOR_MARK * [bot.rstrip(ANCHOR_MARK) for bot in bots[:seat]].count(name)
            known[bots[seat]] = points, error
            rated[seat], levels[seat] = True, None
    return RankedResult(bots, result.placements, rated, levels)


@dataclass(frozen=True, slots=True)
class _OwnResults:
    """Hold the rating of a bot and the newest results of its present version, with all others as anchors."""

    bot_id: str
    points: float
    results: list[RankedResult]

    @classmethod
    def load(cls, session: Session, ladder_id: str, bot_id: str) -> "_OwnResults":
        entry, void = LedgerEntry, aliased(LedgerEntry)
        voided = select(void.seq).where(void.match_id == entry.match_id, void.kind == EntryKind.VOID).exists()
        query = select(*FIT_COLUMNS).select_from(RatingChange).join(entry, entry.seq == RatingChange.seq)
        query = query.join(Result, Result.match_id == entry.match_id)
        query = query.where(RatingChange.ladder_id == ladder_id, RatingChange.bot_id == bot_id)
        query = query.where(entry.kind == EntryKind.RESULT, ~voided).order_by(RatingChange.seq.desc())
        rows = [ResultColumns(*row) for row in session.execute(query.limit(MAX_OWN_RESULTS))]
        split = split_versions([row.for_fit() for row in rows], [row.versions for row in rows])
        own = [row.for_fit() for row, result in zip(rows, split, strict=True) if bot_id in result.bots]
        others = {player for result in own for player in result.rated_bots()} - {bot_id}
        points = _load_points(session, ladder_id, [bot_id, *sorted(others)])
        known = {bot: value for bot, value in points.items() if bot != bot_id}
        return cls(bot_id, points[bot_id], [_with_known_opponents(result, known) for result in own])

    def error(self, anchors: Mapping[float, float]) -> float:
        """Return the error of the rating, which follows from the prior alone if there are no results."""
        rows, _ = _fit(self.results, anchors)
        return half_width(self.points - rows[0].points, rows[0].se) if rows else half_width(self.points - MEAN, SPREAD)


def _with_known_opponents(result: RankedResult, points: Mapping[str, float]) -> RankedResult:
    """Return the result with the rated bots in ``points`` as anchors."""
    seats = zip(result.bots, result.rated or [True] * len(result.bots), strict=True)
    known = [anchor_level(points[bot]) if rated and bot in points else None for bot, rated in seats]
    anchors = result.anchors or [None] * len(known)
    return result._replace(
        anchors=[anchor if anchor is not None else level for anchor, level in zip(anchors, known, strict=True)]
    )


def _load_points(session: Session, ladder_id: str, bot_ids: Sequence[str]) -> dict[str, float]:
    """Return the ratings of these bots in points, keyed by bot id; 1500 for those that have none."""
    points = dict.fromkeys(bot_ids, START / MICRO)
    for start in range(0, len(bot_ids), IDS_PER_QUERY):
        query = select(Rating.bot_id, Rating.value).where(Rating.ladder_id == ladder_id)
        rows = session.execute(query.where(Rating.bot_id.in_(bot_ids[start : start + IDS_PER_QUERY])))
        points |= {bot_id: value / MICRO for bot_id, value in rows}
    return points


def _list_waiting(session: Session, ladder_id: str, *, skip: Collection[str], changed: bool) -> list[str]:
    """Return up to ``MAX_BOTS`` + 1 bots without an error, or also those whose rating ``changed`` since."""
    missing, older = RatingError.bot_id.is_(None), RatingError.as_of_seq < Rating.as_of_seq
    outdated = or_(missing, older) if changed else missing
    same = and_(RatingError.ladder_id == Rating.ladder_id, RatingError.bot_id == Rating.bot_id)
    query: Select[str] = select(Rating.bot_id).outerjoin(RatingError, same)
    query = query.where(Rating.ladder_id == ladder_id, Rating.games > 0, outdated)
    query = query.order_by(func.coalesce(RatingError.as_of_seq, 0), Rating.bot_id)
    return [bot for bot in session.scalars(query.limit(MAX_BOTS + 1 + len(skip))) if bot not in skip][: MAX_BOTS + 1]


_UPSERT: Final = Prepared(upsert_columns(RatingError.__table__, key=["ladder_id", "bot_id"]))
