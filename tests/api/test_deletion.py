"""Deleted bots and accounts: nothing that says who the owner was is left in any column of any table."""

import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import delete, inspect, make_url, select, text, update
from sqlalchemy.exc import DBAPIError

from referee.accounts.oversight_tables import Act
from referee.accounts.tables import Account
from referee.audit.database_audit import audit
from referee.bots.tables import Bot, Check
from referee.db import former_names
from referee.db.engine import Database, current_time
from referee.ladders import months
from referee.match.reveal import OpeningFailure
from referee.matches.tables import FailedNonce, Fault, MatchSeat, ReportedError, StoredMatch
from referee.workflows.erasing import account_deletion, erasure
from referee.workflows.erasing.account_export import list_sections
from tests.api.conftest import API, Person, Service, fields_of, friendly
from tests.api.organised import EXTRA_KINDS, create
from tests.api.tournaments import CUP, join
from tests.database.tables import all_tables
from tests.database.world import World
from tests.surroundings import MASTER_KEY

MARK = "planted"  # in every text of the owner, but in no name that the bot played under
PLAYED_AS, OWNER_NAME, NEVER_PLAYED_AS = "Honest Otter", "Planted Person", "Planted Otter"
ADDRESS = f"https://{MARK}.example.org/"
KEY = {"Idempotency-Key": "planting"}
ANY = {"If-Match": "*"}


def plant(service: Service, admin: Person) -> tuple[Person, str, str]:
    """Return an owner whose every text has ``MARK``, their bot that has played, and the match."""
    owner, rival = service.person(), service.person()
    assert owner.ask("PATCH", "/accounts/me", ANY, json={"name": OWNER_NAME}).status_code == 200
    bot = service.verified_bot(owner)["id"]
    rivals = service.verified_bot(rival)["id"]
    edit(owner, bot, name=PLAYED_AS)
    result = World(service.database).play([bot, rivals])
    edit(owner, bot, name=NEVER_PLAYED_AS, summary=f"{MARK} summary", language=f"{MARK} lisp", link=ADDRESS)
    made = owner.post("/bots", {"name": f"{MARK} two", "url": ADDRESS}, headers=KEY)
    assert made.status_code == 201, made.get_data(as_text=True)
    owner.post("/accounts/me/tokens", {"name": f"{MARK} laptop"})
    admin.post(f"/accounts/{owner.id}/tokens", {"name": f"{MARK} desktop"})
    owner.post("/accounts/me/organiser-request", {"text": f"a {MARK} cup"})
    rival.ask("PATCH", f"/bots/{rivals}/friendlies", json={"challengers": "on_request"})
    assert owner.post("/friendly-requests", friendly(bot, rivals)).status_code == 201
    for act in ("suspend", "restore"):
        admin.post(f"/accounts/{owner.id}/{act}", {"reason": f"{MARK} reason"})
    private = {**CUP, "name": "Over", "rated": False, "listed": False, "contact": f"{MARK}@example.org"}
    over = owner.post("/tournaments", private).get_json()["id"]
    owner.post(f"/tournaments/{over}/open")
    owner.post(f"/tournaments/{over}/cancel", {})
    left = {**private, "name": f"{MARK} cup", "description": f"{MARK} text", "prizes": f"{MARK} prize"}
    ends = owner.post("/tournaments", left).get_json()["id"]
    owner.post(f"/tournaments/{ends}/open")
    draft = owner.post("/tournaments", {**private, "name": f"{MARK} draft"}).get_json()["id"]
    others = [create(owner, kind, name=f"{MARK} {kind}", listed=False) for kind in EXTRA_KINDS]
    for path in (f"/tournaments/{ends}", f"/tournaments/{draft}", *others):
        assert owner.post(f"{path}/organisers", {"account": rival.id}).status_code == 201
    report_faults(service.database, bot, result.match_id)
    month = result.finished_at.date().replace(day=1)
    assert months.close_month(service.database, str(result.ladder_id), month)
    return owner, bot, result.match_id


def edit(owner: Person, bot: str, **changes: str) -> None:
    answer = owner.ask("PATCH", f"/bots/{bot}", ANY, json=changes)
    assert answer.status_code == 200, answer.get_data(as_text=True)


def report_faults(database: Database, bot: str, match_id: str) -> None:
    """Store what runners store of a bot that misbehaves, and reports of its checks."""
    with database.write() as session:
        moment = current_time(session)
        place = {"match_id": match_id, "seat": 0, "bot_id": bot, "n": 1, "created_at": moment}
        said = f"{MARK} reply".encode()
        session.add(Fault(**place, code="bad_json", detail=f"got {MARK}", request=said, reply=said, timing={}))
        session.add(ReportedError(**place, errors=1, text=f"{MARK} error"))
        group = session.scalars(select(StoredMatch.group_id).where(StoredMatch.id == match_id)).one()
        nonce = {"group_id": group, "bot_id": bot, "created_at": moment, "request": said, "reply": said}
        session.add(FailedNonce(**nonce, code=OpeningFailure.NONCE_WITHHELD, detail=MARK))
        session.execute(update(Check).where(Check.bot_id == bot).values(report={"said": MARK}))
        session.execute(update(Bot).where(Bot.id == bot).values(handshake_report={"said": MARK}, status_reason=MARK))
        session.execute(update(MatchSeat).where(MatchSeat.bot_id == bot).values(url=ADDRESS))


def cells(database: Database) -> Iterator[tuple[str, str, str]]:
    """Yield the table, the column and the lower-case text of each cell of the database."""
    with database.read() as session:
        for table in inspect(session.get_bind()).get_table_names():
            for row in session.execute(text(f'SELECT * FROM "{table}"')).mappings():  # our own names
                yield from ((table, column, readable(value)) for column, value in row.items())


def readable(value: Any) -> str:
    if isinstance(value, memoryview | bytes):
        content = bytes(value)
        value = (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).decode(errors="replace")
    return (json.dumps(value) if isinstance(value, dict | list) else str(value)).lower()


def traces(database: Database, mark: str = MARK) -> set[str]:
    return {f"{table}.{column}" for table, column, cell in cells(database) if mark in cell}


def audited(database: Database) -> list[Any]:
    with database.read() as session:
        return list(audit(session))


def check_export(owner: Person, bot: str, match_id: str, tables: set[str]) -> None:
    """Check that the export has all that names the account, and no secret."""
    answer = owner.get("/accounts/me/export")
    exported = json.loads(answer.get_data())

    assert answer.headers["Content-Disposition"] == 'attachment; filename="account.json"'
    assert exported.pop("missing_sections") == []
    assert exported.keys() == list_sections().keys()
    assert exported["accounts"][0]["name"] == OWNER_NAME
    assert {row["id"] for row in exported["bots"]} >= {bot}
    assert exported["faults"][0]["reply"] == f"{MARK} reply"
    assert [row["match_id"] for row in exported["match_seats"]] == [match_id]
    filled = {name for name, rows in exported.items() if rows}
    assert {"tokens", "acts", "former_names", "tournaments", "stored_responses"} <= filled
    assert "sha256" not in answer.text
    # Every table with a cell of the owner is in the export, except those that repeat what others have.
    exports = {section.model.__tablename__ for section in list_sections().values()}
    assert {table for table in tables if not table.startswith("search_index")} <= exports | {"ladder_month_rows"}


def test_E27_an_owner_can_export_everything_and_nothing_of_it_is_left_after_the_deletion(
    service: Service, admin: Person
) -> None:
    owner, bot, match_id = plant(service, admin)
    anybody, before = service.anonymous(), traces(service.database)
    log = anybody.get(f"{API}/matches/{match_id}/log").get_data()
    check_export(owner, bot, match_id, {trace.partition(".")[0] for trace in before})

    deleted = owner.post("/accounts/me/delete", {"name": OWNER_NAME})

    name = f"deleted account {owner.id[-8:]}"
    assert (deleted.status_code, deleted.get_json()["name"]) == (200, name)
    assert len(before) > 20, sorted(before)
    assert (traces(service.database), audited(service.database)) == (set(), [])
    assert anybody.get(f"{API}/matches/{match_id}/log").get_data() == log
    assert PLAYED_AS in log.decode()
    shown = anybody.get(f"{API}/bots/{bot}").get_json()
    assert (shown["name"], shown["status"], shown["summary"], shown["link"]) == (PLAYED_AS, "retired", None, None)
    assert (shown["owner_name"], shown["former_names"]) == (name, [])
    assert owner.get("/accounts/me").status_code == 401
    with service.database.read() as session:
        assert session.get_one(Bot, bot).erased_at is not None
        assert not session.execute(text(f"SELECT 1 FROM idempotency WHERE account_id = '{owner.id}'")).all()


def test_E27_a_deleted_bot_keeps_the_names_it_played_under_and_nothing_else(service: Service, admin: Person) -> None:
    owner, bot, _ = plant(service, admin)
    (second,) = [one["id"] for one in owner.get(f"/bots?owner={owner.id}").get_json()["items"] if one["id"] != bot]

    def delete_as(name: str, bot_id: str = bot) -> Any:
        return owner.post(f"/bots/{bot_id}/delete", {"name": name})

    wrong, first = delete_as(PLAYED_AS), delete_as(NEVER_PLAYED_AS)
    other, again = delete_as(f"{MARK} two", second), delete_as(PLAYED_AS)

    assert (wrong.status_code, fields_of(wrong)) == (422, {"name"})
    assert [answer.get_json()["name"] for answer in (first, other)] == [PLAYED_AS, f"deleted bot {second[-8:]}"]
    assert (again.status_code, "deleted already" in again.get_json()["detail"]) == (409, True)
    of_bots = {"bots", "checks", "faults", "reported_errors", "failed_nonces", "match_seats", "former_names"}
    left = {trace.partition(".")[0] for trace in traces(service.database)}
    assert not left & of_bots
    assert owner.get("/accounts/me").get_json()["name"] == OWNER_NAME
    assert "deleted this bot" in service.anonymous().get(f"/bots/{bot}").text
    assert audited(service.database) == []
    # The stored response had the secret and the URL of the second bot.
    repeated = owner.post("/bots", {"name": f"{MARK} two", "url": ADDRESS}, headers=KEY)
    assert (repeated.status_code, repeated.headers.get("Idempotency-Replayed")) == (201, None)


def test_E27_what_a_running_match_needs_is_erased_when_it_is_over(service: Service, owner: Person) -> None:
    world = World(service.database)
    bots = [service.verified_bot(who)["id"] for who in (owner, service.person())]
    world.match(bots)
    (claim,) = world.claim()
    name = owner.get(f"/bots/{bots[0]}").get_json()["name"]

    deleted = owner.post(f"/bots/{bots[0]}/delete", {"name": name})
    with service.database.write() as session:
        early = (erasure.has_unfinished(session), erasure.finish_erasures(session))
        address = world.load(claim.match_id).players[0].url
    world.finish(claim)
    with service.database.write() as session:
        late = (erasure.has_unfinished(session), erasure.finish_erasures(session), erasure.has_unfinished(session))

    assert (deleted.status_code, early, late) == (200, (False, 0), (True, 1, False))
    assert address.startswith("https://")
    bot = service.record_of(bots[0])
    assert (bot.url, bot.verified_url, bot.name) == ("", None, name)
    assert audited(service.database) == []


def test_E27_an_owner_who_alone_runs_a_tournament_hands_it_over_first(
    service: Service, organiser: Person, owner: Person, mine: str
) -> None:
    tournament_id = organiser.post("/tournaments", {**CUP, "contact": "me@example.org"}).get_json()["id"]
    organiser.post(f"/tournaments/{tournament_id}/open")
    draft = organiser.post("/tournaments", {**CUP, "name": "Never opened"}).get_json()["id"]
    others = [create(organiser, kind) for kind in EXTRA_KINDS]
    for path in others:
        join(organiser, owner, path)
    owner.post(f"/tournaments/{tournament_id}/enter", {"bot": mine})
    name = organiser.get("/accounts/me").get_json()["name"]

    alone = organiser.post("/accounts/me/delete", {"name": name})
    join(organiser, owner, f"/tournaments/{tournament_id}")
    deleted = organiser.post("/accounts/me/delete", {"name": name})

    assert (alone.status_code, tournament_id in alone.get_json()["detail"]) == (409, True)
    assert "end_tournaments" in alone.get_json()["detail"]
    assert deleted.status_code == 200
    shown = owner.get(f"/tournaments/{tournament_id}").get_json()
    assert ([one["id"] for one in shown["organisers"]], shown["contact"]) == ([owner.id], None)
    assert owner.post(f"/tournaments/{tournament_id}/cancel", {}).status_code == 200
    assert owner.get(f"/tournaments/{draft}").status_code == 404
    for path in others:
        assert [one["id"] for one in owner.get(path).get_json()["organisers"]] == [owner.id]


def test_E27_the_last_operator_stays_and_operators_delete_no_operators(
    service: Service, admin: Person, owner: Person
) -> None:
    def delete_as(who: Person, account: Person) -> Any:
        name = account.get("/accounts/me").get_json()["name"]
        path = "/accounts/me/delete" if who is account else f"/accounts/{account.id}/delete"
        return who.post(path, {"name": name} if who is account else {"name": name, "reason": "On request"})

    last = delete_as(admin, admin)
    second = service.person("admin")
    other = delete_as(second, admin)
    theirs = delete_as(second, owner)
    own = delete_as(admin, admin)
    forbidden = delete_as(service.person(), second)

    assert (last.status_code, "last operator" in last.get_json()["detail"]) == (409, True)
    assert (other.status_code, theirs.status_code, own.status_code) == (409, 200, 200)
    assert forbidden.status_code == 403
    acts = second.get("/acts?kind=account.deleted").get_json()["items"]
    assert [(act["object"], act["account_name"].startswith("deleted")) for act in acts] == [
        (admin.id, True), (owner.id, False)]  # fmt: skip
    for change, body in (("rename", {"name": "Back"}), ("suspend", {}), ("restore", {}), ("tokens", {"name": "new"})):
        reason = {} if change == "tokens" else {"reason": "x"}
        assert second.post(f"/accounts/{owner.id}/{change}", {**body, **reason}).status_code == 409, change


def test_F15_acts_of_deleted_accounts_can_lose_names_and_nothing_else(
    service: Service, owner: Person, admin: Person
) -> None:
    for act in ("suspend", "restore"):
        admin.post(f"/accounts/{owner.id}/{act}", {"reason": "a test"})
    of_owner = update(Act).where(Act.object_id == owner.id)
    changes = [of_owner.values(account_name="x"), of_owner.values(object_id=admin.id), delete(Act)]

    def is_refused(change: Any) -> bool:
        try:
            with service.database.write() as session:
                return session.execute(change) is None
        except DBAPIError as error:
            return "append-only" in str(error)

    before = [is_refused(change) for change in changes]
    owner.post("/accounts/me/delete", {"name": "owner 0"})

    assert before == [True] * 3
    assert [is_refused(change) for change in changes] == [False, True, True]


def test_E14_a_name_that_was_given_up_is_held_for_its_owner(service: Service, owner: Person, admin: Person) -> None:
    other = service.person()
    bot, theirs = service.verified_bot(owner)["id"], service.verified_bot(other)["id"]
    edit(owner, bot, name="Famous")
    edit(owner, bot, name="Renamed")

    taken = other.ask("PATCH", f"/bots/{theirs}", ANY, json={"name": "FAM0US"})
    edit(owner, bot, name="Famous")
    owner.post(f"/bots/{bot}/retire")
    after = other.post("/bots", {"name": "Famous", "url": ADDRESS})
    own = owner.post("/bots", {"name": "Famous", "url": ADDRESS})

    assert (taken.status_code, taken.get_json()["code"]) == (409, "name_taken")
    assert "Nobody else may take it before" in taken.get_json()["detail"]
    assert (after.status_code, own.status_code) == (409, 201)
    names = [former["name"] for former in owner.get(f"/bots/{bot}").get_json()["former_names"]]
    assert names[:2] == ["Renamed", "Famous"]
    assert "Earlier names" in service.anonymous().get(f"/bots/{bot}").text
    kinds = [act["kind"] for act in admin.get(f"/acts?account={owner.id}").get_json()["items"]]
    assert kinds == ["bot.renamed"] * 3
    end_holds(service)
    with service.database.write() as session:
        assert former_names.has_expired(session)
        assert former_names.delete_expired(session) == 1
    owner.post(f"/bots/{own.get_json()['id']}/retire")
    assert other.post("/bots", {"name": "Famous", "url": ADDRESS}).status_code == 409
    end_holds(service)
    assert other.post("/bots", {"name": "Famous", "url": ADDRESS}).status_code == 201


def end_holds(service: Service) -> None:
    """Let the time for which names that were given up are held be over."""
    with service.database.write() as session:
        for row in session.scalars(select(former_names.FormerName)):
            row.ended_at -= former_names.HOLD + timedelta(seconds=1)


def test_E14_names_change_seldom_and_an_operators_change_is_final_for_a_while(
    service: Service, owner: Person, admin: Person
) -> None:
    service.verified_bot(owner)

    def rename(name: str, who: Person = owner, condition: Any = ANY) -> Any:
        return who.ask("PATCH", "/accounts/me", condition, json={"name": name})

    renamed = [rename(f"Name {number}").status_code for number in range(5)]
    same = rename("Name 4")
    sixth = rename("Name 6")
    by_operator = admin.post(f"/accounts/{owner.id}/rename", {"name": "Calm", "reason": "Offensive."})
    back = rename("Name 4")
    other = service.person()
    reserved = [rename(name, other).status_code for name in ("deleted account 1a2b3c4d", "Deleted bot", "Referee")]
    stale, unconditional = rename("Name 7", owner, {"If-Match": '"old"'}), rename("Name 7", owner, {})
    shown = service.anonymous().get(f"{API}/owners/{owner.id}").get_json()

    assert renamed == [200] * 5
    assert (same.status_code, sixth.status_code, sixth.get_json()["code"]) == (200, 409, "quota_exceeded")
    assert (by_operator.status_code, back.status_code) == (200, 409)
    assert reserved == [409] * 3
    assert (stale.status_code, unconditional.status_code) == (412, 428)
    assert shown["name"] == "Calm"
    assert [former["name"] for former in shown["former_names"]] == [*(f"Name {n}" for n in (3, 2, 1, 0)), "owner 0"]
    assert "Name 3" in service.anonymous().get(f"/owners/{owner.id}").get_data(as_text=True)


EXEMPT = {  # tables with the id of an account or a bot that are not exported, and why
    "daily_exchanges": "sums of rating changes",
    "owner_exchanges": "",
    "deal_groups": "cards of matches",
    "ladder_months": "names the champion, who is in month_rows",
    "rating_errors": "computed from ratings",
    "queued_seats": "the queue of matches",
}


def test_every_table_that_names_an_account_or_a_bot_is_exported_or_exempt() -> None:
    naming = {
        table.name
        for table in all_tables()
        if {key.target_fullname for key in table.foreign_keys} & {"accounts.id", "bots.id"}
    }
    exported = {section.model.__tablename__ for section in list_sections().values()}

    assert naming - exported <= EXEMPT.keys(), "export it, or say why not"
    assert Account.__tablename__ in exported


def test_an_export_reads_more_than_a_page(service: Service, owner: Person, mine: str) -> None:
    match_id = World(service.database).match([mine, service.verified_bot(service.person())["id"]])
    with service.database.write() as session:
        moment = current_time(session)
        of = {"match_id": match_id, "seat": 0, "bot_id": mine, "code": "bad_json", "detail": "", "created_at": moment}
        session.add_all(Fault(**of, n=n) for n in range(450))

    exported = json.loads(owner.get("/accounts/me/export").get_data())

    assert [row["n"] for row in exported["faults"]] == list(range(450))


def test_E27_sqlite_overwrites_the_rows_that_a_deletion_changes(service: Service, owner: Person, mine: str) -> None:
    match_id = World(service.database).match([mine, service.verified_bot(service.person())["id"]])
    path, unusual = Path(str(make_url(service.database.url).database)), b"zanzibar-4711"
    with service.database.write() as session:
        of = {"match_id": match_id, "seat": 0, "bot_id": mine, "code": "bad_json", "created_at": current_time(session)}
        session.add(Fault(**of, n=7, detail=unusual.decode(), request=unusual * 5_000, reply=b""))

    def holds_it() -> bool:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
        return unusual in path.read_bytes()

    before = holds_it()
    with service.database.write() as session:
        session.execute(text("PRAGMA secure_delete = OFF"))  # some builds have it on by default
        account_deletion.delete_account(session, None, owner.id, reason="a test", master_key=MASTER_KEY)

    assert (before, holds_it()) == (True, False)
