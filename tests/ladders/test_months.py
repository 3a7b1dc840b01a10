"""Final standings of months: they follow from the ledger, however late they are stored, and nothing changes them."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import func, select, update

from referee.bots.tables import Bot
from referee.db.engine import Database
from referee.errors import BadOption, NotFound
from referee.ladders import months
from referee.ladders.ladder_rows import load_rows
from referee.ladders.rating_errors import refresh_errors
from referee.ladders.tables import Ladder, LadderMonth, MonthRow
from referee.matches.tables import Result, StoredMatch
from referee.timestamps import parse_month
from tests.database.world import World
from workers.month_closing import LOOK_S, MonthCloser

NOVEMBER, DECEMBER = date(2026, 11, 1), date(2026, 12, 1)
MID_NOVEMBER = datetime(2026, 11, 15, tzinfo=UTC)


def play(world: World, bots: list[str], matches: int, *, choice: int = 0) -> Result:
    for number in range(matches):
        result = world.play(bots if number % 2 else bots[::-1], choice=choice)
    return result


def void_last(world: World) -> None:
    """Void the last result that counts."""
    query = select(Result.match_id).join(StoredMatch).where(StoredMatch.status == "finished")
    world.void(world.scalars(query.order_by(Result.seq.desc()))[0])


def close_all(world: World) -> list[date]:
    """Close all months that are over; return them, the earliest first."""
    closer = MonthCloser(world.database)
    while closer.step() != LOOK_S:
        pass
    return world.scalars(select(LadderMonth.month).order_by(LadderMonth.month))


def rows_of(world: World, ladder_id: str, month: date) -> list[MonthRow]:
    with world.database.read() as session:
        return months.list_rows(session, months.get_month(session, ladder_id, month).month, limit=100).items


@pytest.fixture
def november(world: World) -> str:
    """Return the id of a ladder on which two bots played three matches in November."""
    world.clock.moment = MID_NOVEMBER
    return str(play(world, world.bots(2), 3).ladder_id)


def test_a_month_is_closed_ten_minutes_after_its_end_and_once(world: World, november: str) -> None:
    world.clock.moment = datetime(2026, 12, 1, 0, 9, tzinfo=UTC)
    assert close_all(world) == []
    world.clock.moment = datetime(2026, 12, 1, 0, 10, tzinfo=UTC)

    assert close_all(world) == [NOVEMBER]

    rows = rows_of(world, november, NOVEMBER)
    with world.database.read() as session:
        page = load_rows(session, november).page.items
        closed = months.get_month(session, november, NOVEMBER)
    assert [(row.rank, row.bot_id, row.name, row.owner_name, row.value, row.games) for row in rows] == [
        (row.rank, row.bot_id, row.name, row.owner_name, row.value, row.games) for row in page
    ]
    assert [row.matches for row in rows] == [3, 3]
    assert (closed.month.bots, closed.month.matches, closed.champion) == (2, 3, None)  # ratings are provisional
    assert not months.close_month(world.database, november, NOVEMBER)
    assert close_all(world) == [NOVEMBER]


def test_months_are_closed_late_as_they_stood_then(world: World) -> None:
    bots = world.bots(3)
    world.clock.moment = MID_NOVEMBER
    ladder = str(play(world, bots[:2], 3).ladder_id)
    stood = {row.bot_id: row.value for row in world.read(load_rows, ladder).page.items}
    world.clock.moment = datetime(2027, 2, 3, tzinfo=UTC)  # nothing is played in December and January
    play(world, bots[1:], 2, choice=1)
    world.clock.moment = datetime(2027, 3, 1, 0, 10, tzinfo=UTC)

    assert close_all(world) == [NOVEMBER, date(2027, 2, 1)]

    assert {row.bot_id: row.value for row in rows_of(world, ladder, NOVEMBER)} == stood
    february = {row.bot_id: (row.games, row.matches) for row in rows_of(world, ladder, date(2027, 2, 1))}
    assert february == {bots[0]: (3, 0), bots[1]: (5, 2), bots[2]: (2, 2)}
    with world.database.read() as session, pytest.raises(NotFound):
        months.get_month(session, ladder, DECEMBER)


def test_nothing_changes_a_closed_month(world: World, november: str) -> None:
    world.clock.moment = datetime(2026, 12, 2, tzinfo=UTC)
    close_all(world)
    before = [(row.bot_id, row.rank, row.value, row.name) for row in rows_of(world, november, NOVEMBER)]

    void_last(world)
    world.execute(update(Bot).values(name=Bot.name + " II"))
    play(world, [bot for bot, *_ in before], 2, choice=1)
    close_all(world)

    assert [(row.bot_id, row.rank, row.value, row.name) for row in rows_of(world, november, NOVEMBER)] == before


def test_voids_of_the_same_month_count_and_those_of_an_earlier_one_do_not(world: World, november: str) -> None:
    void_last(world)
    world.clock.moment = datetime(2026, 12, 2, tzinfo=UTC)

    close_all(world)

    assert [row.matches for row in rows_of(world, november, NOVEMBER)] == [2, 2]
    assert world.read(months.get_month, november, NOVEMBER).month.matches == 2
    void_last(world)
    play(world, [row.bot_id for row in rows_of(world, november, NOVEMBER)], 1)
    world.clock.moment = datetime(2027, 1, 2, tzinfo=UTC)
    close_all(world)
    assert [row.matches for row in rows_of(world, november, DECEMBER)] == [1, 1]


def test_a_champion_is_the_best_bot_that_is_not_provisional_and_played_in_the_month(world: World) -> None:
    def row(bot: str, rank: int, games: int, matches: int) -> dict[str, object]:
        return {"bot_id": bot, "rank": rank, "games": games, "matches": matches}

    rows = [row("new", 1, 29, 29), row("idle", 2, 90, 9), row("b", 3, 30, 10), row("a", 3, 30, 10), row("c", 5, 99, 50)]

    assert months.choose_champion(rows) == "a"
    assert months.choose_champion([*rows, row("z", 3, 40, 11)]) == "z"
    assert months.choose_champion(rows[:2]) is None
    assert months.choose_champion([]) is None


def test_a_champion_is_named_on_the_month_and_among_the_titles_of_the_bot(
    world: World, november: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = november
    for name in ("MIN_CHAMPION_MATCHES", "PROVISIONAL_GAMES"):
        monkeypatch.setattr(months, name, 3)
    refresh_errors(world.database, ladder)
    world.clock.moment = datetime(2026, 12, 2, tzinfo=UTC)
    world.execute(update(Ladder).where(Ladder.id == ladder).values(official=True, daily_matches=48))

    close_all(world)

    best = rows_of(world, ladder, NOVEMBER)[0]
    assert best.error is not None
    with world.database.read() as session:
        (closed,) = months.list_months(session, ladder).items
        titles = months.list_titles(session, best.bot_id, limit=5)
        newest = months.list_newest_champions(session, limit=5)
    assert closed.champion is not None
    for found in (closed, *titles, *newest):
        assert (found.ladder.id, found.month.month) == (ladder, NOVEMBER)
        assert found.champion is not None
        assert (found.champion.bot_id, found.champion.name) == (best.bot_id, best.name)
    assert len(titles) == len(newest) == 1


def test_two_schedulers_store_a_month_once(world: World, november: str) -> None:
    world.clock.moment = datetime(2026, 12, 2, tzinfo=UTC)
    barrier = threading.Barrier(3)

    def close(_: int) -> bool:
        barrier.wait(timeout=30)
        return months.close_month(world.database, november, NOVEMBER)

    with ThreadPoolExecutor(3) as threads:
        closed = list(threads.map(close, range(3)))

    assert sorted(closed) == [False, False, True]
    assert world.one(select(func.count()).select_from(MonthRow)) == 2


def test_a_frozen_ladder_waits_for_its_repair_and_a_broken_one_delays_no_other(
    world: World, november: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = str(play(world, world.bots(3), 1).ladder_id)
    world.clock.moment = datetime(2026, 12, 2, tzinfo=UTC)
    world.execute(update(Ladder).where(Ladder.id == november).values(frozen_reason="a wrong rating"))
    assert close_all(world) == [NOVEMBER]
    assert world.scalars(select(LadderMonth.ladder_id)) == [other]
    world.execute(update(Ladder).values(frozen_reason=None))
    third = str(play(world, world.bots(4), 1).ladder_id)
    world.clock.moment = datetime(2027, 1, 2, tzinfo=UTC)
    close = months.close_month

    def fail_on_first(database: Database, ladder_id: str, month: date) -> bool:
        if ladder_id == november:
            raise RuntimeError("broken")
        return close(database, ladder_id, month)

    monkeypatch.setattr(months, "close_month", fail_on_first)
    close_all(world)

    with world.database.read() as session:
        found = session.execute(select(LadderMonth.ladder_id, LadderMonth.month)).all()
    assert {*found} == {(other, NOVEMBER), (third, DECEMBER)}


def test_an_entry_with_a_time_before_the_last_closed_month_belongs_to_the_next_one(world: World, november: str) -> None:
    world.clock.moment = datetime(2026, 12, 2, tzinfo=UTC)
    close_all(world)
    world.clock.moment = MID_NOVEMBER + timedelta(days=1)  # the clock was set back
    play(world, world.bots(2), 1)
    world.clock.moment = datetime(2027, 1, 2, tzinfo=UTC)

    assert close_all(world) == [NOVEMBER, DECEMBER]

    assert [row.matches for row in rows_of(world, november, DECEMBER)].count(1) == 2


def test_pages_of_months_and_rows_join(world: World) -> None:
    world.clock.moment = datetime(2026, 8, 15, tzinfo=UTC)
    bots = world.bots(5)
    for number in range(4):
        last = play(world, bots[number : number + 2], 2)
        world.clock.moment += timedelta(days=31)
    ladder = str(last.ladder_id)
    close_all(world)

    with world.database.read() as session:
        whole = months.list_months(session, ladder, limit=100).items
        first = months.list_months(session, ladder, limit=3)
        second = months.list_months(session, ladder, limit=3, cursor=first.next)
        rows = months.list_rows(session, whole[0].month, limit=100).items
        upper = months.list_rows(session, whole[0].month, limit=2)
        lower = months.list_rows(session, whole[0].month, limit=3, cursor=upper.next)
    assert [one.month.month for one in (*first.items, *second.items)] == [one.month.month for one in whole]
    assert [one.name for one in whole] == ["2026-11", "2026-10", "2026-09", "2026-08"]
    assert months.following(DECEMBER) == parse_month("2027-01")
    assert [row.bot_id for row in (*upper.items, *lower.items)] == [row.bot_id for row in rows]
    assert (len(rows), second.next, lower.next) == (5, None, None)


@pytest.mark.parametrize("text", ["", "2026", "2026-13", "2026-00", "2026-1", "1999-12", "0000-01", "２０２６-11"])
def test_a_text_that_is_no_month_is_refused(text: str) -> None:
    with pytest.raises(BadOption, match="2026-11"):
        parse_month(text)
