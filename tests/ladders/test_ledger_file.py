"""The ledger file of a ladder: docs/refold.py, which uses no code of the project, reproduces every number in it."""

import csv
import gzip
import importlib.util
import io
import runpy
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Engine, delete, event, func, insert, select, update
from sqlalchemy.orm import Session

import referee
from referee.audit import repairs
from referee.audit.stored_ladders import check_ladder
from referee.bots import bots, house_bots
from referee.bots.tables import Bot
from referee.db.engine import is_writing
from referee.db.ids import new_id
from referee.ladders import ledger, ledger_csv, ledger_entries, ratings
from referee.ladders.rating_replay import RatedSeats
from referee.ladders.tables import DailyExchange, LedgerEntry, LedgerPart, Rating, RatingChange
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.ratings.elo import MICRO, START
from referee.ratings.exchange import ANCHORS_CAP, OWNERS_CAP
from referee.workflows.erasing import account_deletion, erasure
from referee.workflows.voids import voiding
from tests.database.world import World
from tests.surroundings import MASTER_KEY

SCRIPT = Path(__file__).parents[2] / "docs" / "refold.py"
FACTS = [fact.name for fact in fields(RatedSeats)]

Row = dict[str, str]


def _load_script() -> Any:
    spec = importlib.util.spec_from_file_location("refold", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


refold = _load_script()


@pytest.mark.parametrize(("arguments", "status"), [(["--help"], 0), (["-h"], 0), ([], 1)])
def test_the_script_says_how_it_is_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], status: int
) -> None:
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])

    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")

    assert ended.value.code == status
    assert "python docs/refold.py FILE…" in capsys.readouterr().out


def file_of(world: World, ladder_id: str) -> bytes:
    with world.database.read() as session:
        until = ratings.last_seq(session, ladder_id)
    return b"".join(ledger_csv.ledger_csv(world.database, ladder_id, until))


def store_parts(world: World, ladder_id: str) -> int:
    """Store all parts that are missing. Return their number."""
    return sum(1 for _ in iter(lambda: ledger_csv.store_next_part(world.database, ladder_id), False))


def computed_file(world: World, ladder_id: str) -> bytes:
    """Return the file without the parts, which are lost."""
    with world.database.write() as session:
        session.execute(delete(LedgerPart))
    return file_of(world, ladder_id)


def rows_of(world: World, ladder_id: str) -> list[Row]:
    return list(csv.DictReader(io.StringIO(file_of(world, ladder_id).decode(), newline="")))


def copies(world: World, like: Result, tables: list[dict[str, Any]]) -> list[Result]:
    """Add a result for each of the tables, not in the ledger yet; a table says how its match differs from ``like``."""
    with world.database.write() as session:
        match = dict(
            session.execute(select(StoredMatch.__table__).where(StoredMatch.id == like.match_id)).mappings().one()
        )
        seats = select(MatchSeat.__table__).where(MatchSeat.match_id == like.match_id).order_by(MatchSeat.seat)
        first = [dict(row) for row in session.execute(seats).mappings()]
        columns = select(Result.__table__).where(Result.match_id == like.match_id)
        result = {name: value for name, value in session.execute(columns).mappings().one().items() if name != "seq"}
        owner_of = dict(session.execute(select(Bot.id, Bot.owner_id)).all())
        ids = [new_id("match") for _ in tables]
        session.execute(insert(StoredMatch), [{**match, "id": id, "status": "finished", "reason": None} for id in ids])
        named = [
            {
                "match_id": id,
                "entrants": each["bots"],
                "owners": [owner_of[bot] for bot in each["bots"]],
                "anchors": [None] * len(each["bots"]),
                **each,
            }
            for id, each in zip(ids, tables, strict=True)
        ]
        session.execute(insert(Result), [{**result, **each} for each in named])
        by_seat = [
            {**seat, "match_id": each["match_id"], "bot_id": bot, "rated": rated}
            for each in named
            for seat, bot, rated in zip(first, each["bots"], each["rated"], strict=True)
        ]
        session.execute(insert(MatchSeat), by_seat)
        found = {row.match_id: row for row in session.scalars(select(Result).where(Result.match_id.in_(ids)))}
        return [found[id] for id in ids]


def enter(world: World, results: list[Result]) -> None:
    with world.database.write() as session:
        ledger.lock_ledger(session)
        counting = [
            ledger.RatedResult(str(one.ladder_id), one.match_id, RatedSeats(*(getattr(one, name) for name in FACTS)))
            for one in results
        ]
        ledger.enter_results(session, counting)


def make_void(world: World, result: Result) -> None:
    with world.database.write() as session:
        voiding.void_match(session, result.match_id, "at random", created_by=None, master_key=MASTER_KEY)


@dataclass
class Campaign:
    """Bots of known order of strength, whose owners register more bots and publish new versions, and an anchor."""

    world: World
    dice: Random
    anchor: str
    bots: list[str]
    owner_of: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str | None] = field(default_factory=dict)
    capped: int = 0  # days on which a cap had an effect

    def table(self) -> dict[str, Any]:
        """Return a table of three bots of different owners; some seats may be unrated or have the anchor."""
        dice, seated = self.dice, [self.anchor]
        while len({self.owner_of.get(bot, bot) for bot in seated}) < len(seated) or self.anchor in seated:
            seated = dice.sample(self.bots, 3)
        for bot in seated:
            if dice.random() < 0.02:
                self.versions[bot] = dice.choice(["1.0", "2.0", "=3", "'=3", None])
        strength = {bot: self.bots.index(bot) + dice.randrange(3) for bot in seated}
        placements = [1 + sum(other < strength[bot] for other in strength.values()) for bot in seated]
        left_out = [dice.choice([0, 1, 2])] if dice.random() < 0.3 else []
        anchored = left_out and dice.random() < 0.6
        anchors: list[int | None] = [None] * 3
        owners: list[str | None] = [self.owner_of[bot] for bot in seated]
        versions = [self.versions.get(bot, "1.0") for bot in seated]
        if anchored:
            level = dice.choice([1_400, 1_500]) * MICRO
            if dice.random() < 0.3:
                left_out.append((left_out[0] + 1) % 3)
            for seat in left_out:
                seated[seat], owners[seat], anchors[seat] = self.anchor, None, level
        rated = [seat not in left_out for seat in range(3)]
        facts = {"owners": owners, "versions": versions, "anchors": anchors}
        return {"bots": seated, "placements": placements, "rated": rated, **facts}

    def register(self) -> None:
        """Register another bot for an owner, stronger than all others."""
        owner = self.owner_of[self.dice.choice(self.bots)]
        bot = self.world.bot(owner)
        self.owner_of[bot] = owner
        self.bots.insert(0, bot)


def campaign(world: World, seed: int) -> Campaign:
    bots = world.bots(8)
    with world.database.write() as session:
        anchor = house_bots.get_or_create_house_bot(session, "sound").id
        owners = dict(session.execute(select(Bot.id, Bot.owner_id).where(Bot.id.in_(bots))).all())
    return Campaign(world, Random(seed), anchor, bots, owners)


def play_on(world: World, played: Campaign, like: Result, results: int) -> None:
    """Enter results of the campaign over several days, with voids, new bots and new versions in between."""
    dice = played.dice
    entered: list[Result] = []
    never, *first = copies(world, like, [played.table() for _ in range(30)])
    make_void(world, never)  # before its result is entered
    waiting = dice.sample(first, len(first))  # results are entered in a different order than the matches ended
    while len(entered) < results:
        enter(world, waiting)
        entered += waiting
        make_void(world, entered.pop(dice.randrange(len(entered))))
        with world.database.read() as session:
            at_cap = select(DailyExchange).where(func.abs(DailyExchange.gain).in_((ANCHORS_CAP, OWNERS_CAP)))
            played.capped += bool(session.scalars(at_cap).all())
        world.clock.moment += timedelta(days=dice.choice([0, 0, 1, 9]))
        if dice.random() < 0.4:
            played.register()
        waiting = copies(world, like, [played.table() for _ in range(dice.randrange(1, 40))])
        store_parts(world, str(like.ladder_id))
    enter(world, waiting)


def differences(world: World, ladder_id: str) -> list[str]:
    """Return what docs/refold.py and the audit of ladders find."""
    file = io.StringIO(file_of(world, ladder_id).decode(), newline="")
    with world.database.read() as session:
        audited = [str(found) for found in check_ladder(session, ladder_id)]
    return [*refold.check(file), *audited]


def test_F11_every_ladder_is_folded_again_from_its_file_alone_to_the_last_digit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_csv, "ENTRIES_PER_PART", 20)
    played = campaign(world, seed=5)
    first = world.play(played.bots[:3])
    ladder = str(first.ladder_id)
    play_on(world, played, first, 450)
    assert differences(world, ladder) == []
    with world.database.write() as session:
        session.execute(update(Rating).where(Rating.bot_id == first.bots[0]).values(value=Rating.value + 7))
        session.execute(update(Rating).where(Rating.bot_id == played.anchor).values(balance=Rating.balance + 7))
        session.execute(update(DailyExchange).values(gain=DailyExchange.gain - 7))
        session.execute(update(RatingChange).where(RatingChange.seq % 50 == 0).values(after=RatingChange.after + 7))
    with world.database.read() as session:
        kinds = {found.kind for found in check_ladder(session, ladder)}
    assert kinds == {"rating", "exchange", "change"}
    with world.database.write() as session:
        repairs.repair_ladder(session, ladder)

    assert store_parts(world, ladder) > 20
    file = file_of(world, ladder)
    rows = rows_of(world, ladder)

    assert differences(world, ladder) == []
    assert computed_file(world, ladder) == file
    entries = [list(group) for _, group in groupby(rows, key=lambda row: row["entry"])]
    assert {entry[0]["kind"] for entry in entries} == {"result", "void", "repair"}
    assert [int(row["entry"]) for row in rows] == sorted(int(row["entry"]) for row in rows)
    ended = [int(row["seq"]) for row in rows if row["kind"] == "result"]
    assert ended != sorted(ended)
    assert exercised(entries) == {"anchor", "repeated anchor", "inherited"}
    assert played.capped


def test_K27_random_damage_of_a_ledger_is_named_and_never_repaired(world: World) -> None:
    played = campaign(world, seed=7)
    first = world.play(played.bots[:3])
    ladder, other = str(first.ladder_id), str(world.play(played.bots[:2]).ladder_id)
    play_on(world, played, first, 60)
    assert differences(world, ladder) == []
    for _ in range(40):
        with world.undoing() as session:
            damage = injure(session, played.dice, ladder, other)
            session.expire_all()

            found = list(check_ladder(session, ladder))

            assert not all(each.is_repairable for each in found), damage
            with pytest.raises(repairs.DamagedLedger):
                repairs.repair_ladder(session, ladder)
    assert differences(world, ladder) == []


def injure(session: Session, dice: Random, ladder: str, other: str) -> str:
    """Damage an entry of the ledger, or the match or result to which it belongs. Return what was done."""
    wounds = ["delete", "move", "after its void", "without result", "other status"]
    entries = session.scalars(
        select(LedgerEntry).where(LedgerEntry.ladder_id == ladder).order_by(LedgerEntry.seq)
    ).all()
    match_ids = {kind: {each.match_id for each in entries if each.kind == kind} for kind in ("result", "void")}
    entry, wound = dice.choice([each for each in entries if each.match_id in match_ids["result"]]), dice.choice(wounds)
    if wound == "after its void":
        entry = dice.choice([each for each in entries if each.match_id in match_ids["void"] & match_ids["result"]])
        entry = next(each for each in entries if each.match_id == entry.match_id and each.kind == "result")
    match wound:
        case "delete" | "after its void":
            session.execute(delete(RatingChange).where(RatingChange.seq == entry.seq))
            numbered = LedgerEntry.seq == entry.seq
            moved = update(LedgerEntry).where(numbered).values(seq=10_000)
            session.execute(delete(LedgerEntry).where(numbered) if wound == "delete" else moved)
        case "move":
            session.execute(update(LedgerEntry).where(LedgerEntry.seq == entry.seq).values(ladder_id=other))
        case "without result":
            session.execute(delete(Result).where(Result.match_id == entry.match_id))
        case "other status":
            status = "finished" if entry.match_id in match_ids["void"] else "void"
            session.execute(update(StoredMatch).where(StoredMatch.id == entry.match_id).values(status=status))
    return f"{wound}: {entry.kind} {entry.seq} of {entry.match_id}"


def exercised(entries: list[list[Row]]) -> set[str]:
    """Return which rules took effect, and check that what an entry moves adds up to zero."""
    found, balance = set(), dict[str, int]()
    for entry in entries:
        total = 0
        moved = [row for row in entry if row["kind"] == "result" and row["after_micro"]]
        if len(moved) > len({row["bot"] for row in moved}):
            found.add("repeated anchor")
        for row in {row["bot"]: row for row in moved}.values():
            total += int(row["after_micro"]) - int(row["before_micro"])
            if row["anchor_micro"]:
                assert row["before_micro"] == row["after_micro"] == row["anchor_micro"]
                total += int(row["balance_micro"]) - balance.get(row["bot"], 0)
                found.add("anchor")
            elif row["games"] == "1" and row["before_micro"] != str(START):
                found.add("inherited")
        assert total == 0, entry
        balance |= {row["bot"]: int(row["balance_micro"]) for row in entry if row["after_micro"]}
    return found


def test_entries_say_what_they_are_and_seats_that_do_not_count_move_nobody(world: World) -> None:
    bots = world.bots(3)
    first = world.play(bots)
    unrated, never = copies(
        world,
        first,
        [{"bots": bots, "placements": [1, 2, 3], "rated": rated} for rated in ([False, True, True], [True] * 3)],
    )
    enter(world, [unrated])
    make_void(world, first)
    make_void(world, never)

    rows = rows_of(world, str(first.ladder_id))

    assert [(row["kind"], row["match"], row["status"], row["seat"], bool(row["after_micro"])) for row in rows] == [
        *(("result", first.match_id, "void", seat, True) for seat in "012"),
        *(("result", unrated.match_id, "finished", seat, seat != "0") for seat in "012"),
        *(("void", first.match_id, "", "", True) for _ in range(3)),
        ("void", never.match_id, "", "", False),
    ]
    assert [row["reason"] for row in rows] == [*["at random"] * 3, *[""] * 3, *["at random"] * 4]
    assert [row["bot"] for row in rows[6:]] == [*sorted(bots), ""]


def test_a_longer_ledger_is_not_asked_for_row_by_row(world: World) -> None:
    bots = world.bots(3)
    first = world.play(bots)

    def asked() -> int:
        statements: list[str] = []

        def hear(*said: Any) -> None:
            statements.append(said[2])

        event.listen(Engine, "before_cursor_execute", hear)
        file_of(world, str(first.ladder_id))
        event.remove(Engine, "before_cursor_execute", hear)
        return len(statements)

    make_void(world, first)
    before = asked()
    seated = {"bots": bots, "placements": [1, 2, 3], "rated": [True] * 3}
    results = copies(world, first, [seated for _ in range(60)])
    enter(world, results)
    for result in results[::10]:
        make_void(world, result)

    assert len(rows_of(world, str(first.ladder_id))) > 61 * 3 + 7
    assert asked() == before


def test_a_file_reads_stored_parts_and_only_the_latest_entries(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_csv, "ENTRIES_PER_PART", 10)
    bots = world.bots(3)
    first = world.play(bots)
    ladder = str(first.ladder_id)
    seated = {"bots": bots, "placements": [1, 2, 3], "rated": [True] * 3}
    results = copies(world, first, [seated for _ in range(128)])

    def entries_read() -> int:
        """Return the number of ledger entries that are read for a file: those computed."""
        read: list[int] = []

        def note(entry: LedgerEntry, _: Any) -> None:
            read.append(entry.seq)

        event.listen(LedgerEntry, "load", note)
        file_of(world, ladder)
        event.remove(LedgerEntry, "load", note)
        return len(read)

    enter(world, results[:28])
    assert (store_parts(world, ladder), entries_read()) == (2, 9)
    enter(world, results[28:])
    assert (store_parts(world, ladder), entries_read()) == (10, 9)
    make_void(world, results[55])
    assert entries_read() == 10 + 9 + 1  # the part of the voided result, and the void

    file = file_of(world, ladder)
    assert store_parts(world, ladder) == 2
    assert entries_read() == 0
    assert file == file_of(world, ladder) == computed_file(world, ladder)


def test_what_owners_and_operators_do_leaves_the_stored_rows_right(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_csv, "ENTRIES_PER_PART", 1)
    played = [world.play(world.bots(3)) for _ in range(4)]
    ladder = str(played[0].ladder_id)
    with world.database.write() as session:  # a wrong number, which the repair corrects
        session.execute(update(RatingChange).where(RatingChange.bot_id == played[2].bots[0]).values(after=7))
    assert store_parts(world, ladder) == 4
    before = file_of(world, ladder)

    with world.database.write() as session:
        renamed = bots.get_bot(session, played[0].bots[0])
        bots.edit(session, renamed.id, revision=renamed.revision, name="Another name")
        erasure.delete_bot(session, played[0].bots[1], master_key=MASTER_KEY)
        erasure.finish_erasures(session)
        owner = bots.get_bot(session, played[1].bots[0]).owner_id
        account_deletion.delete_account(session, None, owner, reason="asked", master_key=MASTER_KEY)
    assert before == file_of(world, ladder) == computed_file(world, ladder)
    store_parts(world, ladder)
    make_void(world, played[3])
    voided = file_of(world, ladder)
    store_parts(world, ladder)
    with world.database.write() as session:
        repairs.repair_ladder(session, ladder)
    repaired = file_of(world, ladder)

    assert before != voided != repaired
    assert repaired == computed_file(world, ladder)


def test_parts_of_another_version_are_not_used_and_are_replaced(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_csv, "ENTRIES_PER_PART", 1)
    played = [world.play(world.bots(2)) for _ in range(3)]
    ladder = str(played[0].ladder_id)
    file = file_of(world, ladder)
    assert store_parts(world, ladder) == 3
    with world.database.write() as session:
        session.execute(update(LedgerPart).values(program_version="0.0.1", gzip_csv=gzip.compress(b"earlier columns")))

    assert file_of(world, ladder) == file
    assert store_parts(world, ladder) == 3
    assert file_of(world, ladder) == file
    with monkeypatch.context() as earlier:
        earlier.setattr(referee, "__version__", "0.0.1")
        assert store_parts(world, ladder) == 0  # a scheduler of that version still has its own
    with world.database.write() as session:
        ledger_csv.delete_other_versions(session)
        assert set(session.scalars(select(LedgerPart.program_version))) == {referee.__version__}


def test_a_void_that_is_not_committed_yet_is_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_csv, "ENTRIES_PER_PART", 1)
    played = world.play(world.bots(2))
    ladder = str(played.ladder_id)

    with ThreadPoolExecutor(1) as thread:
        with world.database.write() as session:
            voiding.void_match(session, played.match_id, "a bug", created_by=None, master_key=MASTER_KEY)
            storing = thread.submit(ledger_csv.store_next_part, world.database, ladder)
            with pytest.raises(TimeoutError):
                storing.result(timeout=0.5)  # it waits for the void
        assert storing.result(timeout=30)
    store_parts(world, ladder)
    file = file_of(world, ladder)

    assert file.count(b",void,") == 4  # two seats, and two bots whose ratings changed
    assert file == computed_file(world, ladder)


def change_by_void(world: World, result: Result) -> None:
    make_void(world, result)


def change_by_repair(world: World, result: Result) -> None:
    """Correct a wrong number."""
    with world.database.write() as session:
        session.execute(update(RatingChange).where(RatingChange.bot_id == result.bots[0]).values(after=7))
    with world.database.write() as session:
        repairs.repair_ladder(session, str(result.ladder_id))


@pytest.mark.parametrize("change", [change_by_void, change_by_repair])
def test_rows_that_change_while_a_part_is_computed_are_not_stored(
    world: World, monkeypatch: pytest.MonkeyPatch, change: Callable[[World, Result], None]
) -> None:
    monkeypatch.setattr(ledger_csv, "ENTRIES_PER_PART", 1)
    played = world.play(world.bots(2))
    ladder, waiting = str(played.ladder_id), [played]

    compute = ledger_csv._compute_csv

    def compute_then_change(*span: Any) -> Iterator[bytes]:
        assert not is_writing()
        yield from compute(*span)
        if waiting:
            change(world, waiting.pop())

    with monkeypatch.context() as slow:
        slow.setattr(ledger_csv, "_compute_csv", compute_then_change)
        assert ledger_csv.store_next_part(world.database, ladder)
    assert not waiting
    with world.database.read() as session:
        assert session.scalars(select(LedgerPart)).all() == []
    assert store_parts(world, ladder) >= 1

    assert file_of(world, ladder) == computed_file(world, ladder)


@pytest.mark.parametrize("stored", [False, True])
def test_memory_does_not_grow_with_the_ledger(world: World, monkeypatch: pytest.MonkeyPatch, stored: bool) -> None:
    monkeypatch.setattr(ledger_entries, "ENTRIES_PER_QUERY", 50)
    monkeypatch.setattr(ledger_csv, "ROWS_A_PIECE", 50)
    monkeypatch.setattr(ledger_csv, "BYTES_A_PIECE", 4_096)
    first = world.play(world.bots(2))
    ladder = str(first.ladder_id)

    def append(entries: int) -> None:
        entry = {"ladder_id": ladder, "kind": "repair", "rating_rules": 3, "created_at": world.clock.moment}
        with world.database.write() as session:
            session.execute(insert(LedgerEntry), [{**entry, "reason": f"number {at:026}"} for at in range(entries)])

    def peak() -> tuple[int, int]:
        with world.database.read() as session:
            until = ratings.last_seq(session, ladder)
        if stored:
            monkeypatch.setattr(ledger_csv, "ENTRIES_PER_PART", until)
            with world.database.write() as session:
                session.execute(delete(LedgerPart))
            assert store_parts(world, ladder) == 1
        tracemalloc.start()
        try:
            size = sum(len(piece) for piece in ledger_csv.ledger_csv(world.database, ladder, until))
            return size, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    append(300)
    peak()  # allocate what is kept permanently
    small, few = peak()
    append(2_700)
    large, many = peak()

    assert large > 9 * small
    assert many < 2 * few
