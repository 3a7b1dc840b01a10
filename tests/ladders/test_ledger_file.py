"""The ledger file of a ladder: docs/refold.py, which uses no code of the project, reproduces every number in it."""

import csv
import importlib.util
import io
import tracemalloc
from dataclasses import dataclass, field, fields
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Engine, event, func, insert, select, update

from api.downloads import files
from referee.bots import house_bots
from referee.bots.tables import Bot
from referee.db.ids import new_id
from referee.ladders import ledger, ledger_entries, ratings, repairs
from referee.ladders.ladder_audit import check_ladder
from referee.ladders.rating_replay import RatedSeats
from referee.ladders.tables import DailyExchange, Rating, RatingChange
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.ratings.elo import MICRO, START
from referee.ratings.exchange import ANCHORS_CAP, OWNERS_CAP
from referee.workflows import voiding
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


def file_of(world: World, ladder_id: str) -> bytes:
    with world.database.read() as session:
        until = ratings.last_seq(session, ladder_id)
    return b"".join(files.ledger_csv(world.database, ladder_id, until))


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


def differences(world: World, ladder_id: str) -> list[str]:
    """Return what docs/refold.py and the audit of ladders find."""
    file = io.StringIO(file_of(world, ladder_id).decode(), newline="")
    with world.database.read() as session:
        audited = [str(found) for found in check_ladder(session, ladder_id, lambda more: None)]
    # Copies have no deal group of their own, so the audit of entries does not apply to them.
    return [*refold.check(file), *(found for found in audited if not found.startswith("entry "))]


def test_F11_every_ladder_is_folded_again_from_its_file_alone_to_the_last_digit(world: World) -> None:
    played = campaign(world, seed=5)
    first = world.play(played.bots[:3])
    ladder = str(first.ladder_id)
    play_on(world, played, first, 450)
    assert differences(world, ladder) == []
    with world.database.write() as session:
        session.execute(update(Rating).where(Rating.bot_id == first.bots[0]).values(value=Rating.value + 7))
        session.execute(update(Rating).where(Rating.bot_id == played.anchor).values(balance=Rating.balance + 7))
        session.execute(update(DailyExchange).values(gain=DailyExchange.gain - 7))
    with world.database.read() as session:
        kinds = {found.kind for found in check_ladder(session, ladder, lambda more: None)}
    assert kinds >= {"rating", "balance", "exchange"}
    with world.database.write() as session:
        repairs.repair_ladder(session, ladder, matches=[])

    rows = rows_of(world, ladder)

    assert differences(world, ladder) == []
    entries = [list(group) for _, group in groupby(rows, key=lambda row: row["entry"])]
    assert {entry[0]["kind"] for entry in entries} == {"result", "void", "repair"}
    assert [int(row["entry"]) for row in rows] == sorted(int(row["entry"]) for row in rows)
    ended = [int(row["seq"]) for row in rows if row["kind"] == "result"]
    assert ended != sorted(ended)
    assert exercised(world, entries) == {"anchor", "repeated anchor", "inherited", "widened"}
    assert played.capped


def exercised(world: World, entries: list[list[Row]]) -> set[str]:
    """Return which rules took effect, and check that what an entry moves adds up to zero."""
    found, balance = set(), dict[str, int]()
    with world.database.read() as session:
        found |= {"widened" for _ in session.scalars(select(Rating).where(Rating.widened_at > 0))}
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


def test_memory_does_not_grow_with_the_bots_a_void_moves(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_entries, "CHANGES_PER_QUERY", 100)
    monkeypatch.setattr(files, "ROWS_A_PIECE", 50)
    first = world.play(world.bots(2))
    make_void(world, first)
    ladder = str(first.ladder_id)
    with world.database.read() as session:
        until = ratings.last_seq(session, ladder)

    def move(numbers: range) -> None:
        names = ("id", "name", "normalized_name", "url")
        change = {"seq": until, "ladder_id": ladder, "before": 1, "after": 2, "games": 0}
        with world.database.write() as session:
            bot = dict(session.execute(select(Bot.__table__).where(Bot.id == first.bots[0])).mappings().one())
            session.execute(
                insert(Bot.__table__), [{**bot, **dict.fromkeys(names, f"{number:026}")} for number in numbers]
            )
            session.execute(insert(RatingChange), [{**change, "bot_id": f"{number:026}"} for number in numbers])

    def peak() -> tuple[int, int]:
        tracemalloc.start()
        try:
            size = sum(len(piece) for piece in files.ledger_csv(world.database, ladder, until))
            return size, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    move(range(300))
    peak()  # allocate what is kept permanently
    small, few = peak()
    move(range(300, 3_000))
    large, many = peak()

    assert large > 9 * small
    assert many < 2 * few
