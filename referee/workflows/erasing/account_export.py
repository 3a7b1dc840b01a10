"""Export all that is stored about an account, as one JSON document that is written in pieces.

Each section has rows of one table, with their columns. ``LEFT_OUT`` lists columns that are no use to anybody else or
would give a secret away.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Select, Table, inspect, or_, select, tuple_

from referee import plugs
from referee.accounts.oversight_tables import Act, OrganiserRequest
from referee.accounts.tables import Account, Token
from referee.bots.tables import Bot, Certificate, Check
from referee.db.engine import Database
from referee.db.former_names import FormerName
from referee.db.idempotency import Idempotency
from referee.db.search_documents import SearchDocument
from referee.errors import Unavailable
from referee.friendlies.tables import ChallengerEntry, FriendlyRequest, FriendlyRules, RequestedOwner
from referee.ladders.tables import (
    LadderMember,
    LadderPlayer,
    LedgerEntry,
    MonthRow,
    OwnerExchange,
    Rating,
    RatingChange,
)
from referee.matches.tables import FailedNonce, Fault, MatchSeat, MatchVoid, ReportedError, StoredMatch
from referee.plugs import Extra
from referee.timestamps import format_time
from referee.tournaments.tables import (
    EntryRequest,
    Invitation,
    Tournament,
    TournamentEntry,
    TournamentGuest,
    TournamentOrganiser,
)

Condition = Callable[[str, Select[Any]], ColumnElement[bool]]  # of the id of the account and those of its bots

PAGE: Final = 200  # rows that one transaction reads
LEFT_OUT: Final = frozenset(
    {
        *("normalized_name", "sha256", "recovery_sha256", "key_digest", "body_hash", "draw_key", "join_code"),
        *("epoch", "handshake_epoch", "lease_boot", "lease_until", "lost_claims", "handshake_lost_claims"),
    }
)


class Section(NamedTuple):
    """Describe the rows of a section. ``mask`` returns what to show of a row."""

    model: Any
    condition: Condition
    mask: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    extra: Extra | None = None


def write_export(database: Database, account_id: str) -> Iterator[bytes]:
    """Yield a JSON document with a member for each section, which is a list of rows. Each page is a transaction.

    ``missing_sections`` names those of extras that failed, of which there may be some rows.
    """
    missing = []
    yield b"{"
    for name, section in list_sections().items():
        yield f'\n"{name}": ['.encode()
        between = ""
        try:
            for rows in _pages(database, section, account_id):
                yield (between + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)).encode()
                between = ",\n"
        except Exception as error:
            if section.extra is None or isinstance(error, Unavailable):
                raise
            plugs.report_failure(section.extra, "export")
            missing.append(name)
        yield b"],"
    yield f'\n"missing_sections": {json.dumps(missing)}\n}}\n'.encode()


def list_sections() -> Mapping[str, Section]:
    """Return the sections, those of extras last."""
    added = [(plugs.load(extra.export), extra) for extra in plugs.extras() if extra.export is not None]
    described = [(SECTIONS, None), *added]
    return {
        name: Section(*parts)._replace(extra=extra) for sections, extra in described for name, parts in sections.items()
    }


def _pages(database: Database, section: Section, account_id: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows in the order of their keys, in lists of up to ``PAGE``."""
    table: Table = inspect(section.model).local_table
    key, columns = list(table.primary_key.columns), [column for column in table.columns if column.name not in LEFT_OUT]
    is_body = section.model is Idempotency  # what the responses repeat is in other sections
    columns = [column for column in columns if not (is_body and column.name == "body")]
    last: Sequence[Any] | None = None
    while True:
        query = select(*columns, *(column.label(f"key_{column.name}") for column in key))
        query = query.where(section.condition(account_id, _bots_of(account_id))).order_by(*key).limit(PAGE)
        if last is not None:
            query = query.where(tuple_(*key) > tuple_(*last) if len(key) > 1 else key[0] > last[0])
        with database.read() as session:
            rows = session.execute(query).all()
        if rows:
            read = [{column.name: row[place] for place, column in enumerate(columns)} for row in rows]
            read = read if section.mask is None else [section.mask(row) for row in read]
            yield [{name: _plain(value) for name, value in row.items()} for row in read]
        if len(rows) < PAGE:
            return
        last = rows[-1][len(columns) :]


def _plain(value: Any) -> Any:
    """Return the value as JSON can hold it: times in UTC, and bytes as text, in which bad ones are replaced."""
    match value:
        case datetime():
            return format_time(value)
        case date():
            return value.isoformat()
        case bytes():
            return value.decode(errors="replace")
    return value


def _bots_of(account_id: str) -> Select[Any]:
    return select(Bot.id).where(Bot.owner_id == account_id)


def _of_bots(column: Any) -> Condition:
    return lambda _, bots: column.in_(bots)


def of_account(*columns: Any) -> Condition:
    """Select the rows that have the id of the account in one of these columns."""
    return lambda account_id, _: or_(*(column == account_id for column in columns))


def _of_both(*columns: Any) -> Condition:
    return lambda account_id, bots: or_(*(or_(column == account_id, column.in_(bots)) for column in columns))


def _of_requests(account_id: str, _: Select[Any]) -> ColumnElement[bool]:
    asked = select(RequestedOwner.request_id).where(RequestedOwner.owner_id == account_id)
    return or_(FriendlyRequest.created_by == account_id, FriendlyRequest.id.in_(asked))


def _by_table(column: str, of: Callable[[Any], Condition], *models: Any) -> dict[str, tuple[Any, Condition]]:
    return {model.__tablename__: (model, of(getattr(model, column))) for model in models}


_OF_BOTS: Final = (
    *(Check, Certificate, Fault, ReportedError, FailedNonce, FriendlyRules, LadderPlayer, LadderMember, Rating),
    *(RatingChange, MatchSeat, TournamentEntry, EntryRequest),
)
SECTIONS: Final[Mapping[str, tuple[Any, Condition]]] = {
    "accounts": (Account, of_account(Account.id)),
    "former_names": (FormerName, _of_both(FormerName.object_id)),
    **_by_table("account_id", of_account, Token, OrganiserRequest, TournamentOrganiser, TournamentGuest),
    "acts": (Act, _of_both(Act.account_id, Act.object_id)),
    "stored_responses": (Idempotency, of_account(Idempotency.account_id)),
    "search_documents": (SearchDocument, _of_both(SearchDocument.object_id)),
    **_by_table("owner_id", of_account, Bot, ChallengerEntry, RequestedOwner, OwnerExchange),
    **_by_table("bot_id", _of_bots, *_OF_BOTS),
    "friendly_requests": (FriendlyRequest, _of_requests),
    "month_rows": (MonthRow, of_account(MonthRow.owner_id)),
    **_by_table("created_by", of_account, LedgerEntry, StoredMatch, Tournament),
    "match_voids": (MatchVoid, of_account(MatchVoid.proposed_by, MatchVoid.decided_by)),
    "invitations": (Invitation, of_account(Invitation.account_id, Invitation.invited_by)),
}
