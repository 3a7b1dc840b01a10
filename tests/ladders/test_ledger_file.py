"""The ledger file of a ladder: docs/refold.py, which uses no code of the project, reproduces every number in it."""

import csv
import io
import runpy
import sys
import tracemalloc
from dataclasses import dataclass, field, fields
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from referee.audit import repairs
from referee.audit.stored_ladders import check_ladder
from referee.bots import house_bots
from referee.bots.tables import Bot
from referee.db.ids import new_id
from referee.ladders import ledger, ledger_csv, ratings
from referee.ladders.rating_replay import RatedSeats
from referee.ladders.tables import DailyExchange, LedgerEntry, Rating, RatingChange
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.ratings.elo import MICRO, START
from referee.ratings.exchange import ANCHORS, KEPT, Seat, exchange
from tests.database.checks import on_one_database
from tests.database.world import World

SCRIPT = Path(__file__).parents[2] / "docs" / "refold.py"
REFOLD = runpy.run_path(str(SCRIPT))
WHY = "at random"
FACTS = [fact.name for fact in fields(RatedSeats)]

Row = dict[str, str]


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
    until = world.read(ratings.last_seq, ladder_id)
    return b"".join(ledger_csv.ledger_csv(world.database, ladder_id, until))


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


@dataclass
class Campaign:
    """Bots of known order of strength, whose owners register more bots and publish new versions, and an anchor."""

    world: World
    dice: Random
    anchor: str
    bots: list[str]
    owner_of: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str | None] = field(default_factory=dict)

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
    world.void(never.match_id, WHY)  # before its result is entered
    waiting = dice.sample(first, len(first))  # results are entered in a different order than the matches ended
    while len(entered) < results:
        enter(world, waiting)
        entered += waiting
        world.void(entered.pop(dice.randrange(len(entered))).match_id, WHY)
        world.clock.moment += timedelta(days=dice.choice([0, 0, 1, 9]))
        if dice.random() < 0.4:
            played.register()
        waiting = copies(world, like, [played.table() for _ in range(dice.randrange(1, 40))])
    enter(world, waiting)


def differences(world: World, ladder_id: str) -> list[str]:
    """Return what docs/refold.py and the audit of ladders find."""
    file = io.StringIO(file_of(world, ladder_id).decode(), newline="")
    audited = [str(found) for found in world.listed(check_ladder, ladder_id)]
    return [*REFOLD["check"](file), *audited]


@on_one_database  # `test_ratings` compares the sums of either
def test_F11_every_ladder_is_folded_again_from_its_file_alone_to_the_last_digit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_csv, "ENTRIES_PER_QUERY", 20)
    played = campaign(world, seed=5)
    first = world.play(played.bots[:3])
    ladder = str(first.ladder_id)
    play_on(world, played, first, 300)
    assert differences(world, ladder) == []
    with world.database.write() as session:
        session.execute(update(Rating).where(Rating.bot_id == first.bots[0]).values(value=Rating.value + 7))
        session.execute(update(Rating).where(Rating.bot_id == played.anchor).values(balance=Rating.balance + 7))
        session.execute(update(DailyExchange).values(gain=DailyExchange.gain - 7))
        session.execute(update(RatingChange).where(RatingChange.seq % 50 == 0).values(after=RatingChange.after + 7))
    kinds = {found.kind for found in world.listed(check_ladder, ladder)}
    assert kinds == {"rating", "exchange", "change"}
    world.write(repairs.repair_ladder, ladder)

    rows = rows_of(world, ladder)

    assert differences(world, ladder) == []
    entries = [list(group) for _, group in groupby(rows, key=lambda row: row["entry"])]
    assert {entry[0]["kind"] for entry in entries} == {"result", "void", "repair"}
    assert [int(row["entry"]) for row in rows] == sorted(int(row["entry"]) for row in rows)
    ended = [int(row["seq"]) for row in rows if row["kind"] == "result"]
    assert ended != sorted(ended)
    assert exercised(entries) == {"anchor", "repeated anchor", "inherited", "new version", "cut by a cap"}


@on_one_database
def test_K27_random_damage_of_a_ledger_is_named_and_never_repaired(world: World) -> None:
    played = campaign(world, seed=7)
    first = world.play(played.bots[:3])
    ladder, other = str(first.ladder_id), str(world.play(played.bots[:2]).ladder_id)
    play_on(world, played, first, 60)
    assert differences(world, ladder) == []
    for _ in range(20):
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
    found, balance, known, versions = set(), dict[str, int](), dict[str, int](), dict[str, str]()
    for entry in entries:
        total = 0
        moved = [row for row in entry if row["kind"] == "result" and row["after_micro"]]
        # Nothing is cut on a day without other matches, if little is at stake.
        seats = [
            Seat(
                int(row["before_micro"]), START, ANCHORS if row["anchor_micro"] else row["owner"], int(row["placement"])
            )
            for row in moved
        ]
        for row, uncut in zip(moved, exchange(seats, {}), strict=True):
            bot, told = row["bot"], int(row["information_micro"]) - known.get(row["bot"], 0)
            if told < 0:
                assert row["version"] != versions[bot]
                assert int(row["information_micro"]) <= KEPT + uncut.information
                found.add("new version")
            elif not row["anchor_micro"] and row["version"] in ("", versions.get(bot, "")) and row["games"] != "1":
                assert told <= uncut.information
                if told < uncut.information:
                    found.add("cut by a cap")
            versions[bot] = row["version"] or versions.get(bot, "")
        if len(moved) > len({row["bot"] for row in moved}):
            found.add("repeated anchor")
        for row in {row["bot"]: row for row in moved}.values():
            total += int(row["after_micro"]) - int(row["before_micro"])
            total += int(row["balance_micro"]) - balance.get(row["bot"], 0)
            if row["anchor_micro"]:
                assert row["before_micro"] == row["after_micro"] == row["anchor_micro"]
                found.add("anchor")
            elif row["games"] == "1" and row["before_micro"] != str(START):
                found.add("inherited")
        assert total == 0, entry
        balance |= {row["bot"]: int(row["balance_micro"]) for row in entry if row["after_micro"]}
        known |= {row["bot"]: int(row["information_micro"]) for row in entry if row["after_micro"]}
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
    world.void(first.match_id, WHY)
    world.void(never.match_id, WHY)

    rows = rows_of(world, str(first.ladder_id))

    assert [(row["kind"], row["match"], row["status"], row["seat"], bool(row["after_micro"])) for row in rows] == [
        *(("result", first.match_id, "void", seat, True) for seat in "012"),
        *(("result", unrated.match_id, "finished", seat, seat != "0") for seat in "012"),
        *(("void", first.match_id, "", "", True) for _ in range(3)),
        ("void", never.match_id, "", "", False),
    ]
    assert [row["reason"] for row in rows] == [*[WHY] * 3, *[""] * 3, *[WHY] * 4]
    assert [row["bot"] for row in rows[6:]] == [*sorted(bots), ""]


def test_a_longer_ledger_is_not_asked_for_row_by_row(world: World, statements: list[str]) -> None:
    bots = world.bots(3)
    first = world.play(bots)

    def asked() -> int:
        statements.clear()
        file_of(world, str(first.ladder_id))
        return len(statements)

    world.void(first.match_id, WHY)
    before = asked()
    seated = {"bots": bots, "placements": [1, 2, 3], "rated": [True] * 3}
    results = copies(world, first, [seated for _ in range(60)])
    enter(world, results)
    for result in results[::10]:
        world.void(result.match_id, WHY)

    assert len(rows_of(world, str(first.ladder_id))) > 61 * 3 + 7
    assert asked() == before


@on_one_database
def test_memory_does_not_grow_with_the_ledger(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_csv, "ENTRIES_PER_QUERY", 50)
    first = world.play(world.bots(2))
    ladder = str(first.ladder_id)

    def append(entries: int) -> None:
        entry = {"ladder_id": ladder, "kind": "repair", "rating_rules": 3, "created_at": world.clock.moment}
        world.execute(insert(LedgerEntry), [{**entry, "reason": f"number {at:026}"} for at in range(entries)])

    def peak() -> tuple[int, int]:
        until = world.read(ratings.last_seq, ladder)
        tracemalloc.start()
        try:
            size = sum(len(piece) for piece in ledger_csv.ledger_csv(world.database, ladder, until))
            return size, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    append(150)
    peak()  # allocate what is kept permanently
    small, few = peak()
    append(1_350)
    large, many = peak()

    assert large > 9 * small
    assert many < 2 * few
