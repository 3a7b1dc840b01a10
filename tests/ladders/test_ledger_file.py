"""The ledger file of a ladder: an implementation of docs/tournaments.md alone reproduces every number in it."""

import csv
import io
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, groupby
from random import Random
from typing import Any

import pytest
from sqlalchemy import Engine, event, insert, select, update

from api.tournaments import download_files
from referee.bots.tables import Bot
from referee.db.ids import new_id
from referee.ladders import ledger, ledger_entries, ratings, repairs
from referee.ladders.tables import Rating, RatingChange
from referee.matches.tables import MatchSeat, Result, StoredMatch
from referee.workflows import voiding
from tests.database.world import World
from tests.surroundings import MASTER_KEY

Row = dict[str, str]


# -- the computation described in docs/tournaments.md; it uses no code of the project --

T = [round(10**9 / (1 + 10 ** (-points / 400))) for points in range(2002)]


def expected(difference: int) -> int:
    if difference < 0:
        return 10**9 - expected(-difference)
    whole, left = divmod(min(difference, 2_000_000_000), 1_000_000)
    return T[whole] + (T[whole + 1] - T[whole]) * left // 1_000_000 if left else T[whole]


def gain(k: int, score: Fraction, difference: int, n: int) -> int:
    exact = Fraction(k * (10**9 * score - expected(difference)), 2000 * (n - 1))
    return (1 if exact > 0 else -1) * int(abs(exact) + Fraction(1, 2))


@dataclass
class Folded:
    """Ratings in micro-points and numbers of matches that count, by bot."""

    held: dict[str, tuple[int, int]] = field(default_factory=dict)

    def of(self, bot: str) -> tuple[int, int]:
        return self.held.get(bot, (1_500_000_000, 0))

    def count(self, table: list[tuple[str, int]]) -> None:
        stands = {bot: self.of(bot) for bot, _ in table}
        k = {bot: 40 if games < 30 else 20 for bot, (_, games) in stands.items()}
        change = dict.fromkeys(stands, 0)
        for (one, first), (other, second) in combinations(table, 2):
            score = Fraction((first < second) + (first <= second), 2)
            gained = gain(k[one] + k[other], score, stands[one][0] - stands[other][0], len(table))
            change[one], change[other] = change[one] + gained, change[other] - gained
        self.held |= {bot: (value + change[bot], games + 1) for bot, (value, games) in stands.items()}


def refolded(rows: list[Row]) -> Iterator[tuple[list[Row], Folded, Folded]]:
    """Yield the rows of each entry, with the ladder before and after it."""
    folded, results = Folded(), dict[str, list[tuple[str, int]]]()
    for _, grouped in groupby(rows, key=lambda row: row["entry"]):
        entry, before = list(grouped), Folded(dict(folded.held))
        if entry[0]["kind"] == "result":
            table = [(row["bot"], int(row["placement"])) for row in entry if row["rated"] == "true"]
            results[entry[0]["match"]] = table
            folded.count(table)
        elif entry[0]["kind"] == "void" and results.pop(entry[0]["match"], []):
            folded = Folded()
            for table in results.values():
                folded.count(table)
        yield entry, before, folded


# -- the ladder --


def file_of(world: World, ladder_id: str) -> bytes:
    with world.database.read() as session:
        until = ratings.last_seq(session, ladder_id)
    return b"".join(download_files.ledger_csv(world.database, ladder_id, until))


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
        ids = [new_id("match") for _ in tables]
        session.execute(insert(StoredMatch), [{**match, "id": id, "status": "finished", "reason": None} for id in ids])
        named = [{"match_id": id, "entrants": each["bots"], **each} for id, each in zip(ids, tables, strict=True)]
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
        counting = [
            ledger.RatedResult(str(one.ladder_id), one.match_id, one.bots, one.placements, one.rated) for one in results
        ]
        ledger.enter_results(session, counting)


def make_void(world: World, result: Result) -> None:
    with world.database.write() as session:
        voiding.void_match(session, result.match_id, "at random", created_by=None, master_key=MASTER_KEY)


def table(dice: Random, bots: list[str]) -> dict[str, Any]:
    """Return a table of three bots; earlier bots in the list are better, some tie, and one may be unrated."""
    seated = dice.sample(bots, 3)
    strength = {bot: bots.index(bot) + dice.randrange(3) for bot in seated}
    placements = [1 + sum(other < strength[bot] for other in strength.values()) for bot in seated]
    rated = [True] * 3 if dice.random() < 0.8 else [False, True, True]
    return {"bots": seated, "placements": placements, "rated": rated}


def test_F11_a_ladder_is_folded_again_from_its_file_alone_to_the_last_digit(world: World) -> None:
    dice, bots = Random(5), world.bots(8)
    first = world.play(bots[:3])
    results = copies(world, first, [table(dice, bots) for _ in range(450)])
    make_void(world, results.pop())  # before its result is entered
    waiting = dice.sample(results, len(results))  # results are entered in a different order than the matches ended
    while waiting:
        some, waiting = waiting[:30], waiting[30:]
        enter(world, some)
        make_void(world, dice.choice(some))
    ladder = str(first.ladder_id)
    for seq in (10, 300):
        with world.database.read() as session:
            voided = (
                select(Result)
                .join(StoredMatch, StoredMatch.id == Result.match_id)
                .where(StoredMatch.status == "finished")
            )
            early = session.scalars(voided.order_by(Result.seq).offset(seq)).first()
        assert early is not None
        make_void(world, early)
    with world.database.write() as session:
        session.execute(update(Rating).where(Rating.bot_id == bots[3]).values(value=Rating.value + 7))
    with world.database.write() as session:
        repairs.repair_ladder(session, ladder, matches=[])

    rows = rows_of(world, ladder)

    kinds = [next(group)["kind"] for _, group in groupby(rows, key=lambda row: row["entry"])]
    assert {kind: kinds.count(kind) for kind in kinds} == {"result": 450, "void": 18, "repair": 1}
    assert [int(row["entry"]) for row in rows] == sorted(int(row["entry"]) for row in rows)
    ended = [int(row["seq"]) for row in rows if row["kind"] == "result"]
    assert ended != sorted(ended)
    for entry, before, after in refolded(rows):
        told = {row["bot"]: row for row in entry if row["after_micro"]}
        moved = {bot for bot in after.held if after.held[bot] != before.of(bot)} | {
            bot for bot in before.held if before.held[bot] != after.of(bot)
        }
        repaired = entry[0]["kind"] == "repair"
        assert set(told) == (moved if not repaired else {bots[3]})
        for bot, row in told.items():
            wrong = 7 if repaired else 0
            assert int(row["before_micro"]) == before.of(bot)[0] + wrong, row
            assert (int(row["after_micro"]), int(row["games"])) == after.of(bot), row
    with world.database.read() as session:
        standing = {row.bot_id: (row.value, row.games) for row in session.scalars(select(Rating))}
    assert standing == {bot: after.of(bot) for bot in standing}


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
    results = copies(world, first, [table(Random(1), bots) for _ in range(60)])
    enter(world, results)
    for result in results[::10]:
        make_void(world, result)

    assert len(rows_of(world, str(first.ladder_id))) > 61 * 3 + 7
    assert asked() == before


def test_memory_does_not_grow_with_the_bots_a_void_moves(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_entries, "CHANGES_PER_QUERY", 100)
    monkeypatch.setattr(download_files, "ROWS_A_PIECE", 50)
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
            size = sum(len(piece) for piece in download_files.ledger_csv(world.database, ladder, until))
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
