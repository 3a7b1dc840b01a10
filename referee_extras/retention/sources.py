"""Find, measure and delete the rows of each kind of data. ``rules`` says how long they are kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, Select, delete, exists, func, literal, or_, select, tuple_, update
from sqlalchemy.orm import Session

from referee import plugs
from referee.accounts.tables import Token
from referee.db.engine import count_changed_rows
from referee.db.idempotency import Idempotency
from referee.matches.logs import log_pruning
from referee.matches.states import ENDED, DealGroupState
from referee.matches.tables import DealGroup, Fault, MatchLog, Result, SignedLog, StoredMatch
from referee.tournaments.states import UNFINISHED
from referee.tournaments.tables import Tournament
from referee_extras.retention.rules import list_kinds


@dataclass(frozen=True, slots=True)
class Source:
    """Describe the rows of a kind that may be pruned: their ``id``, the ``moment`` from which their age counts, and
    their ``size``. ``rows`` is the query of what is never protected. ``delete`` deletes rows by id for a rule.
    """

    id: Any
    moment: Any
    size: ColumnElement[int]
    rows: Callable[[Select[Any]], Select[Any]]
    delete: Callable[[Session, Sequence[Any], str], int]

    def candidates(self, before: datetime, after: Row[Any] | None, limit: int) -> Select[Any]:
        """Return a query of (id, moment, size) of at most ``limit`` rows from ``before``, oldest first."""
        columns = self.id.label("id"), self.moment.label("moment"), self.size.label("size")
        query = self.rows(select(*columns)).where(self.moment < before)
        if after is not None:
            query = query.where(tuple_(self.moment, self.id) > (after.moment, after.id))
        return query.order_by(self.moment, self.id).limit(limit)

    def still_allowed(self, session: Session, ids: Sequence[Any]) -> list[Any]:
        """Return those of ``ids`` that may still be pruned."""
        return list(session.scalars(self.rows(select(self.id)).where(self.id.in_(ids))))

    def total(self, before: datetime) -> Select[Any]:
        """Return a query of (number, bytes, first moment) of the rows from ``before``."""
        columns = func.count(), func.coalesce(func.sum(self.size), 0), func.min(self.moment)
        return self.rows(select(*columns)).where(self.moment < before)


def _has_no_prize_and_is_over() -> ColumnElement[bool]:
    """Return the condition for matches outside tournaments, or of those that are over and have no prizes."""
    is_kept = or_(func.coalesce(Tournament.prizes, "") != "", Tournament.status.in_(UNFINISHED))
    return ~exists().where(Tournament.id == StoredMatch.tournament_id, is_kept)


def _ladder_logs(query: Select[Any]) -> Select[Any]:
    query = query.select_from(StoredMatch).join(MatchLog, MatchLog.match_id == StoredMatch.id)
    return query.where(StoredMatch.ladder_id.is_not(None), log_pruning.may_be_deleted())


def _logs(query: Select[Any]) -> Select[Any]:
    """Select logs of all matches with a result that are signed, since the rest could not be proven later."""
    query = query.select_from(Result).join(StoredMatch, StoredMatch.id == Result.match_id)
    query = query.join(MatchLog, MatchLog.match_id == StoredMatch.id)
    is_signed = exists().where(SignedLog.match_id == StoredMatch.id)
    return query.where(log_pruning.may_be_deleted(), is_signed, _has_no_prize_and_is_over())


def _faults(query: Select[Any]) -> Select[Any]:
    query = query.select_from(Fault).join(StoredMatch, StoredMatch.id == Fault.match_id)
    query = query.join(DealGroup, DealGroup.id == StoredMatch.group_id)
    is_over = StoredMatch.status.in_(ENDED), DealGroup.state == DealGroupState.REVEALED
    is_kept = or_(Fault.request.is_not(None), Fault.reply.is_not(None))
    return query.where(is_kept, *is_over, ~log_pruning.is_disputed(StoredMatch), _has_no_prize_and_is_over())


def _clear_faults(session: Session, ids: Sequence[Any], rule: str) -> int:
    """Remove requests and replies of faults. The faults stay, with their code and what was wrong."""
    return count_changed_rows(session, update(Fault).where(Fault.id.in_(ids)).values(request=None, reply=None))


def deletion(table: Any, key: Any) -> Callable[[Session, Sequence[Any], str], int]:
    """Return the function that deletes rows of a table by their key."""

    def delete_rows(session: Session, ids: Sequence[Any], rule: str) -> int:
        return count_changed_rows(session, delete(table).where(key.in_(ids)))

    return delete_rows


_LOG_BYTES: Final = func.length(MatchLog.gzip_log) + func.coalesce(func.length(MatchLog.reveal_line), 0)
_FAULT_BYTES: Final = func.coalesce(func.length(Fault.request), 0) + func.coalesce(func.length(Fault.reply), 0)
_RESPONSE_ID: Final = Idempotency.account_id + "/" + Idempotency.key
_TOKEN_END: Final = func.coalesce(Token.revoked_at, Token.expires_at, type_=Token.created_at.type)


def get_source(kind: str) -> Source:
    """Return the rows of a kind of data, of the service or of another extra."""
    found: Source = plugs.load(list_kinds()[kind].source)
    return found


LADDER_LOGS: Final = Source(StoredMatch.id, StoredMatch.finished_at, _LOG_BYTES, _ladder_logs, log_pruning.delete_logs)
LOGS: Final = Source(StoredMatch.id, Result.finished_at, _LOG_BYTES, _logs, log_pruning.delete_logs)
FAULT_REPORTS: Final = Source(Fault.id, Fault.created_at, _FAULT_BYTES, _faults, _clear_faults)
TOKENS: Final = Source(
    Token.id, _TOKEN_END, literal(0), lambda query: query.where(_TOKEN_END.is_not(None)), deletion(Token, Token.id)
)
RESPONSES: Final = Source(
    _RESPONSE_ID,
    Idempotency.created_at,
    func.coalesce(func.length(Idempotency.body), 0),
    lambda query: query.select_from(Idempotency),
    deletion(Idempotency, _RESPONSE_ID),
)
