"""Read the contents of a database with the current code, in the terms of the expectations.

The expectations were written with these functions when the fixtures were filled. When the things read here are
renamed or replaced, the terms of the expectations stay, so that before and after can be compared.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from flask.testing import FlaskClient
from sqlalchemy import ColumnElement, case, exists, func, inspect, select, text
from sqlalchemy.orm import Session

from referee import schema
from referee.db.engine import Database
from referee.ladders import ratings
from referee.match.canonical import Json
from referee.matches import deal_groups, logs
from referee.matches.tables import SealedAnswer, StoredMatch

ENDED: Final = ("finished", "cancelled", "void")


def _said(column: Any, yes: str, no: str) -> ColumnElement[str]:
    return _where(column.is_not(None), yes, no)


def _where(true: ColumnElement[bool], yes: str, no: str = "") -> ColumnElement[str]:
    return case((true, yes), else_=no)


_PLAYED_NOW: Final = exists().where(
    schema.StoredMatch.group_id == schema.DealGroup.id, schema.StoredMatch.status == "running"
)


_FORMER_STATES: Final = {"new": "new", "playing": "open", "revealed": "over"}  # of deal groups

# By table of schema 0004: the columns by whose values its rows are counted.
KINDS: Final[dict[str, Sequence[Any]]] = {
    "accounts": (schema.Account.role,),
    "tokens": (_said(schema.Token.revoked_at, "revoked", "living"),),
    "idempotency": (schema.Idempotency.status,),
    "bots": (schema.Bot.status, schema.Bot.handshake_state, _said(schema.Bot.previous_secret_until, "rotated", "")),
    "examinations": (schema.Check.state,),
    "certificates": (func.coalesce(schema.Certificate.ended_reason, "holds"),),
    "tournaments": (schema.Tournament.format, schema.Tournament.status),
    "tournament_entries": (
        schema.TournamentEntry.preflight,
        _said(schema.TournamentEntry.withdrawn_at, "withdrawn", ""),
        _said(schema.TournamentEntry.substitute_id, "substituted", ""),
    ),
    "tournament_stages": (_said(schema.TournamentRound.ended_at, "over", "going on"),),
    "deal_groups": (
        schema.DealGroup.kind,
        case(_FORMER_STATES, value=schema.DealGroup.state),
        _said(schema.DealGroup.nonce_hashes, "hashes", ""),
        _where(_PLAYED_NOW, "played now"),
    ),
    "matches": (
        schema.StoredMatch.status,
        _where(schema.StoredMatch.rated.is_(True), "rated"),
        _where(schema.StoredMatch.rows > 0, "begun"),
        _said(schema.StoredMatch.rematch_of, "again", ""),
    ),
    "match_seats": (_said(schema.MatchSeat.placement, "over", "open"),),
    "log_rows": (),
    "sealed_answers": (),
    "match_logs": (_said(schema.MatchLog.reveal_line, "revealed", "closed"),),
    "faults": (schema.Fault.code,),
    "results": (_said(schema.Result.ladder_id, "rated", "unrated"),),
    "ladders": (schema.Ladder.game, schema.Ladder.seats),
    "ladder_acts": (schema.LedgerEntry.kind,),
    "ratings": (),
    "rating_counts": (),
    "rating_changes": (),
    "webhooks": (schema.Webhook.status, _said(schema.Webhook.previous_secret_until, "rotated", "")),
    "deliveries": (schema.Delivery.event, schema.Delivery.status, _where(schema.Delivery.attempts > 0, "tried")),
}
_WITHOUT_COLUMNS: Final = {
    "log_rows": schema.LogRow,
    "sealed_answers": schema.SealedAnswer,
    "ratings": schema.Rating,
    "rating_counts": schema.RatingCount,
    "rating_changes": schema.RatingChange,
}


def counts(session: Session, kind: str) -> dict[str, int]:
    """Return the number of rows of this kind, by the values of its columns joined by spaces."""
    columns = KINDS[kind]
    if not columns:
        return {"all": session.scalars(select(func.count()).select_from(_WITHOUT_COLUMNS[kind])).one()}
    rows = session.execute(select(*columns, func.count()).group_by(*columns))
    return dict(sorted((" ".join(str(part) for part in row[:-1] if part != ""), row[-1]) for row in rows))


def rows_recorded(session: Session) -> dict[str, list[Any]]:
    """Return, for each match with rows, their number and the SHA-256 of their bytes, including line ends."""
    found = {match_id: logs.log_lines(session, match_id) for match_id in session.scalars(select(StoredMatch.id))}
    return {match_id: [len(lines), digest(lines)] for match_id, lines in sorted(found.items()) if lines}


def digest(lines: Sequence[bytes]) -> str:
    return hashlib.sha256(b"".join(line + b"\n" for line in lines)).hexdigest()


def open_matches(session: Session) -> dict[str, str]:
    """Return the status of each match that is not over."""
    found = session.scalars(select(StoredMatch).where(StoredMatch.status.not_in(ENDED)).order_by(StoredMatch.id))
    return {match.id: match.status for match in found}


def finished_matches(session: Session) -> list[str]:
    """Return the matches that have a result, void ones among them."""
    return list(session.scalars(select(schema.Result.match_id).order_by(schema.Result.match_id)))


def seeds(session: Session, master_key: bytes) -> dict[str, str]:
    """Return the seed of each deal group, sealed as long as the group is not over."""
    found = session.scalars(select(schema.DealGroup).order_by(schema.DealGroup.id))
    return {group.id: deal_groups.unseal_seed_of_group(group, master_key).hex() for group in found}


def ladders(session: Session) -> dict[str, list[list[Any]]]:
    """Return the rows of each ladder: bot, rating in millionths of a point, games."""
    ids = session.scalars(select(schema.Ladder.id).order_by(schema.Ladder.id)).all()
    pages = {ladder_id: ratings.load_page(session, ladder_id, limit=100).page.items for ladder_id in ids}
    return {ladder_id: [[row.bot_id, row.value, row.games] for row in rows] for ladder_id, rows in pages.items()}


def standings(client: FlaskClient, tournament_id: str) -> list[list[Any]]:
    """Return the table of a tournament: rank, bot, points, matches, byes."""
    rows = get(client, f"/tournaments/{tournament_id}/standings")["items"]
    return [[row["rank"], row["bot"], row["points_exact"], row["matches"], row["byes"]] for row in rows]


def entries(client: FlaskClient, tournament_id: str) -> list[list[Any]]:
    """Return the entries of a tournament: bot, whether it withdrew, whether somebody plays for it."""
    rows = get(client, f"/tournaments/{tournament_id}/entries")["items"]
    return [[row["bot"], row["withdrawn_at"] is not None, row["substitute"] is not None] for row in rows]


def faults(client: FlaskClient, token: str, match_id: str) -> list[list[Any]]:
    """Return what the owner of a bot reads of its faults in a match: code, request, reply."""
    listed = get(client, f"/matches/{match_id}/faults", token)["items"]
    whole = [get(client, f"/faults/{one['id']}", token) for one in listed]
    return sorted([one["code"], one["request"], one["reply"]] for one in whole)


def get(client: FlaskClient, path: str, token: str = "") -> Json:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = client.get(f"/api/v1{path}", headers=headers)
    assert answer.status_code == 200, (path, answer.get_data(as_text=True))
    found: Json = answer.get_json()
    return found


def statuses(session: Session) -> dict[str, str]:
    """Return the status of each tournament."""
    return {one.id: one.status for one in session.scalars(select(schema.Tournament).order_by(schema.Tournament.id))}


def sealed_answers(session: Session) -> list[list[Any]]:
    """Return the answers that wait for the answers of other seats: match, decision, seat, action."""
    found = session.scalars(select(SealedAnswer).order_by(SealedAnswer.match_id, SealedAnswer.n, SealedAnswer.seat))
    return [[one.match_id, one.n, one.seat, one.answer["action"]] for one in found]


def due_deliveries(session: Session) -> dict[str, str]:
    """Return the SHA-256 of the body of each notification that is still to be sent."""
    due = select(schema.Delivery).where(schema.Delivery.status == "due").order_by(schema.Delivery.id)
    return {one.id: hashlib.sha256(one.body).hexdigest() for one in session.scalars(due)}


def left_to_do(database: Database) -> dict[str, int]:
    """Return the amount of open work of runners and schedulers, by kind of work; leave out kinds without any."""
    questions = {
        "matches": StoredMatch.status.not_in(ENDED),
        "tournaments": schema.Tournament.status.in_(["running", "paused"]),
        "checks": schema.Bot.handshake_state != "idle",
        "examinations": schema.Check.state != "idle",
        "deliveries": schema.Delivery.status == "due",
        "groups": schema.DealGroup.state != "revealed",
    }
    with database.read() as session:
        found = {name: session.scalars(select(func.count()).where(which)).one() for name, which in questions.items()}
    return {name: count for name, count in found.items() if count}


IN_PROGRESS: Final = """
    SELECT matches.id FROM matches JOIN deal_groups ON deal_groups.id = matches.group_id
    WHERE matches.status = 'running' OR matches.status IN ('waiting', 'due') AND matches.rows > 0 ORDER BY matches.id
"""


def in_progress(database: Database) -> list[str]:
    """Return the matches that have begun and are not over, of any schema."""
    with database.inspection_connection() as connection:
        return list(connection.scalars(text(IN_PROGRESS)))


def contents(database: Database) -> dict[str, list[str]]:
    """Return all rows of all tables, and how the tables were created, of any schema."""
    with database.inspection_connection() as connection:
        tables = inspect(connection).get_table_names()
        columns = {f"columns of {name}": [str(inspect(connection).get_columns(name))] for name in tables}
        rows = {name: connection.execute(text(f"SELECT * FROM {name}")).all() for name in tables}
    return columns | {name: sorted(map(repr, found)) for name, found in rows.items()}


def digest_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
