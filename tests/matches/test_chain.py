"""The chain of signatures in the database: who signs what, when, at what cost, and every way to bend it."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from referee.audit import database_audit
from referee.errors import DamagedChain, DamagedLog
from referee.match.canonical import dumps
from referee.match.log import digest, parse_row
from referee.match.signature import LogSignature
from referee.match.signing_keys import SigningKey
from referee.match.verification import verify
from referee.matches import matches
from referee.matches.logs import chain, logs
from referee.matches.logs.recording import MatchUpdate
from referee.matches.tables import MatchLog, PublishedKey, Result, SignedLog
from referee.workflows.ending import match_end
from referee.workflows.ending.match_end import FinishedMatch
from tests.database.checks import on_one_database
from tests.database.world import World, outcome
from tests.surroundings import MASTER_KEY

KEY = SigningKey.derive(MASTER_KEY)
FOREIGN = SigningKey.derive(b"f" * 32)


def entries(world: World) -> list[LogSignature]:
    return world.read(chain.list_entries, 0, 1_000)


def differences(session: Session) -> list[str]:
    return [str(difference) for difference in database_audit.audit(session, key=KEY.public)]


def test_F14_each_log_is_signed_when_its_deal_group_is_over(world: World) -> None:
    results = [world.play(world.bots(2)) for _ in range(3)]

    signed = entries(world)

    assert [entry.match for entry in signed] == [result.match_id for result in results]
    assert [entry.number for entry in signed] == [1, 2, 3]
    assert [entry.previous for entry in signed] == [None, signed[0].digest(), signed[1].digest()]
    for entry in signed:
        KEY.public.check(entry)
        with world.database.read() as session:
            lines = logs.log_lines(session, entry.match)
            served = logs.read_log_file(session, matches.get_match(session, entry.match), gzipped=False)
        assert entry.log == digest(lines[-1])
        assert parse_row(lines[-1])["type"] == "reveal"
        assert verify(served.splitlines()).signature == entry
    assert world.read(differences) == []


def test_F14_logs_of_a_group_are_signed_in_the_order_of_their_results(world: World) -> None:
    world.sharing([world.bots(2)] * 2)
    by_id = {claim.match_id: claim for claim in world.claim(2)}
    later, earlier = (by_id[match_id] for match_id in sorted(by_id))
    one = world.finish(earlier)
    assert entries(world) == []
    two = world.finish(later)

    assert [entry.match for entry in entries(world)] == [one.match_id, two.match_id]
    assert one.match_id > two.match_id  # so it is not the order of ids


# -- bends of the database --

Change = Callable[[Session], object]


def set_entry(number: int, /, **values: Any) -> Change:
    return lambda session: session.execute(update(SignedLog).where(SignedLog.number == number).values(**values))


def resign(session: Session, number: int, key: SigningKey, **changes: Any) -> None:
    """Replace an entry by one that this key signed."""
    stored = session.get_one(SignedLog, number)
    members = {"match_id": stored.match_id, "log_digest": stored.log_digest, "previous": stored.previous} | changes
    signed = key.sign(number, members["match_id"], members["log_digest"], members["previous"])
    set_entry(number, **members, key_id=signed.key, signature=signed.signature)(session)


def add_foreign_key(session: Session) -> None:
    chain.publish_key(session, FOREIGN.public)


def resign_with_foreign_key(session: Session, number: int) -> None:
    add_foreign_key(session)
    resign(session, number, FOREIGN)


def remove(number: int) -> Change:
    return lambda session: session.execute(delete(SignedLog).where(SignedLog.number == number))


def exchange(session: Session) -> None:
    """Exchange the places of two entries."""
    set_entry(2, number=99)(session)
    set_entry(3, number=2)(session)
    set_entry(99, number=3)(session)


def swap_logs(session: Session) -> None:
    """Exchange the stored logs of two matches."""
    two, three = (session.get_one(SignedLog, number).match_id for number in (2, 3))
    columns = ("gzip_log", "reveal_line", "digest", "rows")
    stored = {of: {name: getattr(session.get_one(MatchLog, of), name) for name in columns} for of in (two, three)}
    session.execute(update(MatchLog).where(MatchLog.match_id == two).values(stored[three]))
    session.execute(update(MatchLog).where(MatchLog.match_id == three).values(stored[two]))


def rewrite_log(session: Session) -> str:
    """Store another valid log of the second match: its only note is new, all links fit. Return the new digest."""
    match_id = session.get_one(SignedLog, 2).match_id
    log = session.get_one(MatchLog, match_id)
    lines = logs.log_lines(session, match_id)
    rows = [parse_row(line) for line in lines]
    next(row for row in rows if row.get("source") == "bot")["note"] = "invented"
    relinked: list[bytes] = []
    for row in rows:
        row["prev"] = digest(relinked[-1]) if relinked else None
        relinked.append(dumps(row))
    assert verify(relinked).ok
    session.execute(delete(MatchLog).where(MatchLog.match_id == match_id))
    session.expunge(log)
    logs.pack_log(session, match_id, relinked[:-1])
    logs.append_reveal(session, match_id, relinked[-1])
    session.execute(update(Result).where(Result.match_id == match_id).values(digest=digest(relinked[-2])))
    return digest(relinked[-1])


def rewrite_log_and_sign(session: Session, key: SigningKey) -> None:
    new = rewrite_log(session)
    resign(session, 2, key, log_digest=new)


def sign_all_again(session: Session) -> None:
    """Rewrite a log, and sign all entries from it on with a foreign key, which is published."""
    add_foreign_key(session)
    new = rewrite_log(session)
    before = chain.list_entries(session, 0, 1)[0]
    for number in (2, 3, 4):
        changes = {"previous": before.digest()} | ({"log_digest": new} if number == 2 else {})
        resign(session, number, FOREIGN, **changes)
        before = chain.list_entries(session, number - 1, 1)[0]


def replay_entry(session: Session) -> None:
    """Append the second entry again for another match."""
    old = chain.list_entries(session, 1, 1)[0]
    match_id = session.get_one(SignedLog, 4).match_id
    remove(4)(session)
    row = {"number": 4, "match_id": match_id, "log_digest": old.log, "previous": old.previous}
    session.execute(insert(SignedLog).values(**row, key_id=old.key, signature=old.signature))


def replace_key(session: Session) -> None:
    """Store a foreign key under the id of the key of the service."""
    session.execute(update(PublishedKey).values(public_key=FOREIGN.public.raw.hex()))


BENDS: dict[str, tuple[Change, str]] = {  # what is done to a chain of four entries, and what the audit says first
    "an entry removed": (remove(2), "entry 2 is missing before it"),
    "the first entry removed": (remove(1), "entry 1 is missing before it"),
    "the last entry removed": (remove(4), "no signature"),
    "all entries removed": (lambda session: session.execute(delete(SignedLog)), "no signature"),
    "two entries exchanged": (exchange, "entry 2: stored it does not name the digest"),
    "a number changed": (set_entry(4, number=7), "entries 4 to 6 are missing before it"),
    "a digest changed": (set_entry(2, log_digest="d" * 64), "what it states was changed"),
    "the digest before changed": (set_entry(3, previous="d" * 64), "does not name the digest"),
    "a signature changed": (set_entry(2, signature="0" * 128), "was not made with key"),
    "a signature emptied": (set_entry(4, signature=""), "was not made with key"),
    "an entry signed again by a foreign key": (
        lambda session: resign_with_foreign_key(session, 4),
        f"key {FOREIGN.public.id} after key {KEY.public.id}",
    ),
    "all signed again by a foreign key": (sign_all_again, f"key {FOREIGN.public.id} after key {KEY.public.id}"),
    "an entry replayed": (replay_entry, "entry 4: stored it does not name the digest"),
    "the key replaced": (replace_key, "not among the given keys"),
    "logs exchanged": (swap_logs, "it is the log of match"),
    "a log rewritten": (rewrite_log, "a log that ends with"),
    "a log rewritten and signed in its place": (
        lambda session: rewrite_log_and_sign(session, KEY),
        "entry 3: stored it does not name the digest",
    ),
}


SERVED = (  # bends that only the audit can find, which knows the current key and which logs must be signed
    *("the last entry removed", "all entries removed"),
    *("an entry signed again by a foreign key", "all signed again by a foreign key"),
)


@on_one_database
def test_F14_a_bent_chain_is_named_by_the_audit_and_not_served(world: World) -> None:
    bots = world.bots(2)
    played_ids = [world.play(bots).match_id for _ in range(4)]
    assert world.read(differences) == []
    assert world.read(refusals, played_ids) == []

    for name, (bend, reason) in BENDS.items():
        with world.undoing() as session:
            bend(session)
            session.flush()
            session.expire_all()
            told, refused = differences(session), refusals(session, played_ids)

        assert any(reason in difference for difference in told), (name, told)
        assert (refused == []) == (name in SERVED), name


def refusals(session: Session, match_ids: list[str]) -> list[str]:
    """Return why the chain and the logs of matches are not served, or [] if they are."""
    refused = []
    try:
        chain.list_checked_entries(session, 0, 100)
    except DamagedChain as error:
        refused.append(str(error))
    for match_id in match_ids:
        try:
            logs.read_log_file(session, matches.get_match(session, match_id), gzipped=True)
        except DamagedLog as error:
            refused.append(str(error))
    return refused


@on_one_database
def test_F14_the_nightly_audit_finds_bad_signatures_and_gaps(world: World) -> None:
    bots = world.bots(2)
    played_ids = [world.play(bots).match_id for _ in range(4)]
    with world.database.read() as session:
        assert [*database_audit.check_links(session, played_ids), *database_audit.check_gaps(session)] == []

    with world.database.write() as session:
        set_entry(2, signature="0" * 128)(session)
        set_entry(4, number=5)(session)

    with world.database.read() as session:
        told = [f"{one.kind} {one.id}" for one in database_audit.check_links(session, played_ids)]
        gaps = [str(one) for one in database_audit.check_gaps(session)]
    assert told == ["chain entry 2", "chain entry 3", "chain entry 5"]
    assert gaps == ["chain entries 1 to 5: stored 4 entries from 1 to 5, expected 5 entries"]


# -- one chain, however many write --


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)  # SQLite has one writer at a time
def test_F14_threads_that_close_groups_at_once_make_one_chain(world: World) -> None:
    threads_count, each = 4, 3
    ends = [match_to_end(world, world.bots(2)) for _ in range(threads_count * each)]
    start = threading.Barrier(threads_count)

    def end(place: int) -> None:
        start.wait(timeout=30)
        for finished in ends[place::threads_count]:
            world.write(match_end.finish_matches, [finished], master_key=MASTER_KEY)

    with ThreadPoolExecutor(threads_count) as threads:
        list(threads.map(end, range(threads_count)))

    with world.database.read() as session:
        signed = chain.list_checked_entries(session, 0, 100)
        order = list(session.scalars(select(Result.match_id).order_by(Result.seq)))
    assert [entry.number for entry in signed] == list(range(1, threads_count * each + 1))
    assert [entry.match for entry in signed] == order
    assert world.read(differences) == []


# -- cost --


@on_one_database
def test_signing_costs_one_statement_for_the_head_and_one_for_each_log(world: World) -> None:
    bots = world.bots(2)
    world.play(bots)  # publishes the key
    executed = statements_of_ends(world, [match_to_end(world, bots) for _ in range(3)])

    concerning = [text.split()[0] for text in executed if "signed_logs" in text or "signing_keys" in text]
    assert concerning == ["SELECT", "INSERT", "INSERT", "INSERT"]


def statements_of_ends(world: World, ends: Sequence[FinishedMatch]) -> list[str]:
    """End these matches in one transaction. Return the statements that SQLite executes for it."""
    executed: list[str] = []
    with world.database.write() as session:
        driver = session.connection().connection.dbapi_connection
        assert driver is not None
        driver.set_trace_callback(executed.append)
        match_end.finish_matches(session, ends, master_key=MASTER_KEY)
        driver.set_trace_callback(None)
    return executed


def match_to_end(world: World, bots: list[str]) -> FinishedMatch:
    """Create, claim and play a match, up to its end, which is not stored."""
    claim, match = world.played_out(bots)
    return FinishedMatch(MatchUpdate(*claim, 0, match.lines), [], outcome(match))
