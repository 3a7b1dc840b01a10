"""Findings of an audit, freezing, and repairs."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import delete, func, select, text, update
from sqlalchemy.orm import Session

from referee.audit import database_audit, repairs
from referee.audit.findings import Difference, Findings
from referee.audit.stored_ladders import check_ladder
from referee.cli import main
from referee.db.engine import Database
from referee.ladders import ratings
from referee.ladders.tables import Ladder, LedgerEntry, Rating, RatingCount
from referee.match.canonical import dumps
from referee.match.log import LINK_MEMBERS, link_row, parse_row
from referee.matches.deals import deal_groups
from referee.matches.logs import logs
from referee.matches.tables import MatchLog, Result, StoredMatch
from tests.database.checks import on_one_database
from tests.database.world import FakeClock, World


def found(world: World) -> list[Difference]:
    return world.listed(database_audit.audit)


def mend(world: World, ladder_id: str) -> repairs.RepairReport:
    return world.write(repairs.repair_ladder, ladder_id)


def values(world: World) -> dict[str, tuple[int, int]]:
    return {row.bot_id: (row.value, row.games) for row in world.scalars(select(Rating))}


@pytest.fixture
def ladder(world: World) -> str:
    """Return a ladder with five results among three bots, the second of them void."""
    bots = world.bots(3)
    played = [world.play([bots[n % 3], bots[(n + 1) % 3]], choice=n % 2) for n in range(5)]
    world.void(played[1].match_id)
    assert found(world) == []
    return str(played[0].ladder_id)


PLANTED = (
    "INSERT INTO ledger_entries (ladder_id, created_at, rating_rules, kind, match_id)"
    " SELECT id, created_at, 3, {} FROM ladders WHERE seats = 2"
)
DERIVED = [
    ("UPDATE ratings SET value = value + 1 WHERE bot_id = (SELECT min(bot_id) FROM ratings)", "rating"),
    ("UPDATE rating_changes SET after = after + 1 WHERE seq = 3", "change"),
    ("UPDATE rating_changes SET games = games + 1 WHERE seq = 6", "change"),
    ("DELETE FROM rating_changes", "change"),
    ("DELETE FROM ratings", "rating"),
    ("UPDATE rating_counts SET bots = 0", "count"),
    ("UPDATE ratings SET balance = 5 WHERE bot_id = (SELECT min(bot_id) FROM ratings)", "rating"),
    ("UPDATE daily_exchanges SET gain = gain + 1", "exchange"),
]
DAMAGED = [
    ("UPDATE results SET placements = '[2, 2]' WHERE seq = 3", "result"),
    ("UPDATE results SET placements = '[]' WHERE seq = 4", "result"),
    ("UPDATE matches SET status = 'finished' WHERE status = 'void'", "entry"),
    ("UPDATE results SET rated = '[true, false]' WHERE seq = 4", "result"),
    ("UPDATE results SET ladder_id = NULL WHERE seq = 4", "result"),
    (
        "UPDATE match_seats SET returns = returns + 1 WHERE match_id = (SELECT match_id FROM results WHERE seq = 3)",
        "seats",
    ),
    ("UPDATE matches SET rated = false WHERE id = (SELECT match_id FROM results WHERE seq = 3)", "match"),
    ("UPDATE matches SET status = 'cancelled' WHERE id = (SELECT match_id FROM results WHERE seq = 3)", "match"),
    (PLANTED.format("'void', (SELECT match_id FROM results WHERE seq = 4)"), "entry"),
    (PLANTED.format("'void', NULL"), "entry"),
    (PLANTED.format("'result', NULL"), "entry"),
    (PLANTED.format("'result', (SELECT id FROM matches WHERE status = 'due')"), "entry"),
    ("DELETE FROM rating_changes WHERE seq = 5; DELETE FROM ledger_entries WHERE seq = 5", "entry"),
    ("DELETE FROM rating_changes WHERE seq = 6; DELETE FROM ledger_entries WHERE seq = 6", "entry"),
    ("DELETE FROM rating_changes WHERE seq = 2; DELETE FROM ledger_entries WHERE seq = 2", "entry"),
    ("DELETE FROM results WHERE seq = 5", "entry"),
    ("DELETE FROM rating_changes WHERE seq = 2; UPDATE ledger_entries SET seq = 99 WHERE seq = 2", "entry"),
    ("UPDATE ledger_entries SET ladder_id = (SELECT id FROM ladders WHERE seats = 3) WHERE seq = 5", "entry"),
    ("UPDATE matches SET budget_ms = 7 WHERE id = (SELECT match_id FROM results WHERE seq = 3)", "match"),
]


def plant(session: Session, change: str) -> None:
    for statement in change.split(";"):
        session.execute(text(statement))


def test_K27_F3_what_follows_from_the_ledger_is_named_frozen_and_recomputed(world: World, ladder: str) -> None:
    true = values(world)
    for change, named in DERIVED:
        with world.database.write() as session:
            plant(session, change)
            differences = list(check_ladder(session, ladder))
            assert named in {one.kind for one in differences}, change
            assert all(one.is_repairable for one in differences)
            assert repairs.freeze_ladders(session, differences) == [ladder]
        assert str(frozen(world)).startswith("an audit found: ")

        repaired = mend(world, ladder)

        with world.database.read() as session:
            assert list(check_ladder(session, ladder)) == [], change
            act = session.get_one(LedgerEntry, repaired.seq)
        assert (act.kind, act.ladder_id, act.reason) == ("repair", ladder, repaired.reason)
        assert repaired.repairs
        assert values(world) == true, change
        assert frozen(world) is None
    assert found(world) == []


@on_one_database
def test_K27_F3_damage_of_the_ledger_or_of_results_is_named_frozen_and_not_repaired(world: World, ladder: str) -> None:
    world.match()
    world.play(world.bots(3))  # on another ladder
    for change, named in DAMAGED:
        with world.undoing() as session:
            plant(session, change)
            session.expire_all()

            logs_differ = [] if named == "entry" else database_audit.check_logs(session)
            differences = [*logs_differ, *check_ladder(session, ladder)]

            assert named in {one.kind for one in differences}, change
            findings = Findings()
            findings.add(differences)
            worst = findings.worst[ladder]
            assert not worst.is_repairable, change
            assert ladder in repairs.freeze_ladders(session, differences)
            if worst.kind == "entry":
                with pytest.raises(repairs.DamagedLedger, match="restore a backup"):
                    repairs.repair_ladder(session, ladder)
            assert ratings.get_ladder(session, ladder).frozen_reason == f"an audit found: {worst}"[:1000]
    assert found(world) == []


@on_one_database
def test_a_repair_tells_what_stood_and_what_follows_and_frozen_values_wait_for_it(world: World, ladder: str) -> None:
    with world.database.write() as session:
        bot, right = session.execute(select(Rating.bot_id, Rating.value).order_by(Rating.bot_id)).first() or ("", 0)
        session.execute(update(Rating).where(Rating.bot_id == bot).values(value=right + 1))

    repaired = mend(world, ladder)

    told = f"rating {ladder}, {bot}: stored {{'value': {right + 1}}}, expected {{'value': {right}}}"
    assert repaired.repairs == [told]
    latest = world.read(ratings.list_changes, ladder, bot, limit=1).items[0]
    assert (latest.kind != "repair", latest.after) == (True, right)  # a repair has no change of its own

    bots = sorted(values(world))
    world.execute(update(Ladder).values(frozen_reason="in doubt"))
    before = values(world)

    late = world.play(bots[:2])
    world.void(late.match_id)
    world.play([bots[0], bots[2]], choice=1)

    assert values(world) == before
    acts = world.scalars(select(LedgerEntry.kind).order_by(LedgerEntry.seq))
    assert acts[-3:] == ["result", "void", "result"]
    mend(world, ladder)
    assert values(world) != before
    assert found(world) == []
    world.play(bots[1:])
    assert found(world) == []


def test_logs_and_reveals_are_told_and_freeze_nothing_and_progress_tells_of_all(world: World, ladder: str) -> None:
    steps: list[int] = []
    with world.database.read() as session:
        assert list(database_audit.audit(session, steps.append)) == []
        assert sum(steps) == database_audit.count_items(session) == 5 + 5 + 6  # matches, signatures, ledger entries
        assert session.scalar(select(func.sum(RatingCount.bots)).where(RatingCount.ladder_id == ladder)) == 3
    with world.database.write() as session:
        one, two, three = session.scalars(select(MatchLog.match_id).order_by(MatchLog.match_id).limit(3))
        session.execute(update(MatchLog).where(MatchLog.match_id == one).values(reveal_line=None))
        deal_groups.get_group(session, session.get_one(StoredMatch, two).group_id).nonces = ["x" * 32, ""]
        session.execute(update(MatchLog).where(MatchLog.match_id == three).values(gzip_log=b"gone"))

    told = [(one.kind, one.id, one.ladder_id) for one in found(world)]

    assert told == [("signature", one, None), ("reveal", one, None), ("reveal", two, None), ("log", three, None)]
    assert world.write(repairs.freeze_ladders, found(world)) == []


@on_one_database
def test_K18_a_stored_log_without_its_result_is_told(world: World, ladder: str) -> None:
    with world.database.write() as session:
        match_id = str(session.scalar(select(func.min(MatchLog.match_id))))
        *lines, _, reveal = logs.log_lines(session, match_id)
        members = {name: value for name, value in parse_row(reveal).items() if name not in LINK_MEMBERS}
        session.execute(delete(MatchLog).where(MatchLog.match_id == match_id))
        logs.pack_log(session, match_id, lines)
        logs.append_reveal(session, match_id, dumps(link_row("reveal", members, len(lines), lines[-1])))

    signature, told = found(world)

    assert (told.kind, told.id) == ("log", match_id)
    assert (signature.kind, signature.id) == ("signature", match_id)
    assert told.stored.endswith("the log ends before the match is over: expected the result row here")


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def served(sqlite_url: str) -> Iterator[World]:
    """Return the database in the folder that ``run`` audits."""
    database = Database(sqlite_url, clock=FakeClock())
    yield World(database)
    database.dispose()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(*options: str) -> tuple[int, str]:
        ran = CliRunner(env={"REFEREE_DATA": str(tmp_path)}).invoke(main, ["admin", "audit", *options])
        return ran.exit_code, ran.stdout

    return run


def test_the_command_names_freezes_repairs_and_tells_json(served: World, run: Run) -> None:
    world = served
    result = world.play(world.bots(2), choice=1)
    world.execute(update(Rating).where(Rating.bot_id == result.bots[0]).values(value=Rating.value + 1))

    code, told = run("--json", "--read-only")
    assert (code, [one["kind"] for one in json.loads(told)["differences"]]) == (1, ["rating"])
    assert frozen(world) is None
    code, told = run()
    assert (code, result.bots[0] in told, f"audit --repair`: {result.ladder_id}" in told) == (
        1, True, True,
    )  # fmt: skip
    assert "an audit found: rating" in str(frozen(world))
    code, told = run("--json", "--repair")
    assert (code, json.loads(told)["repaired"][0]["ladder"], json.loads(told)["left"]) == (0, result.ladder_id, [])
    assert frozen(world) is None
    assert run() == (0, f"{Path(str(world.database.url.database)).parent}: no differences\n")
    assert run("--repair", "--read-only")[0] == 2


def test_the_command_repairs_no_damaged_ladder_and_points_to_a_backup(served: World, run: Run) -> None:
    world = served
    result, whole = world.play(world.bots(2), choice=1), world.play(world.bots(3))
    with world.database.write() as session:
        session.execute(update(Rating).values(value=Rating.value + 1))
        other = [1, 1] if result.placements != [1, 1] else [1, 2]
        session.execute(update(Result).where(Result.match_id == result.match_id).values(placements=other))

    code, told = run()
    assert code == 1
    assert f"`referee admin audit --repair`: {whole.ladder_id}\n" in told
    assert f"frozen until you restore a backup with `referee admin restore`: {result.ladder_id}\n" in told
    code, told = run("--json", "--repair")
    done = json.loads(told)
    assert (code, done["holds"], done["frozen"], done["damaged"]) == (1, False, [result.ladder_id], [result.ladder_id])
    assert [each["ladder"] for each in done["repaired"]] == [whole.ladder_id]
    assert {each["ladder_id"] for each in done["left"]} == {result.ladder_id}
    with world.database.read() as session:
        assert ratings.get_ladder(session, str(whole.ladder_id)).frozen_reason is None
        assert "an audit found: result" in str(ratings.get_ladder(session, str(result.ladder_id)).frozen_reason)
        repaired = session.scalars(select(LedgerEntry.ladder_id).where(LedgerEntry.kind == "repair"))
        assert repaired.all() == [whole.ladder_id]


def frozen(world: World) -> str | None:
    return world.one(select(Ladder.frozen_reason))
