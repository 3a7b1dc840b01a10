"""Compare stored matches with their logs, a page at a time: results, seats, deals and signatures."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, func, or_, select
from sqlalchemy.orm import Session

from referee.audit.findings import Difference, compare
from referee.audit.log_facts import read_facts
from referee.bots.states import BotState
from referee.bots.tables import Bot
from referee.errors import BadLog
from referee.games import catalogue, has_rules
from referee.ladders import ratings
from referee.match.canonical import Json
from referee.match.log import digest
from referee.matches.deals import deal_groups
from referee.matches.logs import logs
from referee.matches.scheduling import counts_on_ladder
from referee.matches.states import PLAYED, DealGroupState, MatchState
from referee.matches.tables import DealGroup, MatchLog, MatchSeat, Result, SignedLog, StoredMatch

_IS_AUDITED: Final = or_(
    StoredMatch.status.in_(PLAYED), Result.seq.is_not(None), MatchLog.rows.is_not(None), SignedLog.number.is_not(None)
)
SEATS: Final = {"bots": "bot_id", "placements": "placement", "returns": "returns", "rated": "rated"}  # columns


class AuditedPage(NamedTuple):
    """Hold the differences of some logs, the ids of their matches, and the last of them if further ones follow.

    ``not_replayable`` is the number of logs that were deleted, or whose rules are not installed.
    """

    differences: list[Difference]
    matches: list[str]
    not_replayable: int
    last: str | None


@dataclass(frozen=True, slots=True)
class _AuditedSeat:
    """Hold a seat with its bot's owner. ``counts`` is false for substitutes and house bots, which are not rated."""

    row: MatchSeat
    owner_id: str
    is_house: bool

    @property
    def counts(self) -> bool:
        return self.row.entrant_id is None and not self.is_house


@dataclass(frozen=True, slots=True)
class _AuditedMatch:
    """Hold everything stored about a match that was played, has a result or a log, or is signed."""

    match: StoredMatch
    group: DealGroup
    log: MatchLog | None
    result: Result | None
    signed_digest: str | None
    seats: Sequence[_AuditedSeat]

    @property
    def is_log_deleted(self) -> bool:
        return self.log is not None and self.match.log_deleted_at is not None and not self.log.gzip_log

    @property
    def has_rules(self) -> bool:
        return has_rules(self.match.game, self.match.rules_version)


def count_matches(session: Session) -> int:
    """Return the number of matches to compare."""
    return int(session.scalars(_select_audited(func.count())).one())


def count_not_replayable(session: Session) -> int:
    """Return how many logs were deleted, or are of games that are not installed."""
    is_missing = or_(StoredMatch.log_deleted_at.is_not(None), StoredMatch.game.not_in(catalogue()))
    return int(session.scalars(_select_audited(func.count()).where(is_missing)).one())


def check_page(session: Session, after: str, limit: int) -> AuditedPage:
    """Replay the logs of at most ``limit`` matches with ids above ``after``, in order of ids.

    Compare each with the stored digest, result, seats, deal group and signature.
    """
    query = _select_audited(StoredMatch, DealGroup, MatchLog, Result, SignedLog.log_digest)
    rows = session.execute(query.where(StoredMatch.id > after).order_by(StoredMatch.id).limit(limit)).all()
    match_ids = [row[0].id for row in rows]
    seats = _load_seats(session, match_ids)
    page = [
        _AuditedMatch(match, group, log, result, signed, seats[match.id]) for match, group, log, result, signed in rows
    ]
    differences = [found for stored in page for found in (*_check_signature(stored), *_check(session, stored))]
    not_replayable = sum(stored.is_log_deleted or not stored.has_rules for stored in page)
    return AuditedPage(differences, match_ids, not_replayable, match_ids[-1] if len(page) == limit else None)


def _select_audited(*columns: Any) -> Select[Any]:
    query = select(*columns).select_from(StoredMatch).join(DealGroup, DealGroup.id == StoredMatch.group_id)
    for table in (MatchLog, Result, SignedLog):
        query = query.outerjoin(table, table.match_id == StoredMatch.id)
    return query.where(_IS_AUDITED)


def _load_seats(session: Session, match_ids: Sequence[str]) -> defaultdict[str, list[_AuditedSeat]]:
    query = select(MatchSeat, Bot.owner_id, Bot.status).join(Bot, Bot.id == MatchSeat.bot_id)
    query = query.where(MatchSeat.match_id.in_(match_ids)).order_by(MatchSeat.match_id, MatchSeat.seat)
    found: defaultdict[str, list[_AuditedSeat]] = defaultdict(list)
    for row, owner_id, status in session.execute(query):
        found[row.match_id].append(_AuditedSeat(row, owner_id, status == BotState.HOUSE))
    return found


def _check_signature(stored: _AuditedMatch) -> Iterator[Difference]:
    """Yield a difference unless the log ends with the row that is signed. Logs that are public must be signed."""
    log, signed = stored.log, stored.signed_digest
    if signed is None and log is not None and stored.group.state == DealGroupState.REVEALED:
        yield Difference("signature", stored.match.id, "no signature", "an entry of the chain")
    if signed is not None and not stored.is_log_deleted:
        last = None if log is None or log.reveal_line is None else digest(log.reveal_line)
        if last != signed:
            yield Difference("signature", stored.match.id, f"a log that ends with {last}", f"the signed one, {signed}")


def _check(session: Session, stored: _AuditedMatch) -> Iterator[Difference]:
    match, log, result = stored.match, stored.log, stored.result
    if match.status not in PLAYED and result is None:
        return  # the match was cancelled during play
    if match.status == MatchState.VOID and result is None and all(seat.row.placement is None for seat in stored.seats):
        return  # the match was stuck when it was voided, so it has no result
    if log is None or result is None:
        yield Difference("match", match.id, match.status, "a log and a result")
        return
    if match.status not in PLAYED:
        yield Difference("match", match.id, match.status, "finished, as it has a result", result.ladder_id)
    if stored.is_log_deleted or not stored.has_rules:  # a deleted log was compared as long as the service kept it
        yield from compare("log", {match.id: log.digest}, {match.id: result.digest}, result.ladder_id)
        return
    if not log.gzip_log:
        yield Difference("log", match.id, "an empty log", "a valid log")
        return
    try:
        facts = read_facts(match.id, logs.log_lines(session, match.id))
    except (BadLog, TypeError, ValueError) as error:  # the stored value may be of a wrong type
        yield Difference("log", match.id, str(error), "a valid log")
    else:
        yield from _compare(session, stored, log, result, facts)


def _compare(
    session: Session, stored: _AuditedMatch, log: MatchLog, result: Result, facts: dict[str, Json]
) -> Iterator[Difference]:
    """Yield each difference between what a log proves and what is stored of its match."""
    match = stored.match
    _add_facts(session, stored.seats, result, facts)
    kept = {
        "match": _columns(match, facts["match"]),
        "seats": {name: [getattr(seat.row, column) for seat in stored.seats] for name, column in SEATS.items()},
        "result": _columns(result, facts["result"]),
    }
    for ladder_id in sorted({result.ladder_id, facts["result"]["ladder_id"]} - {None}, key=str) or [None]:
        for kind, values in kept.items():
            yield from compare(kind, {match.id: values}, {match.id: facts[kind]}, ladder_id)
    for kind, values in {"log": _columns(log, facts["log"]), "reveal": _known_facts(session, stored.group)}.items():
        yield from compare(kind, {match.id: values}, {match.id: facts[kind]}, None)


def _columns(row: StoredMatch | MatchLog | Result, facts: Json) -> Json:
    return {name: getattr(row, name) for name in facts}


def _add_facts(session: Session, seats: Sequence[_AuditedSeat], stored: Result, facts: dict[str, Json]) -> None:
    """Add what follows from a log together with its seats.

    The ratings of anchors are those of the ``stored`` result, because a later calibration does not change them.
    """
    match, result = facts["match"], facts["result"]
    result["rated"] = facts["seats"]["rated"] = [seat.counts for seat in seats]
    result["entrants"] = [seat.row.entrant_id or bot for seat, bot in zip(seats, result["bots"], strict=False)]
    result["owners"] = [None if seat.is_house else seat.owner_id for seat in seats]
    anchors = stored.anchors if isinstance(stored.anchors, list) else []
    result["anchors"] = [
        rating if seat.is_house and isinstance(rating, int) else None
        for seat, rating in zip_longest(seats, anchors[: len(seats)])
    ]
    result["ladder_id"] = None
    owners = [seat.owner_id for seat in seats if seat.counts]
    if match["rated"] and counts_on_ladder(owners, result["anchors"]):
        ladder = ratings.find_ladder(session, match["game"], match["options"], match["seats"])
        result["ladder_id"] = ladder and ladder.id


def _known_facts(session: Session, group: DealGroup) -> Json:
    """Return the facts of the reveal row that follow from the database without the master key.

    The row must exist only if the group is revealed.
    """
    if group.state != DealGroupState.REVEALED:
        return {"revealed": False}
    count = len(group.entries)
    return {
        "revealed": True,
        "commitment": group.commitment,
        "nonces": group.nonces or [""] * count,
        "nonce_hashes": group.nonce_hashes or [""] * count,
        "accepted": group.accepted or [None] * count,
        "openings": [
            {"id": ended.id, "commitment": ended.commitment, "failures": failures}
            | {"nonces": ended.nonces, "nonce_hashes": ended.nonce_hashes}
            for ended, failures in deal_groups.list_superseded(session, group.id)
        ],
    }
